/* value_commands: keys with their values as commands that create them, for an append-only file
 * whose base is not an RDB file (type_format_write_commands in type_format.h). Each command is an
 * array of bulk strings, as a client sends it.
 *
 * The bytes go to a struct rdb_writer, which serves only as a buffer here. As with it, every call
 * does nothing after the sink has failed. */
#ifndef PACKLIST_PERSIST_VALUE_COMMANDS_H
#define PACKLIST_PERSIST_VALUE_COMMANDS_H

#include "ds/capture.h"
#include "persist/rdb_writer.h"
#include "store/entry.h"

/* Writes the command that gives the key its expiry, if it has one. O(key). */
void value_commands_write_expiry(struct rdb_writer *writer, const struct entry *entry);

/* Writes the command that selects a database; the one that loads a library of functions. */
void value_commands_select(struct rdb_writer *writer, int database);
void value_commands_load_function(struct rdb_writer *writer, struct slice code);

/* --- For the formats of types --- */

/* Begins a command with `key` and `arguments` more arguments, which the caller writes next. */
void value_commands_begin(struct rdb_writer *writer, const char *name, struct slice key,
                          size_t arguments);

/* Writes an argument. */
void value_commands_text(struct rdb_writer *writer, struct slice text);

/* Writes a command whose arguments are there one by one:
 *      VALUE_COMMAND(writer, SLICE("SELECT"), number_text(digits, database)); */
#define VALUE_COMMAND(writer, ...)                                                                 \
    value_commands_write((writer), (const struct slice[]){__VA_ARGS__},                            \
                         sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice))
void value_commands_write(struct rdb_writer *writer, const struct slice *words, size_t count);

/* Writes a captured text as an argument, part by part; passes each part (text_capture_pass). */
void value_commands_text_capture(struct rdb_writer *writer, struct capture *capture);

/* Maximum number of members of a collection in one command. */
enum { VALUE_COMMANDS_MEMBERS = 64 };

/* The members of a collection, as commands of equal form. Lives on the caller's stack. */
struct value_commands_members {
    struct rdb_writer *writer;
    const char *name; /* of the command */
    struct slice key;
    size_t arguments; /* of each member */
    uint64_t left;    /* members for which no command has begun; at first all */
    uint64_t room;    /* members that the command still takes; at first 0 */
};

/* Call it for each member, before its arguments are written: begins a command where one is due. */
void value_commands_member(struct value_commands_members *members);

#endif

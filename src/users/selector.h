/* selector: a set of rights that a request needs together: its command, its databases, all its
 * keys and channels. What two selectors of a user allow never adds up.
 *
 * Rules, of which each one changes what the rules before it made of the selector:
 *
 *      +cmd -cmd +cmd|sub -cmd|sub +@category -@category   commands
 *      +cmd|argument                          a command without subcommands, if its first argument
 *                                             is this one
 *      allcommands, +@all; nocommands, -@all  all commands, also later ones; none
 *      ~glob %R~glob %W~glob %RW~glob         keys: all rights, reading, writing
 *      allkeys, ~*; resetkeys                 all keys; none
 *      &glob; allchannels, &*; resetchannels  channels
 *      db=0,2; alldbs; resetdbs               just these databases; all; none
 *
 * Words, commands and first arguments are compared without regard to case; a command is named by
 * its own name, even if it was renamed. A rule for a command or a category replaces what is printed
 * of older rules for it, and of its subcommands. */
#ifndef PACKLIST_USERS_SELECTOR_H
#define PACKLIST_USERS_SELECTOR_H

#include "table/command.h"
#include "users/pattern.h"

/* The most patterns, rules for commands and databases that a selector keeps of each, and the most
 * bytes of a pattern or a first argument: they bound what a check costs. */
enum { SELECTOR_PARTS_MAX = 4096, SELECTOR_TEXT_MAX = 4096 };

/* Errors of rules; static texts. */
#define RULE_SYNTAX   "Syntax error"
#define RULE_TOO_MANY "A user can't have that many of these"

/* A rule for commands, as it is printed. */
struct command_rule {
    const struct command *command;    /* NULL: a category */
    const struct named_bit *category; /* NULL: a command */
    sds first_argument;               /* in lower case; NULL: all calls */
    bool allows;
    bool in_force; /* with a first argument: no later rule has decided about the whole command */
};

struct selector {
    uint64_t commands[COMMANDS_MAX / 64]; /* by command_index: allowed whatever the arguments */
    bool all_commands;                    /* +@all, and nothing was taken away since */
    bool all_keys;
    bool all_channels;
    bool all_databases;
    bool begins_with_all; /* its rules for commands follow a +@all, otherwise a -@all */
    struct command_rule *rules;
    size_t rule_count;
    size_t rule_capacity;
    struct pattern_list keys;
    struct pattern_list channels;
    int32_t *databases; /* ascending */
    size_t database_count;
    size_t database_capacity;
};

/* A selector that allows no command and no key, all databases, and all channels or none. */
void selector_init(struct selector *selector, bool all_channels);

/* Makes `to`, whose content is overwritten, a copy of `from`. */
void selector_copy(struct selector *to, const struct selector *from);

/* Returns whether both were made by rules with the same stored text (selector_append).
 * O(parts). */
bool selector_is_same(const struct selector *a, const struct selector *b);

/* Frees what the selector owns. */
void selector_free(struct selector *selector);

/* Applies one rule. Returns NULL, or why that is not possible (static): then nothing has changed.
 * O(commands + parts). */
const char *selector_apply(struct selector *selector, struct slice rule);

/* Returns whether it separates rules. */
static inline bool rule_is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns whether the text may be no part of a name or a pattern: a blank is in it, or a NUL, and
 * the text of a user could not show that. */
bool rule_has_blank(struct slice text);

/* Returns whether it allows everything. */
static inline bool selector_is_unrestricted(const struct selector *selector) {
    return selector->all_commands && selector->all_keys && selector->all_channels &&
           selector->all_databases;
}

/* Returns the rights (enum key_rights) that a command needs for a key of this use (enum
 * key_use). */
static inline unsigned selector_rights_for(uint32_t use) {
    return (use & KEY_ACCESS ? KEYS_READ : 0u) |
           (use & (KEY_INSERT | KEY_UPDATE | KEY_DELETE) ? KEYS_WRITE : 0u);
}

/* Returns whether the call's command is allowed, perhaps because of its first argument. O(1), or
 * O(rules) when the command is not allowed as a whole. */
bool selector_has_command(const struct selector *selector, const struct command *command,
                          const struct slice *argv, size_t argc);

/* Returns whether requests may use this database. O(log databases). */
bool selector_has_database(const struct selector *selector, int64_t database);

/* Whether a text is shown, as Redis shows it, or stored: "%RW~*" is shown as "~*", which is another
 * rule. Only a stored text makes the same selector again. */
enum rules_form { RULES_SHOWN, RULES_STORED };

/* Append parts of the text as it is shown: "~a %R~b", "&x &y", "db=0,2" (or "alldbs"), "+@all
 * -get"; nothing where none of these is allowed. */
sds selector_append_keys(sds out, const struct selector *selector);
sds selector_append_channels(sds out, const struct selector *selector);
sds selector_append_databases(sds out, const struct selector *selector);
sds selector_append_commands(sds out, const struct selector *selector);

/* Appends all of it as rules: "~a resetchannels &x db=0,2 -@all +get". Stored ones make the same
 * selector of any other. */
sds selector_append(sds out, const struct selector *selector, enum rules_form form);

#endif

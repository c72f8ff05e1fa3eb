/* command_syntax: the notation in which the command table writes a command's arguments and what has
 * changed since the command came, read into a tree and a list.
 *
 * The notation is that of a manual page; blanks are free except inside a word:
 *
 *      field                  a value; its type is string, but a value called `key` is a key
 *      timeout:double         a value with its type: key, string, integer, double, pattern,
 *                             unix-time
 *      addr=ip:port           a value that syntax lines show under another name (display_text)
 *      NX                     a literal word: whatever does not begin with a lower-case letter;
 *                             its name is "nx"; `=` and `~` are such words, too
 *      ALPHA:sorting          a literal word with another name; "" is the empty word
 *      COUNT count:integer    a literal word right in front of a value, choice or block
 *                             introduces it: its token
 *      <LEFT | RIGHT>:where   a choice of one, with its name
 *      (field value):data     a block of arguments that stand together, with its name
 *      x@6.2.0                x came with that version of Redis
 *      x~2.8.12               x is deprecated since that version
 *      [x]                    x may be left out
 *      x ...                  x once or more; [x ...] not at all or more
 *      key [key ...]          the same as `key ...`; repeating the token too, as in
 *                             [PREFIX p [PREFIX p ...]], says that it comes each time
 *
 * The command's own name (and subcommand's) is not part of it.
 *
 * Lines after the arguments are notes about the whole command, oldest change first:
 *
 *      @6.2.0 Takes a count.  how that version of Redis changed the command
 *      ~6.2.0 `LMOVE`         the command is deprecated since that version; use this instead
 *      !                      the command is for the maintenance of the server itself */
#ifndef PACKLIST_ADMIN_COMMAND_SYNTAX_H
#define PACKLIST_ADMIN_COMMAND_SYNTAX_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum syntax_type {
    SYNTAX_STRING,
    SYNTAX_KEY,
    SYNTAX_INTEGER,
    SYNTAX_DOUBLE,
    SYNTAX_PATTERN,
    SYNTAX_UNIX_TIME,
    SYNTAX_PURE_TOKEN,
    SYNTAX_ONEOF,
    SYNTAX_BLOCK
};

enum syntax_flag {
    SYNTAX_OPTIONAL = 1 << 0,
    SYNTAX_MULTIPLE = 1 << 1,
    SYNTAX_MULTIPLE_TOKEN = 1 << 2
};

/* One argument. The tree is stored in preorder: an argument's members follow it directly, and its
 * next sibling is `span` places after it. */
struct syntax_argument {
    struct slice name;             /* of a pure token: often the token, to be shown in lower case */
    struct slice token;            /* empty: none, or a pure token that is the empty word */
    struct slice display;          /* the name in syntax lines; empty for choices and blocks */
    struct slice since;            /* empty: as old as the command */
    struct slice deprecated_since; /* empty: not deprecated */
    uint8_t type;                  /* enum syntax_type */
    uint8_t flags;                 /* enum syntax_flag */
    int8_t key_spec; /* keys: index of its key specification in the command; else -1 */
    uint8_t members; /* direct members of a choice or block */
    uint16_t span;   /* arguments of this subtree, with this one */
};

/* More than any command of the reference needs. */
enum { SYNTAX_ARGUMENTS_MAX = 64 };

/* Parses a whole notation into `arguments`. Returns the number of arguments at the top level, and
 * sets *total to the number stored. Returns -1 when the text is malformed, nests deeper than 8 or
 * needs more than SYNTAX_ARGUMENTS_MAX places. The slices point into `text`. Pure; O(text). */
int command_syntax_parse(const char *text, struct syntax_argument arguments[SYNTAX_ARGUMENTS_MAX],
                         size_t *total);

/* A line after the arguments. */
struct syntax_note {
    char kind;            /* '@', '~' or '!' */
    struct slice version; /* empty for '!' */
    struct slice text;    /* what has changed, or what to use instead; empty for '!' */
};

/* Reads the first note of a notation, or the next one when `at` is where the last call left it.
 * Returns false after the last one, and when a line is not a note. The slices point into the text.
 * O(text). */
bool command_syntax_next_note(const char **at, struct syntax_note *note);

/* Returns the type's name as COMMAND DOCS shows it ("pure-token"), a static text. */
const char *command_syntax_type_name(enum syntax_type type);

#endif

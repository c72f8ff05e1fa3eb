/* call_arguments: reading a command's arguments; its errors, and help texts. Commands include
 * engine/call.h. */
#ifndef PACKLIST_ENGINE_CALL_ARGUMENTS_H
#define PACKLIST_ENGINE_CALL_ARGUMENTS_H

#include "base/text/sds.h"
#include "ds/lists/quicklist.h"
#include "engine/call_struct.h"

/* When argv[index] is not valid, each of these replies the error and returns false. */

/* A 64-bit integer: "ERR value is not an integer or out of range". */
bool call_integer(struct call *call, size_t index, int64_t *value);

/* An integer within [min, max]. The error is `error`; if that is NULL, call_integer's error for
 * text that is not an integer, and "ERR value is out of range, …" for an integer out of range. */
bool call_integer_in(struct call *call, size_t index, int64_t min, int64_t max, int64_t *value,
                     const char *error);

/* The same, where `error` is only for an integer out of range. */
bool call_integer_within(struct call *call, size_t index, int64_t min, int64_t max, int64_t *value,
                         const char *error);

/* Returns whether a string of `length` bytes may grow by `more` bytes, in place; if not, replies
 * call_too_long's error. */
bool call_check_growth(struct call *call, size_t length, size_t more);

/* Returns the length in bytes of the longest string that is allowed (proto-max-bulk-len). */
size_t call_string_max(const struct call *call);

/* The number of a database. */
bool call_database(struct call *call, size_t index, int *database);

/* LEFT or RIGHT, else a syntax error. */
bool call_list_end(struct call *call, size_t index, enum list_end *end);

/* A timeout in whole milliseconds, or in seconds with fractions; *deadline_ms gets the wall clock
 * time, 0 for none. Errors: "ERR timeout is not an integer or out of range" (or "not a float …"),
 * "ERR timeout is negative", "ERR timeout is out of range". */
bool call_timeout_ms(struct call *call, size_t index, int64_t *deadline_ms);
bool call_timeout(struct call *call, size_t index, int64_t *deadline_ms);

/* Returns the argument argv[index] as an sds that the caller then owns, without a copy. The caller
 * must not change it before the command ends, because argv still refers to it. Returns NULL, with
 * nothing changed, unless the client sent the argument with CALL_LARGE_ARGUMENT bytes or more.
 * O(1). */
enum { CALL_LARGE_ARGUMENT = 64 * 1024 };
sds call_take_argument(struct call *call, size_t index);

/* --- Errors and help texts ---
 *
 * What replies an error returns false: a parser ends with `return call_syntax_error(call);`. */

/* Replies a whole error line ("ERR syntax error") and records its kind with the requester. */
bool call_fail(struct call *call, enum call_error error, const char *text);

bool call_bad_database(struct call *call); /* ERR DB index is out of range */
bool call_syntax_error(struct call *call); /* ERR syntax error */
bool call_too_long(struct call *call);     /* ERR string exceeds maximum allowed size (…) */
#define CALL_WRONG_ARITY "ERR wrong number of arguments for '%s' command"
bool call_wrong_arity(struct call *call);
bool call_too_few_keys(struct call *call); /* ERR at least 1 input key is needed for '…' command */
bool call_bad_expiry(struct call *call);   /* ERR invalid expire time in '…' command */
void call_unknown_subcommand(struct call *call); /* ERR unknown subcommand '…'. Try X HELP. */

/* Replies "ERR unknown subcommand or wrong number of arguments for '…'. Try X HELP.", for commands
 * that check their subcommand or its arity themselves. */
bool call_bad_subcommand(struct call *call);

/* Returns whether argc is at most `most`; if not, replies call_bad_subcommand's error. */
bool call_has_at_most(struct call *call, size_t most);

/* Replies the lines of a HELP subcommand between the header ("<COMMAND> <subcommand> …") and the
 * trailer that Redis shows. Each line of `text` ends with a line feed. */
void call_help(struct call *call, const char *text);

/* Replies a text as a verbatim string, and frees it. */
void call_answer_text(struct call *call, sds text);

#endif

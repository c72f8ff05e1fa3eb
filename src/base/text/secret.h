/* secret: passwords, which nobody may see: what is shown in their place, how they are found in
 * configuration lines and foreign texts, and how memory is cleared of them. Which arguments of
 * commands are secret: table/secret.h. */
#ifndef PACKLIST_BASE_TEXT_SECRET_H
#define PACKLIST_BASE_TEXT_SECRET_H

#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>

/* The text shown instead. */
#define SECRET_SHOWN "(redacted)"

/* Overwrites a text, which no compiler leaves out. NULL with a length of 0 is allowed. O(len). */
void secret_clear(void *text, size_t len);

/* As sds_free, with the whole capacity cleared before. NULL is allowed. O(capacity). */
void secret_free(sds text);

/* As sds_reserve, and if the text moves, the memory where it was is overwritten. Amortised O(1). */
sds secret_reserve(sds text, size_t more);

/* A longer word is the name of nothing: its end need not be looked at. */
enum { SECRET_NAME_MAX = 64 };

/* Returns whether the word is the name, in any case, or differs from it by one slip: a letter is
 * missing, wrong or too much, or two have changed places. O(length of name). */
bool secret_is_near(struct slice word, const char *name);

/* Returns whether a value that follows the word may be secret: the word is, or looks like, the name
 * of a directive with a password or with the user who has it, also of one that this server lacks.
 * Only the first SECRET_NAME_MAX bytes count. O(1). */
bool secret_is_directive(struct slice word);

/* Returns the name of a word that may be "name=value" or name"value", or have a colon, comma,
 * semicolon, bar or blank in that place; the whole word, if the first SECRET_NAME_MAX bytes are all
 * of one name. O(1). */
struct slice secret_name(struct slice word);

/* Appends a configuration line that was refused, with SECRET_SHOWN for whatever follows a word for
 * which secret_is_directive holds, except in a user's line; for all from the first word on that may
 * be a user's password or has a backslash; and for the whole line if its first word has a quote or
 * a backslash. O(line.len). */
sds secret_append_line(sds out, struct slice line);

/* Appends a text that somebody else has written, with SECRET_SHOWN wherever it holds the secret,
 * which may be empty. O(text.len * secret.len). */
sds secret_append_without(sds out, struct slice text, struct slice secret);

#endif

/* INCREX key [BYINT increment | BYFLOAT increment] [LBOUND bound] [UBOUND bound] [SATURATE]
 *        [EX s | PX ms | EXAT time | PXAT time | PERSIST] [ENX]
 *
 * It replies the number that the key has afterwards, and by how much it has changed. Without
 * SATURATE a result beyond a bound changes nothing. One command is a rate limiter:
 *
 *      INCREX requests:client UBOUND 100 EX 60 ENX
 *
 * counts up to 100 in a minute that begins with the first request; a change of 0 refuses. The
 * command log gets the SET or DEL that it comes down to. */
#include "commands/commands.h"
#include "commands/strings/string_common.h"

#include <float.h>
#include <math.h>

struct increx {
    size_t by, lower, upper; /* argv index of these numbers; 0: not given */
    bool is_float, saturates, only_without_expiry;
    enum expiry_option expiry;
    size_t expiry_index;
    int64_t expiry_ms; /* where `expiry` has a time */
};

/* A long double holds any integer of 64 bits, and the sum and the difference of two, as they are:
 * so integers are computed as other numbers are. */
_Static_assert(LDBL_MANT_DIG >= 64, "INCREX needs a long double with a mantissa of 64 bits");

struct numbers {
    long double increment, lower, upper;
    long double least, most; /* what can be stored */
    long double value, applied;
};

/* --- Options --- */

/* Takes the number behind argv[*index] as the option. Returns false when it was given before. */
static bool take_number(const struct call *call, size_t *index, size_t *option) {
    if (*option || ++*index == call->argc) return false;
    *option = *index;
    return true;
}

static bool take_flag(bool *flag) {
    bool is_first = !*flag;
    *flag = true;
    return is_first;
}

/* Parses the option at *index and moves *index to its last argument. Returns false when it is not
 * valid here: each can be given once. */
static bool parse_option(const struct call *call, size_t *index, struct increx *increx) {
    struct slice option = call->argv[*index];
    enum expiry_option expiry = expiry_option_of(option);
    if (slice_is(option, "byfloat"))
        return !increx->by && (increx->is_float = true) && take_number(call, index, &increx->by);
    if (slice_is(option, "byint")) return take_number(call, index, &increx->by);
    if (slice_is(option, "lbound")) return take_number(call, index, &increx->lower);
    if (slice_is(option, "ubound")) return take_number(call, index, &increx->upper);
    if (slice_is(option, "saturate")) return take_flag(&increx->saturates);
    if (slice_is(option, "enx")) return take_flag(&increx->only_without_expiry);
    if (slice_is(option, "persist")) expiry = EXPIRY_PERSIST;
    if (expiry == EXPIRY_NONE || increx->expiry != EXPIRY_NONE) return false;
    if (expiry != EXPIRY_PERSIST && ++*index == call->argc) return false;
    increx->expiry = expiry;
    increx->expiry_index = *index;
    return true;
}

static bool parse(struct call *call, struct increx *increx) {
    for (size_t i = 2; i < call->argc; i++)
        if (!parse_option(call, &i, increx)) return call_syntax_error(call);
    if (increx->only_without_expiry && increx->expiry == EXPIRY_PERSIST)
        return call_syntax_error(call);
    if (increx->only_without_expiry && increx->expiry == EXPIRY_NONE)
        return call_fail(call, CALL_ERROR_OTHER, "ERR ENX flag requires an expiration");
    return true;
}

/* After the numbers. */
static bool parse_expiry(struct call *call, struct increx *increx) {
    return increx->expiry < EXPIRY_EX ||
           string_parse_expiry(call, increx->expiry, increx->expiry_index, &increx->expiry_ms);
}

/* --- Expiries, and what is propagated --- */

/* If the expiry that is given applies, and has passed, deletes the key and returns true. */
static bool has_passed(struct call *call, const struct increx *increx, struct keyref *ref) {
    bool is_kept = increx->only_without_expiry && ref->entry && entry_expiry(ref->entry) >= 0;
    if (increx->expiry < EXPIRY_EX || is_kept || !call_is_past(call, increx->expiry_ms))
        return false;
    call_remove(call, ref, call->argv[1], REMOVAL_PAST);
    return true;
}

/* The number is stored: publishes that, and sets or takes away the expiry. */
static void finish(struct call *call, const struct increx *increx, struct keyref *ref,
                   struct slice value) {
    struct slice key = call->argv[1];
    char time[INT64_TEXT_MAX];
    bool had_expiry = entry_expiry(ref->entry) >= 0;
    bool sets = increx->expiry >= EXPIRY_EX && !(increx->only_without_expiry && had_expiry);
    bool persists = increx->expiry == EXPIRY_PERSIST;
    if (sets) call_set_expiry(call, ref, increx->expiry_ms);
    if (persists && had_expiry) call_set_expiry(call, ref, -1);
    CALL_CHANGED(call, ref, key, EVENT_STRING, increx->is_float ? "incrbyfloat" : "incrby", 1);
    if (sets) call_notify(call, EVENT_GENERIC, "expire", key);
    if (persists && had_expiry) call_notify(call, EVENT_GENERIC, "persist", key);
    if (sets)
        CALL_PROPAGATE(call, SLICE("SET"), key, value, SLICE("PXAT"),
                       number_text(time, increx->expiry_ms));
    else if (persists)
        CALL_PROPAGATE(call, SLICE("SET"), key, value);
    else
        CALL_PROPAGATE(call, SLICE("SET"), key, value, SLICE("KEEPTTL"));
}

/* --- Numbers --- */

static bool parse_number(const struct increx *increx, struct slice text, long double *value) {
    int64_t integer;
    if (increx->is_float) return number_parse_long_double(text, value);
    if (!number_parse_int64(text, &integer)) return false;
    *value = (long double)integer;
    return true;
}

/* Reads the number of an option, if it is given. The errors are for an integer, and for another
 * number. */
static bool parse_given(struct call *call, const struct increx *increx, size_t index,
                        const char *const errors[2], long double *value) {
    return index == 0 || parse_number(increx, call->argv[index], value) ||
           call_fail(call, CALL_ERROR_OTHER, errors[increx->is_float]);
}

static bool parse_numbers(struct call *call, const struct increx *increx, struct numbers *numbers) {
    static const char *const increment[] = {"ERR Increment is not an integer or out of range",
                                            "ERR Increment is not a valid float"};
    static const char *const lower[] = {"ERR LBOUND is not an integer or out of range",
                                        "ERR LBOUND is not a valid float"};
    static const char *const upper[] = {"ERR UBOUND is not an integer or out of range",
                                        "ERR UBOUND is not a valid float"};
    if (!parse_given(call, increx, increx->by, increment, &numbers->increment) ||
        !parse_given(call, increx, increx->lower, lower, &numbers->lower) ||
        !parse_given(call, increx, increx->upper, upper, &numbers->upper))
        return false;
    if (isinf(numbers->increment))
        return call_fail(call, CALL_ERROR_OTHER, "ERR BYFLOAT increment cannot be Infinity");
    return numbers->lower <= numbers->upper ||
           call_fail(call, CALL_ERROR_OTHER, "ERR LBOUND can't be greater than UBOUND");
}

/* Finds the key and reads its number. */
static bool find_value(struct call *call, const struct increx *increx, struct keyref *ref,
                       long double *value) {
    char buffer[INT64_TEXT_MAX];
    if (!call_find_typed_write(call, call->argv[1], VALUE_STRING, ref)) return false;
    if (!ref->entry ||
        (parse_number(increx, string_text(ref->entry, buffer), value) && isfinite(*value)))
        return true;
    return reply_error(call->reply, increx->is_float
                                        ? "ERR value is not a valid float"
                                        : "ERR value is not an integer or out of range");
}

/* The value becomes the result, and `applied` by how much it has changed: 0 if the result is beyond
 * a bound, or beyond what can be stored. Replies the error if `applied` cannot be stored. */
static bool add(struct call *call, const struct increx *increx, struct numbers *numbers,
                bool *is_refused) {
    long double result = numbers->value + numbers->increment;
    *is_refused = !increx->saturates && (result < numbers->least || result > numbers->most ||
                                         result < numbers->lower || result > numbers->upper);
    if (*is_refused) return true;
    if (result < numbers->lower) result = numbers->lower;
    if (result > numbers->upper) result = numbers->upper;
    if (result > numbers->most) result = numbers->most;
    if (result < numbers->least) result = numbers->least;
    numbers->applied = result - numbers->value;
    if (numbers->applied < numbers->least || numbers->applied > numbers->most)
        return call_fail(call, CALL_ERROR_OTHER,
                         increx->is_float ? "ERR applied increment would be Infinity"
                                          : "ERR applied increment would overflow");
    numbers->value = result;
    return true;
}

static struct slice text_of(const struct increx *increx, char buffer[LONG_DOUBLE_TEXT_MAX],
                            long double number) {
    return increx->is_float ? slice_make(buffer, number_format_long_double(buffer, number))
                            : number_text(buffer, (int64_t)number);
}

/* An integer; otherwise a text in RESP2, a double in RESP3. */
static void reply_number(struct reply *reply, const struct increx *increx, long double number) {
    char buffer[LONG_DOUBLE_TEXT_MAX];
    if (!increx->is_float)
        reply_integer(reply, (int64_t)number);
    else if (reply->protocol >= 3)
        reply_double(reply, (double)number);
    else
        reply_bulk(reply, text_of(increx, buffer, number));
}

void increx_command(struct call *call) {
    static const struct numbers integers = {1, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, 0, 0};
    static const struct numbers floats = {0, -INFINITY, INFINITY, -LDBL_MAX, LDBL_MAX, 0, 0};
    struct increx increx = {0};
    char buffer[LONG_DOUBLE_TEXT_MAX];
    bool is_refused;
    struct keyref ref;
    if (!parse(call, &increx)) return;
    struct numbers numbers = increx.is_float ? floats : integers;
    if (!parse_numbers(call, &increx, &numbers) || !parse_expiry(call, &increx) ||
        !find_value(call, &increx, &ref, &numbers.value) ||
        !add(call, &increx, &numbers, &is_refused))
        return;
    reply_array(call->reply, 2);
    reply_number(call->reply, &increx, numbers.value);
    reply_number(call->reply, &increx, numbers.applied);
    if (is_refused || has_passed(call, &increx, &ref)) return;
    struct slice text = text_of(&increx, buffer, numbers.value);
    if (increx.is_float)
        string_set_text(&ref, call->argv[1], text);
    else
        string_set_keep_expiry(&ref, call->argv[1], text);
    finish(call, &increx, &ref, text);
}

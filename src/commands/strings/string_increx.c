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

/* What the numbers come to. */
enum outcome {
    INCREX_REFUSED, /* the result is beyond a bound, or of what can be stored */
    INCREX_DONE,
    INCREX_FAILED /* an error was replied */
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

static bool bad_bounds(struct call *call) {
    return call_fail(call, CALL_ERROR_OTHER, "ERR LBOUND can't be greater than UBOUND");
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

/* --- Integers --- */

/* Reads an integer of an option; the error begins with its name. */
static bool parse_integer(struct call *call, size_t index, const char *error, int64_t *value) {
    return index == 0 || number_parse_int64(call->argv[index], value) ||
           call_fail(call, CALL_ERROR_OTHER, error);
}

/* *value becomes the result, and *applied by how much it has changed. */
static enum outcome add_integer(struct call *call, const struct increx *increx, int64_t increment,
                                int64_t lower, int64_t upper, int64_t *value, int64_t *applied) {
    int64_t result;
    bool overflows = __builtin_add_overflow(*value, increment, &result);
    if (overflows) result = increment > 0 ? INT64_MAX : INT64_MIN;
    if ((overflows || result < lower || result > upper) && !increx->saturates)
        return INCREX_REFUSED;
    if (result < lower) result = lower;
    if (result > upper) result = upper;
    if (__builtin_sub_overflow(result, *value, applied)) {
        call_fail(call, CALL_ERROR_OTHER, "ERR applied increment would overflow");
        return INCREX_FAILED;
    }
    *value = result;
    return INCREX_DONE;
}

static void increase_integer(struct call *call, struct increx *increx) {
    int64_t increment = 1, lower = INT64_MIN, upper = INT64_MAX, value = 0, applied = 0;
    char buffer[INT64_TEXT_MAX];
    struct keyref ref;
    if (!parse_integer(call, increx->by, "ERR Increment is not an integer or out of range",
                       &increment) ||
        !parse_integer(call, increx->lower, "ERR LBOUND is not an integer or out of range",
                       &lower) ||
        !parse_integer(call, increx->upper, "ERR UBOUND is not an integer or out of range", &upper))
        return;
    if (lower > upper) {
        bad_bounds(call);
        return;
    }
    if (!parse_expiry(call, increx)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_STRING, &ref)) return;
    if (ref.entry && !string_parse_integer(ref.entry, &value)) {
        reply_error(call->reply, "ERR value is not an integer or out of range");
        return;
    }
    enum outcome outcome = add_integer(call, increx, increment, lower, upper, &value, &applied);
    if (outcome == INCREX_FAILED) return;
    reply_array(call->reply, 2);
    reply_integer(call->reply, value);
    reply_integer(call->reply, applied);
    if (outcome == INCREX_REFUSED || has_passed(call, increx, &ref)) return;
    struct slice text = number_text(buffer, value);
    string_set_keep_expiry(&ref, call->argv[1], text);
    finish(call, increx, &ref, text);
}

/* --- Numbers with fractions --- */

static bool parse_float(struct call *call, size_t index, const char *error, long double *value) {
    return index == 0 || number_parse_long_double(call->argv[index], value) ||
           call_fail(call, CALL_ERROR_OTHER, error);
}

static enum outcome add_float(struct call *call, const struct increx *increx, long double increment,
                              long double lower, long double upper, long double *value,
                              long double *applied) {
    long double result = *value + increment;
    if ((!isfinite(result) || result < lower || result > upper) && !increx->saturates)
        return INCREX_REFUSED;
    if (result < lower) result = lower;
    if (result > upper) result = upper;
    if (result > LDBL_MAX) result = LDBL_MAX;
    if (result < -LDBL_MAX) result = -LDBL_MAX;
    *applied = result - *value;
    if (!isfinite(*applied)) {
        call_fail(call, CALL_ERROR_OTHER, "ERR applied increment would be Infinity");
        return INCREX_FAILED;
    }
    *value = result;
    return INCREX_DONE;
}

/* A text in RESP2, a double in RESP3. */
static void reply_float(struct reply *reply, long double value) {
    char buffer[LONG_DOUBLE_TEXT_MAX];
    if (reply->protocol >= 3)
        reply_double(reply, (double)value);
    else
        reply_bulk(reply, slice_make(buffer, number_format_long_double(buffer, value)));
}

static bool parse_floats(struct call *call, const struct increx *increx, long double *increment,
                         long double *lower, long double *upper) {
    if (!parse_float(call, increx->by, "ERR Increment is not a valid float", increment) ||
        !parse_float(call, increx->lower, "ERR LBOUND is not a valid float", lower) ||
        !parse_float(call, increx->upper, "ERR UBOUND is not a valid float", upper))
        return false;
    if (isinf(*increment))
        return call_fail(call, CALL_ERROR_OTHER, "ERR BYFLOAT increment cannot be Infinity");
    return *lower <= *upper || bad_bounds(call);
}

static void increase_float(struct call *call, struct increx *increx) {
    long double increment = 0, lower = -INFINITY, upper = INFINITY, value = 0, applied = 0;
    char buffer[LONG_DOUBLE_TEXT_MAX];
    struct keyref ref;
    if (!parse_floats(call, increx, &increment, &lower, &upper) || !parse_expiry(call, increx))
        return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_STRING, &ref)) return;
    if (ref.entry &&
        (!number_parse_long_double(string_text(ref.entry, buffer), &value) || !isfinite(value))) {
        reply_error(call->reply, "ERR value is not a valid float");
        return;
    }
    enum outcome outcome = add_float(call, increx, increment, lower, upper, &value, &applied);
    if (outcome == INCREX_FAILED) return;
    reply_array(call->reply, 2);
    reply_float(call->reply, value);
    reply_float(call->reply, applied);
    if (outcome == INCREX_REFUSED || has_passed(call, increx, &ref)) return;
    struct slice text = slice_make(buffer, number_format_long_double(buffer, value));
    string_set_text(&ref, call->argv[1], text);
    finish(call, increx, &ref, text);
}

void increx_command(struct call *call) {
    struct increx increx = {0};
    if (!parse(call, &increx)) return;
    if (increx.is_float)
        increase_float(call, &increx);
    else
        increase_integer(call, &increx);
}

#include "engine/call_arguments.h"

#include "base/text/number.h"
#include "engine/engine.h"
#include "engine/unknown_commands.h"
#include "resp/reply.h"
#include "table/command.h"
#include "types/string.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

bool call_integer(struct call *call, size_t index, int64_t *value) {
    return number_parse_int64(call->argv[index], value) ||
           reply_error(call->reply, "ERR value is not an integer or out of range");
}

bool call_integer_in(struct call *call, size_t index, int64_t min, int64_t max, int64_t *value,
                     const char *error) {
    int64_t parsed;
    if (!error && !call_integer(call, index, &parsed)) return false;
    if (error && !number_parse_int64(call->argv[index], &parsed))
        return reply_error(call->reply, error);
    if (parsed >= min && parsed <= max) {
        *value = parsed;
        return true;
    }
    if (error) return reply_error(call->reply, error);
    if (min == 0 && max == INT64_MAX)
        return reply_error(call->reply, "ERR value is out of range, must be positive");
    return reply_error_format(call->reply,
                              "ERR value is out of range, value must between %lld and %lld",
                              (long long)min, (long long)max);
}

bool call_integer_within(struct call *call, size_t index, int64_t min, int64_t max, int64_t *value,
                         const char *error) {
    if (!call_integer(call, index, value)) return false;
    return (*value >= min && *value <= max) || reply_error(call->reply, error);
}

size_t call_string_max(const struct call *call) {
    return call_is_repeated(call) ? STRING_LENGTH_MAX
                                  : (size_t)call->engine->config.proto_max_bulk_len;
}

bool call_check_growth(struct call *call, size_t length, size_t more) {
    size_t max = call_string_max(call);
    return (length <= max && more <= max - length) || call_too_long(call);
}

bool call_list_end(struct call *call, size_t index, enum list_end *end) {
    if (slice_is(call->argv[index], "left"))
        *end = LIST_HEAD;
    else if (slice_is(call->argv[index], "right"))
        *end = LIST_TAIL;
    else
        return call_syntax_error(call);
    return true;
}

bool call_timeout_ms(struct call *call, size_t index, int64_t *deadline_ms) {
    int64_t ms;
    if (!number_parse_int64(call->argv[index], &ms))
        return reply_error(call->reply, "ERR timeout is not an integer or out of range");
    if (ms < 0) return reply_error(call->reply, "ERR timeout is negative");
    if (ms > INT64_MAX - call->now_ms)
        return reply_error(call->reply, "ERR timeout is out of range");
    *deadline_ms = ms ? call->now_ms + ms : 0;
    return true;
}

bool call_timeout(struct call *call, size_t index, int64_t *deadline_ms) {
    long double seconds;
    if (!number_parse_long_double(call->argv[index], &seconds))
        return reply_error(call->reply, "ERR timeout is not a float or out of range");
    long double ms = ceill(seconds * 1000);
    if (ms < 0) return reply_error(call->reply, "ERR timeout is negative");
    if (ms > (long double)(INT64_MAX - call->now_ms - 1))
        return reply_error(call->reply, "ERR timeout is out of range");
    *deadline_ms = ms > 0 ? call->now_ms + (int64_t)ms : 0;
    return true;
}

sds call_take_argument(struct call *call, size_t index) {
    struct engine *engine = call->engine;
    sds argument = engine->argument;
    if (argument == NULL || call->argv[index].ptr != argument) return NULL;
    engine->argument = NULL;
    return argument;
}

/* --- Errors and help texts --- */

bool call_fail(struct call *call, enum call_error error, const char *text) {
    if (call->requester) call->requester->error = error;
    return reply_error(call->reply, text);
}

bool call_syntax_error(struct call *call) {
    return call_fail(call, CALL_ERROR_SYNTAX, "ERR syntax error");
}

bool call_bad_database(struct call *call) {
    return call_fail(call, CALL_ERROR_DATABASE, "ERR DB index is out of range");
}

bool call_database(struct call *call, size_t index, int *database) {
    int64_t number = 0;
    if (!call_integer_in(call, index, INT32_MIN, INT32_MAX, &number, NULL)) return false;
    if (number < 0 || number >= call->engine->databases) return call_bad_database(call);
    *database = (int)number;
    return true;
}

bool call_too_long(struct call *call) {
    return call_fail(call, CALL_ERROR_STRING_SIZE,
                     "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
}

bool call_wrong_arity(struct call *call) {
    return reply_error_format(call->reply, CALL_WRONG_ARITY, call->command->name);
}

bool call_too_few_keys(struct call *call) {
    return reply_error_format(call->reply, "ERR at least 1 input key is needed for '%s' command",
                              call->command->name);
}

bool call_bad_expiry(struct call *call) {
    return reply_error_format(call->reply, "ERR invalid expire time in '%s' command",
                              call->command->name);
}

/* The name by which the container was called, in capitals, as help texts show it. */
static sds container_name(const struct call *call) {
    sds upper = sds_new(call->argv[0]);
    for (size_t i = 0; i < sds_len(upper); i++) upper[i] = (char)toupper((unsigned char)upper[i]);
    return upper;
}

static bool answer_subcommand(struct call *call, const char *problem) {
    enum { SHOWN_MAX = 128 };
    size_t shown = call->argv[1].len < SHOWN_MAX ? call->argv[1].len : SHOWN_MAX;
    sds container = container_name(call);
    reply_error_format(call->reply, "ERR %s '%.*s'. Try %s HELP.", problem, (int)shown,
                       call->argv[1].ptr, container);
    sds_free(container);
    return false;
}

void call_unknown_subcommand(struct call *call) {
    unknown_command_note(call_session(call), call->argv[0], &call->argv[1]);
    answer_subcommand(call, "unknown subcommand");
}

bool call_bad_subcommand(struct call *call) {
    return answer_subcommand(call, "unknown subcommand or wrong number of arguments for");
}

bool call_has_at_most(struct call *call, size_t most) {
    return call->argc <= most || call_bad_subcommand(call);
}

void call_help(struct call *call, const char *text) {
    sds container = container_name(call);
    sds all = sds_format("%s <subcommand> [<arg> [value] [opt] ...]. Subcommands are:\n%s"
                         "HELP\n    Prints this help.\n",
                         container, text);
    size_t mark = reply_begin(call->reply), count = 0;
    for (const char *line = all, *end; (end = strchr(line, '\n')); line = end + 1) {
        reply_status(call->reply, slice_make(line, (size_t)(end - line)));
        count++;
    }
    reply_array_end(call->reply, mark, count);
    sds_free(all);
    sds_free(container);
}

void call_answer_text(struct call *call, sds text) {
    reply_verbatim(call->reply, sds_slice(text), "txt");
    sds_free(text);
}

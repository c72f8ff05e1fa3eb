#include "commands/pop_options.h"

/* [COUNT count] at argv[at]. */
static bool parse_count(struct call *call, size_t at, struct pop_options *options) {
    int64_t count;
    options->count = 1;
    if (at == call->argc) return true;
    if (!slice_is(call->argv[at], "count") || at + 1 == call->argc) return call_syntax_error(call);
    if (!call_integer_in(call, at + 1, 1, INT64_MAX, &count, "ERR count should be greater than 0"))
        return false;
    options->count = (uint64_t)count;
    return at + 2 == call->argc || call_syntax_error(call);
}

bool pop_options_parse(struct call *call, size_t index, const char *first, const char *last,
                       struct pop_options *options) {
    int64_t key_count;
    if (!call_integer_in(call, index, 1, INT64_MAX, &key_count,
                         "ERR numkeys should be greater than 0"))
        return false;
    size_t behind = call->argc - index - 1; /* arguments after numkeys */
    if ((uint64_t)key_count >= behind) return call_syntax_error(call);
    options->keys = call->argv + index + 1;
    options->key_count = (size_t)key_count;
    struct slice end = options->keys[key_count];
    options->from_last = slice_is(end, last);
    if (!options->from_last && !slice_is(end, first)) return call_syntax_error(call);
    return parse_count(call, index + 2 + options->key_count, options);
}

bool pop_count_parse(struct call *call, int64_t *count) {
    if (call->argc > 3) return call_syntax_error(call);
    return call->argc < 3 || call_integer_in(call, 2, 0, INT64_MAX, count,
                                             "ERR value is out of range, must be positive");
}

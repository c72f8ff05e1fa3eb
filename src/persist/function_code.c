#include "persist/function_code.h"

#include "base/text/number.h"
#include "resp/parser.h"

#include <string.h>

static bool fail(sds *error, const char *text) {
    *error = sds_new(slice_of_cstr(text));
    return false;
}

bool function_name_is_valid(struct slice name) {
    for (size_t i = 0; i < name.len; i++) {
        char c = ascii_lower(name.ptr[i]);
        if (!(c >= 'a' && c <= 'z') && !number_is_digit(c) && c != '_') return false;
    }
    return name.len > 0;
}

/* Takes an argument after the engine: name=NAME. */
static bool take_argument(struct function_code *parsed, struct slice argument, sds *error) {
    const struct slice begin = SLICE("name=");
    bool is_name =
        argument.len >= begin.len && slice_equal_nocase(slice_make(argument.ptr, begin.len), begin);
    if (!is_name) {
        *error = sds_append(sds_new(SLICE("Invalid metadata value given: ")), argument);
        return false;
    }
    if (parsed->name)
        return fail(error, "Invalid metadata value, name argument was given multiple times");
    parsed->name = sds_new(slice_make(argument.ptr + begin.len, argument.len - begin.len));
    return true;
}

/* Parses the line, which is unquoted in place. */
static bool take_line(struct function_code *parsed, sds line, sds *error) {
    char *at = line, *end = line + sds_len(line);
    struct slice argument;
    enum resp_split split;
    while ((split = resp_split_next(&at, end, &argument)) == RESP_SPLIT_ARGUMENT) {
        if (!parsed->engine)
            parsed->engine = sds_new(slice_make(argument.ptr + 2, argument.len - 2));
        else if (!take_argument(parsed, argument, error))
            return false;
    }
    if (split == RESP_SPLIT_UNBALANCED) return fail(error, "Invalid library metadata");
    if (!parsed->name) return fail(error, "Library name was not given");
    if (!function_name_is_valid(sds_slice(parsed->name))) return fail(error, FUNCTION_NAME_ERROR);
    return true;
}

bool function_code_parse(struct function_code *parsed, struct slice code, sds *error) {
    *parsed = (struct function_code){0};
    if (!slice_begins(code, SLICE("#!"))) return fail(error, "Missing library metadata");
    const char *line_end = memchr(code.ptr, '\n', code.len);
    if (!line_end) return fail(error, "Invalid library metadata");
    size_t length = (size_t)(line_end - code.ptr);
    parsed->body = slice_make(line_end, code.len - length);
    sds line = sds_new(slice_make(code.ptr, length));
    bool good = take_line(parsed, line, error);
    sds_free(line);
    if (!good) function_code_free(parsed);
    return good;
}

void function_code_free(struct function_code *parsed) {
    sds_free(parsed->engine);
    sds_free(parsed->name);
    *parsed = (struct function_code){0};
}

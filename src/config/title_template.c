#include "config/title_template.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset; /* in struct title_values */
} variables[] = {
    {"title", offsetof(struct title_values, title)},
    {"listen-addr", offsetof(struct title_values, listen_addr)},
    {"server-mode", offsetof(struct title_values, server_mode)},
    {"port", offsetof(struct title_values, port)},
    {"tls-port", offsetof(struct title_values, tls_port)},
    {"unixsocket", offsetof(struct title_values, unixsocket)},
    {"config-file", offsetof(struct title_values, config_file)},
};

/* Returns NULL when there is no such variable. */
static const char *value_of(struct slice name, const struct title_values *values) {
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        if (!slice_equal(name, slice_of_cstr(variables[i].name))) continue;
        const char *value;
        memcpy(&value, (const char *)values + variables[i].offset, sizeof(value));
        return value ? value : "";
    }
    return NULL;
}

static sds trim(sds text) {
    size_t begin = 0, end = sds_len(text);
    while (begin < end && text[begin] == ' ') begin++;
    while (end > begin && text[end - 1] == ' ') end--;
    sds trimmed = sds_new(slice_make(text + begin, end - begin));
    sds_free(text);
    return trimmed;
}

sds title_template_expand(struct slice text, const struct title_values *values) {
    sds out = sds_new(SLICE(""));
    const char *end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end;) {
        const char *open = memchr(at, '{', (size_t)(end - at));
        if (!open) open = end;
        out = sds_append(out, slice_make(at, (size_t)(open - at)));
        if (open == end) break;
        const char *close = memchr(open, '}', (size_t)(end - open));
        const char *value =
            close ? value_of(slice_make(open + 1, (size_t)(close - open - 1)), values) : NULL;
        if (!value) {
            sds_free(out);
            return NULL;
        }
        out = sds_append_cstr(out, value);
        at = close + 1;
    }
    return trim(out);
}

bool title_template_is_valid(struct slice text) {
    static const struct title_values some = {"x", "x", "x", "x", "x", "x", "x"};
    sds title = title_template_expand(text, &some);
    bool valid = title && sds_len(title) > 0;
    sds_free(title);
    return valid;
}

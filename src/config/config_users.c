#include "config/config_users.h"

#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "resp/parser.h"

#include <stdlib.h>

struct config_user_lines config_user_lines(struct slice users) {
    struct config_user_lines lines = {0};
    size_t capacity = 0;
    while (users.len > 0) {
        struct slice text = slice_take_until(&users, '\n'), rest = text;
        slice_take_until(&rest, ' ');
        MEM_RESERVE(lines.items, capacity, lines.count + 1);
        lines.items[lines.count++] =
            (struct config_user_line){.name = slice_take_until(&rest, ' '), .text = text};
    }
    return lines;
}

static int compare_name(const void *name, const void *line) {
    return slice_compare(*(const struct slice *)name,
                         ((const struct config_user_line *)line)->name);
}

struct config_user_line *config_user_lines_find(const struct config_user_lines *users,
                                                struct slice line) {
    sds copy = sds_new(line);
    char *at = copy, *end = copy + sds_len(copy);
    struct slice name;
    struct config_user_line *found = NULL;
    if (users->count > 0 && resp_split_next(&at, end, &name) == RESP_SPLIT_ARGUMENT &&
        resp_split_next(&at, end, &name) == RESP_SPLIT_ARGUMENT)
        found = bsearch(&name, users->items, users->count, sizeof(*users->items), compare_name);
    secret_free(copy);
    return found;
}

/* Rules have signs that mean nothing to the parser, but it takes quotes and backslashes apart. */
static bool needs_quotes(struct slice word) {
    bool quoted = word.len == 0;
    for (size_t i = 0; i < word.len && !quoted; i++)
        quoted = (unsigned char)word.ptr[i] < ' ' || word.ptr[i] == 0x7F ||
                 memchr("\"'\\", word.ptr[i], 3);
    return quoted;
}

sds config_user_line_append(sds out, struct config_user_line *user) {
    struct slice rest = user->text;
    for (bool is_first = true; is_first || rest.len > 0; is_first = false) {
        struct slice word = slice_take_until(&rest, ' ');
        if (!is_first) out = sds_append_cstr(out, " ");
        out = needs_quotes(word) ? sds_append_quoted(out, word) : sds_append(out, word);
    }
    user->is_written = true;
    return sds_append_cstr(out, "\n");
}

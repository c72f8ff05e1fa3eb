#include "base/text/cpu_list.h"

#include "base/text/number.h"

#include <string.h>

/* As slice_take_until; returns whether there was a separator. */
static bool cut(struct slice *text, char separator, struct slice *part) {
    size_t len = text->len;
    *part = slice_take_until(text, separator);
    return part->len < len;
}

static bool parse_number(struct slice text, int64_t *number) {
    return number_parse_int64(text, number) && *number >= 0 && *number < CPU_LIST_MAX;
}

/* A number, a range, or a range with a step. */
static bool parse_item(struct slice text, bool is_in[CPU_LIST_MAX]) {
    struct slice first, last;
    int64_t from, to, step = 1;
    bool is_range = cut(&text, '-', &first);
    if (!parse_number(first, &from)) return false;
    to = from;
    if (is_range) {
        bool has_step = cut(&text, ':', &last);
        if (!parse_number(last, &to) || to < from) return false;
        if (has_step && (!parse_number(text, &step) || step == 0)) return false;
    }
    for (int64_t i = from; i <= to; i += step) is_in[i] = true;
    return true;
}

bool cpu_list_parse(struct slice text, bool is_in[CPU_LIST_MAX]) {
    struct slice item;
    bool is_followed = text.len > 0;
    memset(is_in, 0, CPU_LIST_MAX * sizeof(*is_in));
    while (is_followed) {
        is_followed = cut(&text, ',', &item);
        if (!parse_item(item, is_in)) return false;
    }
    return true;
}

#include "script/shebang.h"

#include "resp/parser.h"

#include <string.h>

const char *const script_flag_names[SCRIPT_FLAG_COUNT] = {
    "no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys",
};

uint32_t script_flag_of(struct slice name, bool in_any_case) {
    for (int i = 0; i < SCRIPT_FLAG_COUNT; i++) {
        struct slice known = slice_of_cstr(script_flag_names[i]);
        if (in_any_case ? slice_equal_nocase(name, known) : slice_equal(name, known))
            return (uint32_t)1 << i;
    }
    return 0;
}

static sds error_with(const char *text, struct slice what) {
    return sds_append(sds_new(slice_of_cstr(text)), what);
}

/* "no-writes,allow-stale"; empty: none. */
static sds read_flags(struct slice list, struct shebang *shebang) {
    bool more = list.len > 0;
    while (more) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.ptr) : list.len;
        struct slice name = slice_make(list.ptr, len);
        uint32_t flag = script_flag_of(name, false);
        if (flag == 0) return error_with("ERR Unexpected flag in script shebang: ", name);
        shebang->flags |= flag;
        more = comma != NULL;
        if (more) list = slice_make(comma + 1, list.len - len - 1);
    }
    return NULL;
}

/* Reads the words of the line, which is unquoted in place. */
static sds read_words(sds line, struct shebang *shebang) {
    char *at = line, *end = line + sds_len(line);
    struct slice word;
    enum resp_split split;
    sds error = NULL;
    bool is_first = true;
    while (!error && (split = resp_split_next(&at, end, &word)) == RESP_SPLIT_ARGUMENT) {
        if (is_first && !slice_equal(word, SLICE("#!lua")))
            error = error_with("ERR Unexpected engine in script shebang: ", word);
        else if (!is_first && !slice_begins(word, SLICE("flags=")))
            error = error_with("ERR Unknown lua shebang option: ", word);
        else if (!is_first)
            error = read_flags(slice_make(word.ptr + 6, word.len - 6), shebang);
        is_first = false;
    }
    if (error || split != RESP_SPLIT_UNBALANCED) return error;
    return sds_new(SLICE("ERR Invalid engine in script shebang"));
}

sds shebang_read(struct slice text, struct shebang *shebang) {
    *shebang = (struct shebang){.flags = SCRIPT_IS_UNDECLARED};
    if (!slice_begins(text, SLICE("#!"))) return NULL;
    const char *end = memchr(text.ptr, '\n', text.len);
    if (!end || memchr(text.ptr, '\0', (size_t)(end - text.ptr)))
        return sds_new(SLICE("ERR Invalid script shebang"));
    *shebang = (struct shebang){.size = (size_t)(end - text.ptr)};
    sds line = sds_new(slice_make(text.ptr, shebang->size));
    sds error = read_words(line, shebang);
    sds_free(line);
    return error;
}

#include "script/shebang.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t flag;
} flags[] = {
    {"no-writes", SCRIPT_NO_WRITES},
    {"allow-oom", SCRIPT_ALLOW_OOM},
    {"allow-stale", SCRIPT_ALLOW_STALE},
    {"no-cluster", SCRIPT_NO_CLUSTER},
    {"allow-cross-slot-keys", SCRIPT_ALLOW_CROSS_SLOT_KEYS},
};

uint32_t script_flag_of(struct slice name) {
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (slice_equal(name, slice_of_cstr(flags[i].name))) return flags[i].flag;
    }
    return 0;
}

const char *script_flag_name(uint32_t flag) {
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (flags[i].flag == flag) return flags[i].name;
    }
    return NULL;
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
        uint32_t flag = script_flag_of(name);
        if (flag == 0) return error_with("ERR Unexpected flag in script shebang: ", name);
        shebang->flags |= flag;
        more = comma != NULL;
        if (more) list = slice_make(comma + 1, list.len - len - 1);
    }
    return NULL;
}

/* Takes the next word off the line. */
static bool next_word(struct slice *line, struct slice *word) {
    while (line->len > 0 && (*line->ptr == ' ' || *line->ptr == '\t' || *line->ptr == '\r'))
        *line = slice_make(line->ptr + 1, line->len - 1);
    size_t len = 0;
    while (len < line->len && !strchr(" \t\r", line->ptr[len])) len++;
    *word = slice_make(line->ptr, len);
    *line = slice_make(line->ptr + len, line->len - len);
    return len > 0;
}

sds shebang_read(struct slice text, struct shebang *shebang) {
    struct slice word;
    *shebang = (struct shebang){.flags = SCRIPT_IS_UNDECLARED};
    if (!slice_begins(text, SLICE("#!"))) return NULL;
    const char *end = memchr(text.ptr, '\n', text.len);
    if (!end) return sds_new(SLICE("ERR Invalid script shebang"));
    shebang->flags = 0;
    shebang->size = (size_t)(end - text.ptr);
    struct slice line = slice_make(text.ptr, shebang->size);
    next_word(&line, &word);
    shebang->engine = slice_make(word.ptr + 2, word.len - 2);
    if (!slice_equal(shebang->engine, SLICE("lua")))
        return error_with("ERR Unexpected engine in script shebang: ", word);
    while (next_word(&line, &word)) {
        if (!slice_begins(word, SLICE("flags=")))
            return error_with("ERR Unknown lua shebang option: ", word);
        sds error = read_flags(slice_make(word.ptr + 6, word.len - 6), shebang);
        if (error) return error;
    }
    return NULL;
}

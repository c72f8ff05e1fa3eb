#include "persist/newer_commands.h"

#include "base/alloc.h"
#include "base/number.h"

#include <stdint.h>

/* A command. */
struct reading {
    const struct slice *argv;
    size_t argc;
};

/* --- Writing --- */

static void add(struct newer_translation *out, struct slice word) {
    MEM_RESERVE(out->words, out->word_capacity, out->word_count + 1);
    out->words[out->word_count++] = word;
}

static void add_all(struct newer_translation *out, const struct slice *words, size_t count) {
    for (size_t i = 0; i < count; i++) add(out, words[i]);
}

/* Ends a command. */
static void finish(struct newer_translation *out) {
    MEM_RESERVE(out->ends, out->end_capacity, out->count + 1);
    out->ends[out->count++] = out->word_count;
}

/* --- Keys --- */

/* RESTORE-ASKING: RESTORE, sent to a node of a cluster that a slot moves to. */
static bool translate_restore(struct newer_translation *out, const struct reading *in) {
    add(out, SLICE("RESTORE"));
    add_all(out, in->argv + 1, in->argc - 1);
    finish(out);
    return true;
}

/* --- The table --- */

/* `arity` is a minimum. */
static const struct {
    const char *name;
    size_t arity;
    bool (*translate)(struct newer_translation *out, const struct reading *in);
} commands[] = {
    {"restore-asking", 4, translate_restore},
};

static bool translate(struct newer_translation *out, const struct reading *in) {
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!slice_is(in->argv[0], commands[i].name)) continue;
        return in->argc >= commands[i].arity && commands[i].translate(out, in);
    }
    return false;
}

bool newer_translation_begin(struct newer_translation *translation, const struct slice *argv,
                             size_t argc) {
    struct reading in = {.argv = argv, .argc = argc};
    *translation = (struct newer_translation){0};
    if (translate(translation, &in)) return true;
    newer_translation_end(translation);
    return false;
}

void newer_translation_end(struct newer_translation *translation) {
    mem_free(translation->words);
    mem_free(translation->ends);
}

const struct slice *newer_translation_command(const struct newer_translation *translation,
                                              size_t index, size_t *argc) {
    size_t begin = index == 0 ? 0 : translation->ends[index - 1];
    *argc = translation->ends[index] - begin;
    return translation->words + begin;
}

#include "persist/newer_commands.h"

#include "base/alloc.h"

#include <stdint.h>

/* The arguments of a command, and how far they have been read. */
struct reading {
    const struct slice *argv;
    size_t argc;
    size_t at;
};

static bool is_at_end(const struct reading *in) {
    return in->at == in->argc;
}

/* If the next word is this one and `count` others follow it, skips them all and returns true. */
static bool skip(struct reading *in, const char *word, size_t count) {
    if (in->argc - in->at <= count || !slice_is(in->argv[in->at], word)) return false;
    in->at += 1 + count;
    return true;
}

/* As skip, for any of these words; the array ends with NULL. */
static bool skip_any(struct reading *in, const char *const *words, size_t count) {
    for (; *words; words++)
        if (skip(in, *words, count)) return true;
    return false;
}

/* --- Writing --- */

static void add(struct newer_translation *out, struct slice word) {
    MEM_RESERVE(out->words, out->word_capacity, out->word_count + 1);
    out->words[out->word_count++] = word;
}

static void add_all(struct newer_translation *out, const struct slice *words, size_t count) {
    for (size_t i = 0; i < count; i++) add(out, words[i]);
}

/* What was read from `from` on. */
static void add_read(struct newer_translation *out, const struct reading *in, size_t from) {
    add_all(out, in->argv + from, in->at - from);
}

/* Ends a command. */
static void finish(struct newer_translation *out) {
    MEM_RESERVE(out->ends, out->end_capacity, out->count + 1);
    out->ends[out->count++] = out->word_count;
}

/* A whole command. */
#define ADD_COMMAND(out, ...)                                                                      \
    do {                                                                                           \
        const struct slice words[] = {__VA_ARGS__};                                                \
        add_all(out, words, sizeof(words) / sizeof(words[0]));                                     \
        finish(out);                                                                               \
    } while (0)

/* --- Strings --- */

static const char *const comparisons[] = {"ifeq", "ifne", "ifdeq", "ifdne", NULL};
static const char *const existence[] = {"nx", "xx", NULL};
static const char *const times[] = {"ex", "px", "exat", "pxat", NULL};

/* SET key value [IFEQ|IFNE value | IFDEQ|IFDNE digest | GET | an option of SET] … */
static bool translate_set(struct newer_translation *out, struct reading *in) {
    bool has_comparison = false;
    add_all(out, in->argv, 3);
    in->at = 3;
    while (!is_at_end(in)) {
        size_t from = in->at;
        if (!has_comparison && skip_any(in, comparisons, 1))
            has_comparison = true;
        else if (skip_any(in, times, 1) || skip(in, "keepttl", 0))
            add_read(out, in, from);
        else if (!skip(in, "get", 0))
            return false;
    }
    finish(out);
    return has_comparison;
}

/* MSETEX count key value … [NX|XX] [EX|PX|EXAT|PXAT time | KEEPTTL] */
static bool translate_msetex(struct newer_translation *out, struct reading *in) {
    int64_t count;
    bool has_condition = false;
    struct reading expiry = *in;
    if (!number_parse_int64(in->argv[1], &count) || count < 1 ||
        (uint64_t)count > (in->argc - 2) / 2)
        return false;
    in->at = 2 + 2 * (size_t)count;
    expiry.at = 0;
    while (!is_at_end(in)) {
        size_t from = in->at;
        if (!has_condition && skip_any(in, existence, 0)) {
            has_condition = true;
            continue;
        }
        if (expiry.at || !(skip_any(in, times, 1) || skip(in, "keepttl", 0))) return false;
        expiry.argv = in->argv + from;
        expiry.at = in->at - from;
    }
    for (size_t i = 0; i < (size_t)count; i++) {
        add(out, SLICE("SET"));
        add_all(out, in->argv + 2 + 2 * i, 2);
        add_read(out, &expiry, 0);
        finish(out);
    }
    return true;
}

/* DELEX key [IFEQ|IFNE value | IFDEQ|IFDNE digest] */
static bool translate_delex(struct newer_translation *out, struct reading *in) {
    in->at = 2;
    if (!is_at_end(in) && !skip_any(in, comparisons, 1)) return false;
    ADD_COMMAND(out, SLICE("DEL"), in->argv[1]);
    return is_at_end(in);
}

/* DELIFEQ key value */
static bool translate_delifeq(struct newer_translation *out, struct reading *in) {
    ADD_COMMAND(out, SLICE("DEL"), in->argv[1]);
    return in->argc == 3;
}

/* The expiry of a key that INCREX has changed. */
static bool translate_increx_expiry(struct newer_translation *out, struct slice key,
                                    struct slice unit, struct slice time, bool only_new) {
    static const struct {
        const char *unit;
        struct slice command;
    } commands[] = {{"ex", {"EXPIRE", 6}},
                    {"px", {"PEXPIRE", 7}},
                    {"exat", {"EXPIREAT", 8}},
                    {"pxat", {"PEXPIREAT", 9}},
                    {"persist", {"PERSIST", 7}}};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!slice_is(unit, commands[i].unit)) continue;
        add(out, commands[i].command);
        add(out, key);
        if (time.ptr) add(out, time);
        if (only_new) add(out, SLICE("NX"));
        finish(out);
    }
    return !only_new || time.ptr;
}

/* INCREX key [BYINT n] [LBOUND a] [UBOUND b] [EX|PX|EXAT|PXAT time | PERSIST] [ENX]
 *
 * Redis 8.8 propagates SET or DEL instead, with the value that came of it. Where INCREX itself is
 * sent, an increment that would have passed a bound has changed nothing and is not sent. What comes
 * of SATURATE depends on the value before, and what comes of BYFLOAT on the server's arithmetic:
 * these have no translation. */
static bool translate_increx(struct newer_translation *out, struct reading *in) {
    struct slice key = in->argv[1], by = {0}, unit = {0}, time = {0};
    bool only_new = false;
    in->at = 2;
    while (!is_at_end(in)) {
        const struct slice *option = in->argv + in->at;
        if (!by.ptr && skip(in, "byint", 1))
            by = option[1];
        else if (!unit.ptr && skip_any(in, times, 1))
            unit = option[0], time = option[1];
        else if (!unit.ptr && skip(in, "persist", 0))
            unit = option[0];
        else if (!only_new && skip(in, "enx", 0))
            only_new = true;
        else if (!skip(in, "lbound", 1) && !skip(in, "ubound", 1))
            return false;
    }
    ADD_COMMAND(out, SLICE("INCRBY"), key, by.ptr ? by : SLICE("1"));
    return translate_increx_expiry(out, key, unit, time, only_new);
}

/* --- Keys --- */

/* RESTORE-ASKING: RESTORE, sent to a node of a cluster that a slot moves to. */
static bool translate_restore(struct newer_translation *out, struct reading *in) {
    add(out, SLICE("RESTORE"));
    add_all(out, in->argv + 1, in->argc - 1);
    finish(out);
    return true;
}

/* MOVE key database REPLACE */
static bool translate_move(struct newer_translation *out, struct reading *in, int database) {
    struct slice key = in->argv[1], target = in->argv[2];
    in->at = 3;
    struct slice here = number_text(out->number, database);
    if (!skip(in, "replace", 0) || !is_at_end(in) || slice_equal(target, here)) return false;
    ADD_COMMAND(out, SLICE("SELECT"), target);
    ADD_COMMAND(out, SLICE("DEL"), key);
    ADD_COMMAND(out, SLICE("SELECT"), here);
    ADD_COMMAND(out, SLICE("MOVE"), key, target);
    return true;
}

/* --- Streams --- */

/* What happens to the references that groups of consumers have to entries which are deleted. With
 * ACKED the entries stay that a group has not acknowledged. But there are no groups here, nor at
 * the server that this comes from: what makes a group is refused, from a primary and in a file. So
 * each entry that is named was deleted. (rdb-skip-unknown-types leaves groups out, and with them
 * what depends on them.) */
static const char *const references[] = {"keepref", "delref", "acked", NULL};

/* Options of XADD and XTRIM; each has its number of arguments. */
static const struct {
    const char *word;
    size_t count;
    bool is_known; /* to this server */
} stream_options[] = {
    {"nomkstream", 0, true},
    {"maxlen", 1, true},
    {"minid", 1, true},
    {"limit", 1, true},
    {"keepref", 0, false},
    {"delref", 0, false},
    {"acked", 0, false},
    /* An entry is added once for each id that its producer gave it: this one has been added. */
    {"idmp", 2, false},
    {"idmpauto", 1, false},
};

/* Copies the options that are known here. Sets *dropped when there was another one. Returns false
 * when the next word is not an option. */
static bool copy_stream_option(struct newer_translation *out, struct reading *in, bool *dropped) {
    const size_t count = sizeof(stream_options) / sizeof(stream_options[0]);
    size_t from = in->at, i = 0;
    while (i < count && !skip(in, stream_options[i].word, stream_options[i].count)) i++;
    if (i == count) return false;
    const struct slice *value = in->argv + from + 1;
    bool is_threshold = slice_is(in->argv[from], "maxlen") || slice_is(in->argv[from], "minid");
    if (is_threshold && (slice_is(*value, "=") || slice_is(*value, "~")) && !is_at_end(in))
        in->at++;
    if (stream_options[i].is_known)
        add_read(out, in, from);
    else
        *dropped = true;
    return true;
}

/* Copies a command with such options from argv[2] on, and whatever follows them. */
static bool translate_stream_options(struct newer_translation *out, struct reading *in) {
    bool dropped = false;
    add_all(out, in->argv, 2);
    in->at = 2;
    while (!is_at_end(in) && copy_stream_option(out, in, &dropped)) {
    }
    add_all(out, in->argv + in->at, in->argc - in->at);
    finish(out);
    size_t least = slice_is(in->argv[0], "xadd") ? 5 : 4; /* words of a complete command */
    return dropped && out->word_count >= least;
}

/* XDELEX key [KEEPREF|DELREF|ACKED] IDS count id … */
static bool translate_xdelex(struct newer_translation *out, struct reading *in) {
    int64_t count;
    in->at = 2;
    skip_any(in, references, 0);
    if (!skip(in, "ids", 1) || !number_parse_int64(in->argv[in->at - 1], &count)) return false;
    size_t left = in->argc - in->at;
    add(out, SLICE("XDEL"));
    add(out, in->argv[1]);
    add_all(out, in->argv + in->at, left);
    finish(out);
    return left > 0 && count == (int64_t)left;
}

/* --- The table --- */

/* `arity` is a minimum. Neither `translate` nor `in_database` set: there is nothing to do. */
static const struct {
    const char *name;
    size_t arity;
    bool (*translate)(struct newer_translation *out, struct reading *in);
    bool (*in_database)(struct newer_translation *out, struct reading *in, int database);
} commands[] = {
    {"set", 5, translate_set, NULL},
    {"msetex", 4, translate_msetex, NULL},
    {"delex", 2, translate_delex, NULL},
    {"delifeq", 3, translate_delifeq, NULL},
    {"increx", 2, translate_increx, NULL},
    {"move", 4, NULL, translate_move},
    {"restore-asking", 4, translate_restore, NULL},
    {"xadd", 6, translate_stream_options, NULL},
    {"xtrim", 5, translate_stream_options, NULL},
    {"xdelex", 5, translate_xdelex, NULL},
    /* What a stream knows of the ids that its producers gave to entries. */
    {"xcfgset", 2, NULL, NULL},
    {"xidmprecord", 5, NULL, NULL},
};

static bool translate(struct newer_translation *out, struct reading *in, int database) {
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!slice_is(in->argv[0], commands[i].name)) continue;
        if (in->argc < commands[i].arity) return false;
        if (commands[i].translate) return commands[i].translate(out, in);
        return !commands[i].in_database || commands[i].in_database(out, in, database);
    }
    return false;
}

bool newer_translation_begin(struct newer_translation *translation, const struct slice *argv,
                             size_t argc, int database) {
    struct reading in = {.argv = argv, .argc = argc};
    *translation = (struct newer_translation){0};
    if (translate(translation, &in, database)) return true;
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

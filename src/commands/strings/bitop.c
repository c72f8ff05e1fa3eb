/* BITOP AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE destination key … It is a work
 * (engine/work.h) if the strings are long. */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/strings/captured_texts.h"
#include "commands/strings/string_common.h"
#include "engine/work.h"
#include "types/bits.h"

/* Returns whether the operation takes so many sources; otherwise replies the error. */
static bool check_source_count(struct call *call, enum bits_operation operation, const char *name) {
    size_t count = call->argc - 3;
    bool is_single = operation == BITS_NOT;
    if (is_single ? count == 1 : count >= 2 || bits_is_commutative(operation)) return true;
    return reply_error_format(call->reply, "ERR BITOP %s must be called with %s.", name,
                              is_single ? "a single source key" : "at least two source keys");
}

static bool parse_operation(struct call *call, enum bits_operation *operation) {
    static const char *const names[] = {
        [BITS_AND] = "AND",   [BITS_OR] = "OR",       [BITS_XOR] = "XOR",     [BITS_NOT] = "NOT",
        [BITS_DIFF] = "DIFF", [BITS_DIFF1] = "DIFF1", [BITS_ANDOR] = "ANDOR", [BITS_ONE] = "ONE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!slice_is(call->argv[1], names[i])) continue;
        *operation = (enum bits_operation)i;
        return check_source_count(call, *operation, names[i]);
    }
    return call_syntax_error(call);
}

/* --- Sources --- */

struct sources {
    enum bits_operation operation;
    struct source {
        struct entry *entry; /* NULL: its text is empty */
        char buffer[INT64_TEXT_MAX];
    } * found;
    struct slice *texts; /* of those that count */
    struct source **of;  /* these texts */
    size_t count;
    size_t longest;
    size_t total; /* bytes of those that were found */
};

static void sources_begin(struct sources *sources, enum bits_operation operation, size_t count) {
    *sources = (struct sources){.operation = operation,
                                .found = mem_alloc(count * sizeof(*sources->found)),
                                .texts = mem_alloc(count * sizeof(*sources->texts)),
                                .of = mem_alloc(count * sizeof(struct source *)),
                                .count = count};
}

static void sources_end(struct sources *sources) {
    mem_free(sources->found);
    mem_free(sources->texts);
    mem_free(sources->of);
}

/* Finds the texts of the sources. Returns false after WRONGTYPE. */
static bool find_sources(struct call *call, struct sources *sources) {
    for (size_t i = 0; i < sources->count; i++) {
        struct keyref ref;
        struct source *source = &sources->found[i];
        if (!call_find_typed_read(call, call->argv[3 + i], VALUE_STRING, &ref)) return false;
        struct slice text = string_text_or_empty(ref.entry, source->buffer);
        if (text.len > sources->longest) sources->longest = text.len;
        sources->total += text.len;
        source->entry = ref.entry;
        sources->texts[i] = text;
        sources->of[i] = source;
    }
    return true;
}

/* Returns how many of a source's `times` uses count: more of them change nothing. */
static size_t uses_that_count(enum bits_operation operation, size_t times) {
    if (operation == BITS_XOR) return times % 2 ? 1 : 2;
    return operation == BITS_ONE && times > 1 ? 2 : 1;
}

static void keep(struct sources *sources, size_t from, size_t *kept) {
    sources->texts[*kept] = sources->texts[from];
    sources->of[(*kept)++] = sources->of[from];
}

/* Drops repeated sources whose repetition does not change the result: combining a long text that
 * is named thousands of times would hold the loop. The first source of DIFF, DIFF1 and ANDOR is
 * kept in any case: it has another part than the others. O(count · log count). */
static void drop_repeats(struct sources *sources) {
    if (sources->count <= 2) return;
    enum bits_operation operation = sources->operation;
    size_t kept = bits_is_commutative(operation) ? 0 : 1, first = kept;
    size_t others = sources->count - first;
    size_t *uses = mem_alloc_zeroed(others * sizeof(*uses));
    struct firsts firsts;
    firsts_find(&firsts, &sources->texts[first].ptr, sizeof(*sources->texts), others);
    for (size_t i = 0; i < others; i++) uses[firsts.at[i]]++;
    for (size_t i = 0; i < others; i++)
        if (firsts.at[i] == i) uses[i] = uses_that_count(operation, uses[i]);
    for (size_t i = 0; i < others; i++) {
        if (uses[firsts.at[i]] == 0) continue;
        uses[firsts.at[i]]--;
        keep(sources, first + i, &kept);
    }
    firsts_end(&firsts);
    mem_free(uses);
    sources->count = kept;
}

static void make_first(struct sources *sources, size_t index) {
    struct slice text = sources->texts[index];
    struct source *source = sources->of[index];
    sources->texts[index] = sources->texts[0];
    sources->of[index] = sources->of[0];
    sources->texts[0] = text;
    sources->of[0] = source;
}

/* --- The result --- */

/* Where the result is made: over the present value of the destination, or as a new text. */
struct result {
    uint8_t *bytes;
    sds text; /* NULL: in the destination */
};

/* Returns where the result can be written while the sources are read, or NULL: over the present
 * value of the destination, if that has the right length and is not a source, or only one, which
 * is, or may become, the first. */
static uint8_t *overwritable(struct keyref *ref, struct sources *sources) {
    if (ref->entry == NULL || entry_type(ref->entry) != VALUE_STRING) return NULL;
    char buffer[INT64_TEXT_MAX];
    const char *present = string_text_or_empty(ref->entry, buffer).ptr;
    size_t uses = 0;
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->texts[i].ptr != present) continue;
        if (i > 0 && !bits_is_commutative(sources->operation)) return NULL;
        make_first(sources, i);
        uses++;
    }
    return uses <= 1 ? string_overwrite(ref, sources->longest) : NULL;
}

/* Returns false when there is no memory for it. */
static bool open_result(struct keyref *ref, struct sources *sources, struct result *result) {
    drop_repeats(sources);
    result->bytes = overwritable(ref, sources);
    result->text = result->bytes ? NULL : sds_try_new_uninit(sources->longest);
    if (result->text) result->bytes = (uint8_t *)result->text;
    return result->bytes != NULL;
}

/* Stores the result, which is not empty and has been made, and takes ownership of it. */
static void store(struct call *call, struct keyref *ref, const struct result *result) {
    struct slice key = call->argv[2];
    bool replaces = ref->entry != NULL;
    enum value_type old = replaces ? entry_type(ref->entry) : VALUE_STRING;
    if (result->text) {
        uint32_t clock = string_make_way(call, ref);
        string_set_raw(ref, key, result->text);
        string_came(ref, clock);
    }
    if (replaces) call_notify_overwritten(call, key, old, VALUE_STRING);
    CALL_CHANGED(call, ref, key, EVENT_STRING, "set", 1);
    reply_integer(call->reply, (int64_t)string_length(ref->entry));
}

static void store_here(struct call *call, struct sources *sources) {
    struct keyref ref;
    struct result result;
    call_find_write(call, call->argv[2], &ref);
    if (sources->longest == 0) {
        call_remove(call, &ref, call->argv[2], REMOVAL_RESULT_EMPTY);
        reply_integer(call->reply, 0);
    } else if (open_result(&ref, sources, &result)) {
        bits_combine(sources->operation, result.bytes, sources->longest, sources->texts,
                     sources->count);
        store(call, &ref, &result);
    } else {
        call_too_long(call);
    }
}

/* --- In another thread --- */

struct bitop_work {
    struct work work;
    enum bits_operation operation;
    struct captured_texts sources;
    struct result result; /* that in the destination is the claim's until it has ended */
    size_t len;
};

static void run_bitop(struct work *work) {
    struct bitop_work *bits = (struct bitop_work *)work;
    const struct captured_texts *sources = &bits->sources;
    bits_combine_captured(bits->operation, bits->result.bytes, bits->len, sources->texts,
                          sources->captures, sources->count);
}

static void answer_bitop(struct call *call, struct work *work) {
    struct bitop_work *bits = (struct bitop_work *)work;
    struct keyref ref;
    call_find_write(call, call->argv[2], &ref);
    store(call, &ref, &bits->result);
    bits->result.text = NULL;
}

static void free_bitop(struct work *work) {
    struct bitop_work *bits = (struct bitop_work *)work;
    captured_texts_end(work, &bits->sources);
    sds_free(bits->result.text);
}

/* Gives the work what it reads. */
static void take_sources(struct call *call, struct bitop_work *bits,
                         const struct sources *sources) {
    captured_texts_begin(&bits->sources, sources->count);
    for (size_t i = 0; i < sources->count; i++) {
        struct slice text = sources->texts[i];
        if (text.ptr == (char *)bits->result.bytes)
            captured_texts_add_own(&bits->sources, text);
        else
            captured_texts_add(call, &bits->sources, sources->of[i]->entry, text);
    }
}

/* The destination is marked as used when the result is stored. */
static void store_elsewhere(struct call *call, struct sources *sources) {
    static const struct work_kind kind = {run_bitop, answer_bitop, free_bitop};
    struct keyref ref;
    struct result result;
    if (call_find(call, call->argv[2], 0, &ref)) keyspace_before_change(&ref);
    if (!open_result(&ref, sources, &result)) {
        call_too_long(call);
        return;
    }
    struct bitop_work *bits = work_new(&kind, sizeof(*bits));
    bits->operation = sources->operation;
    bits->result = result;
    bits->len = sources->longest;
    take_sources(call, bits, sources);
    work_begin_storing(call, &bits->work, call->argv[2]);
}

/* As work_pays wants them: writing takes longer than reading. */
static uint64_t bitop_steps(const struct sources *sources) {
    enum { WRITTEN_PER_STEP = 256, READ_PER_STEP = 512 };
    return sources->longest / WRITTEN_PER_STEP + sources->total / READ_PER_STEP;
}

void bitop_command(struct call *call) {
    enum bits_operation operation = BITS_AND;
    struct sources sources;
    if (!parse_operation(call, &operation)) return;
    sources_begin(&sources, operation, call->argc - 3);
    if (find_sources(call, &sources)) {
        if (work_pays_writing(call, bitop_steps(&sources)))
            store_elsewhere(call, &sources);
        else
            store_here(call, &sources);
    }
    sources_end(&sources);
}

/* A sparse value is changed by replacing the one run that has the register by up to three, and by
 * joining equal runs around it. */
#include "ds/strings/hyperloglog.h"

#include "base/checked.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* --- The header --- */

enum { ENCODING_AT = 4, COUNT_AT = 8, ENCODING_DENSE = 0, ENCODING_SPARSE = 1 };

#define OUT_OF_DATE ((uint64_t)1 << 63)

static uint64_t load_count(const void *bytes) {
    uint64_t count;
    memcpy(&count, (const char *)bytes + COUNT_AT, sizeof(count));
    return le64toh(count);
}

static void store_count(uint8_t *bytes, uint64_t count) {
    count = htole64(count);
    memcpy(bytes + COUNT_AT, &count, sizeof(count));
}

enum hll_kind hll_kind(struct slice value) {
    if (value.len < HLL_HEADER || memcmp(value.ptr, "HYLL", 4) != 0) return HLL_INVALID;
    switch ((uint8_t)value.ptr[ENCODING_AT]) {
    case ENCODING_DENSE: return value.len == HLL_DENSE ? HLL_IS_DENSE : HLL_INVALID;
    case ENCODING_SPARSE: return HLL_IS_SPARSE;
    default: return HLL_INVALID;
    }
}

static struct slice value_of(const struct hll *hll) {
    return slice_make(hll->bytes, hll->len);
}

bool hll_cached_count(struct slice value, uint64_t *count) {
    *count = load_count(value.ptr);
    return !(*count & OUT_OF_DATE);
}

void hll_cache_count(uint8_t *bytes, uint64_t count) {
    store_count(bytes, count & ~OUT_OF_DATE);
}

void hll_forget_count(uint8_t *bytes) {
    store_count(bytes, load_count(bytes) | OUT_OF_DATE);
}

/* --- Elements --- */

/* MurmurHash64A of A. Appleby, which is in the public domain. */
static uint64_t hash(struct slice text) {
    const uint64_t mix = 0xC6A4A7935BD1E995;
    const char *at = text.ptr;
    size_t left = text.len;
    uint64_t hash = 0xADC83B19 ^ left * mix, word;
    for (; left >= sizeof(word); at += sizeof(word), left -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        word = le64toh(word) * mix;
        word = (word ^ word >> 47) * mix;
        hash = (hash ^ word) * mix;
    }
    if (left) {
        word = 0;
        memcpy(&word, at, left);
        hash = (hash ^ le64toh(word)) * mix;
    }
    hash = (hash ^ hash >> 47) * mix;
    return hash ^ hash >> 47;
}

/* A register and what it becomes at least. */
struct raise {
    uint32_t index, value;
};

static struct raise raise_of(struct slice element) {
    uint64_t bits = hash(element);
    uint64_t rest = bits >> HLL_INDEX_BITS | (uint64_t)1 << HLL_HASH_BITS;
    return (struct raise){bits & (HLL_REGISTERS - 1), (uint32_t)__builtin_ctzll(rest) + 1};
}

/* --- Runs of a sparse value --- */

enum {
    SHORT_ZEROS = 64, /* the longest run of each kind */
    EQUALS = 4,
    SPARSE_VALUE_MAX = 32, /* the largest register of a sparse value */
    LONG_ZEROS_BIT = 0x40, /* the first byte of each kind */
    VALUE_BIT = 0x80
};

struct run {
    uint32_t size; /* bytes */
    uint32_t len;  /* registers */
    uint32_t value;
};

static unsigned value_of_run(uint8_t byte) {
    return (byte >> 2 & 31u) + 1;
}

/* Reads the run at `at`, which is before the end. Returns false when it is incomplete. */
static inline bool read_run(struct slice value, size_t at, struct run *run) {
    uint8_t first = (uint8_t)value.ptr[at];
    if ((first & (VALUE_BIT | LONG_ZEROS_BIT)) == LONG_ZEROS_BIT) {
        if (at + 1 >= value.len) return false;
        *run = (struct run){2, ((first & 63u) << 8 | (uint8_t)value.ptr[at + 1]) + 1, 0};
        return true;
    }
    if (first & VALUE_BIT)
        *run = (struct run){1, (first & 3u) + 1, value_of_run(first)};
    else
        *run = (struct run){1, first + 1u, 0};
    return true;
}

/* Writes a run, which one of the kinds can hold, to `out`. Returns how many bytes: none when it is
 * empty. */
static size_t write_run(uint8_t *out, uint32_t value, uint32_t len) {
    CHECKED_ASSERT(len <= (value ? EQUALS : HLL_REGISTERS) && value <= SPARSE_VALUE_MAX);
    if (len == 0) return 0;
    if (value) {
        out[0] = (uint8_t)(VALUE_BIT | (value - 1) << 2 | (len - 1));
        return 1;
    }
    if (len <= SHORT_ZEROS) {
        out[0] = (uint8_t)(len - 1);
        return 1;
    }
    out[0] = (uint8_t)(LONG_ZEROS_BIT | (len - 1) >> 8);
    out[1] = (uint8_t)(len - 1);
    return 2;
}

/* Goes over the runs of a sparse value. Where a loop ends, `is_whole` says whether the runs have
 * made up all registers, and no more:
 *
 *      struct runs runs = runs_begin(value);
 *      while (runs_next(&runs)) … runs.run, and runs.first, its first register …
 *      if (!runs.is_whole) … */
struct runs {
    struct slice value;
    size_t at;
    uint32_t first, next; /* registers: the first one of the run, and of the one after it */
    struct run run;
    bool is_whole;
};

static inline struct runs runs_begin(struct slice value) {
    return (struct runs){.value = value, .at = HLL_HEADER};
}

static inline bool runs_next(struct runs *runs) {
    if (runs->at >= runs->value.len) {
        runs->is_whole = runs->next == HLL_REGISTERS;
        return false;
    }
    if (!read_run(runs->value, runs->at, &runs->run)) return false;
    if (runs->run.len > HLL_REGISTERS - runs->next) return false;
    runs->at += runs->run.size;
    runs->first = runs->next;
    runs->next += runs->run.len;
    return true;
}

/* --- Up to eight runs at once, of one byte each --- */

#define EACH_BYTE(byte) (0x0101010101010101 * (uint64_t)(byte))

struct short_runs {
    uint64_t lens;   /* in each byte: registers of its run, less one */
    uint64_t values; /* 0xFF for a run of a value, else 0 */
    uint32_t count;  /* of runs */
    uint32_t total;  /* registers of all */
};

static inline unsigned byte_at(uint64_t word, unsigned index) {
    return word >> 8 * index & 0xFF;
}

/* Reads the runs at `at`, up to one that has two bytes. Returns false when there is none before
 * that, or the value ends soon. */
static inline bool read_short(struct slice value, size_t at, struct short_runs *runs) {
    const uint64_t even = 0x00FF00FF00FF00FF;
    uint64_t word;
    if (value.len - at < sizeof(word)) return false;
    memcpy(&word, value.ptr + at, sizeof(word));
    word = le64toh(word);
    uint64_t is_value = word >> 7 & EACH_BYTE(1);
    uint64_t is_long = word >> 6 & ~is_value & EACH_BYTE(1);
    uint64_t before = is_long ? (is_long & -is_long) - 1 : UINT64_MAX; /* bits before the first */
    runs->count = (uint32_t)(is_long ? __builtin_ctzll(is_long) / 8 : 8);
    runs->values = is_value * 0xFF & before;
    runs->lens = word & (EACH_BYTE(63) ^ (EACH_BYTE(60) & runs->values)) & before;
    uint64_t pairs = (runs->lens & even) + (runs->lens >> 8 & even);
    runs->total = (uint32_t)(pairs * 0x0001000100010001 >> 48) + runs->count;
    return runs->count > 0;
}

/* The same for a loop over all runs, which goes on behind them. */
static inline bool runs_next_short(struct runs *runs, struct short_runs *some) {
    if (!read_short(runs->value, runs->at, some)) return false;
    if (some->total > HLL_REGISTERS - runs->next) return false;
    runs->at += some->count;
    runs->first = runs->next;
    runs->next += some->total;
    return true;
}

static inline void raise_values(uint8_t *at, uint32_t count, unsigned value) {
    for (uint32_t i = 0; i < count; i++)
        if (at[i] < value) at[i] = (uint8_t)value;
}

/* Raises values, one a register. Returns false when the runs are corrupt. */
static bool raise_by_runs(struct slice value, uint8_t values[HLL_REGISTERS]) {
    struct runs runs = runs_begin(value);
    while (runs_next(&runs))
        if (runs.run.value) raise_values(values + runs.first, runs.run.len, runs.run.value);
    return runs.is_whole;
}

/* Registers that are 0 are counted last: they are all others. */
static bool tally_runs(struct slice value, struct hll_tally *tally) {
    uint32_t histogram[HLL_REGISTER_VALUES] = {0}, counted = 0;
    struct runs runs = runs_begin(value);
    struct short_runs some;
    for (;;) {
        if (runs_next_short(&runs, &some)) {
            const char *bytes = value.ptr + runs.at - some.count;
            for (uint64_t left = some.values & EACH_BYTE(1); left; left &= left - 1) {
                unsigned i = (unsigned)__builtin_ctzll(left) / 8;
                histogram[value_of_run((uint8_t)bytes[i])] += byte_at(some.lens, i) + 1;
            }
        }
        if (!runs_next(&runs)) break;
        histogram[runs.run.value] += runs.run.len;
    }
    for (int i = 1; i < HLL_REGISTER_VALUES; i++) counted += histogram[i];
    histogram[0] = HLL_REGISTERS - counted;
    return runs.is_whole && hll_histogram_tally(histogram, tally);
}

/* --- Reading --- */

/* Where runs can't be told, they are listed all the same: whoever asks looks for a defect. */
sds hll_append_runs(sds text, struct slice value) {
    struct run run;
    for (size_t at = HLL_HEADER; at < value.len; at += run.size) {
        if (value.len > HLL_SPARSE_MAX || !read_run(value, at, &run)) {
            sds_free(text);
            return NULL;
        }
        if (at > HLL_HEADER) text = sds_append(text, SLICE(" "));
        if (run.value)
            text = sds_append_format(text, "v:%u,%u", run.value, run.len);
        else
            text = sds_append_format(text, "%c:%u", run.size == 2 ? 'Z' : 'z', run.len);
    }
    return text;
}

/* --- Counting --- */

static const uint8_t *registers_of(struct slice dense) {
    return (const uint8_t *)dense.ptr + HLL_HEADER;
}

bool hll_count(struct slice value, const struct hll_limits *limits, uint64_t *count) {
    struct hll_tally tally;
    bool is_dense = hll_kind(value) == HLL_IS_DENSE;
    return (is_dense ? hll_registers_tally(registers_of(value), &tally, limits->plain)
                     : tally_runs(value, &tally)) &&
           hll_estimate(&tally, count);
}

/* --- Unions --- */

bool hll_is_whole(struct slice value) {
    struct runs runs = runs_begin(value);
    struct short_runs some;
    if (hll_kind(value) == HLL_IS_DENSE) return true;
    do {
        while (runs_next_short(&runs, &some)) continue;
    } while (runs_next(&runs));
    return runs.is_whole;
}

void hll_union_begin(struct hll_union *all, const struct hll_limits *limits) {
    all->has_dense = all->has_sparse = false;
    all->plain = limits->plain;
}

/* Merges these registers, and those that the union has. */
static void merge_dense(struct hll_union *all, const uint8_t **sources, size_t count) {
    if (all->has_dense) sources[count++] = all->registers;
    hll_registers_merge(all->registers, sources, count, all->plain);
    all->has_dense = true;
}

static bool add_sparse(struct hll_union *all, struct slice value) {
    if (!all->has_sparse) memset(all->raised, 0, sizeof(all->raised));
    all->has_sparse = true;
    return raise_by_runs(value, all->raised);
}

bool hll_union_add(struct hll_union *all, const struct slice *values, size_t count) {
    const uint8_t *sources[HLL_UNION_GROUP + 1];
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        if (hll_kind(values[i]) == HLL_IS_DENSE)
            sources[filled++] = registers_of(values[i]);
        else if (!add_sparse(all, values[i]))
            return false;
        if (filled < HLL_UNION_GROUP) continue;
        merge_dense(all, sources, filled);
        filled = 0;
    }
    if (filled > 0) merge_dense(all, sources, filled);
    return true;
}

void hll_union_end(struct hll_union *all) {
    uint8_t packed[HLL_REGISTER_BYTES];
    if (!all->has_dense) memset(all->registers, 0, sizeof(all->registers));
    if (!all->has_sparse) return;
    hll_registers_pack(packed, all->raised, all->plain);
    hll_registers_merge(all->registers, (const uint8_t *[]){all->registers, packed}, 2, all->plain);
}

/* --- Changing a sparse value --- */

void hll_init(struct hll *hll) {
    memset(hll->bytes, 0, HLL_HEADER);
    memcpy(hll->bytes, "HYLL", 4);
    hll->bytes[ENCODING_AT] = ENCODING_SPARSE;
    hll->len = HLL_HEADER + write_run(hll->bytes + HLL_HEADER, 0, HLL_REGISTERS);
}

bool hll_copy(struct hll *hll, struct slice value) {
    if (value.len > HLL_VALUE_MAX) return false;
    memcpy(hll->bytes, value.ptr, value.len);
    hll->len = value.len;
    return true;
}

static void write_registers(struct hll *hll, const uint8_t *registers) {
    memcpy(hll->bytes + HLL_HEADER, registers, HLL_REGISTER_BYTES);
    hll->bytes[ENCODING_AT] = ENCODING_DENSE;
    hll->len = HLL_DENSE;
}

void hll_store_registers(struct hll *hll, const uint8_t registers[HLL_REGISTER_BYTES]) {
    write_registers(hll, registers);
    hll_forget_count(hll->bytes);
}

bool hll_make_dense(struct hll *hll) {
    uint8_t values[HLL_REGISTERS] = {0}, registers[HLL_REGISTER_BYTES];
    if (!raise_by_runs(value_of(hll), values)) return false;
    hll_registers_pack(registers, values, true); /* seldom: plain code is fast enough */
    write_registers(hll, registers);
    return true;
}

/* Where a run begins: a byte and a register. */
struct place {
    size_t byte;
    uint32_t first;
};

/* A run, and the two before it: joining begins at `before`. Where the value has no run before one,
 * its own place stands for that; elsewhere than at the begin this means that it is unknown. */
struct position {
    struct place at, before, before_that;
};

static const struct position position_begin = {{HLL_HEADER, 0}, {HLL_HEADER, 0}, {HLL_HEADER, 0}};

/* Moves behind some runs before the one that has the register. Returns false when that may be one
 * of them, or they are too few to know the two before the new position. */
static inline bool pass_short(struct slice value, uint32_t index, struct position *position) {
    struct short_runs runs;
    if (!read_short(value, position->at.byte, &runs) || runs.count < 2) return false;
    if (runs.total > index - position->at.first) return false;
    struct place at = {position->at.byte + runs.count, position->at.first + runs.total};
    struct place before = {at.byte - 1, at.first - byte_at(runs.lens, runs.count - 1) - 1};
    struct place before_that = {before.byte - 1,
                                before.first - byte_at(runs.lens, runs.count - 2) - 1};
    *position = (struct position){at, before, before_that};
    return true;
}

/* Moves to the run that has the register, which is not before the position, and sets *run. Returns
 * false when the value is corrupt before it. */
static bool find_onwards(struct slice value, uint32_t index, struct position *position,
                         struct run *run) {
    for (;;) {
        while (pass_short(value, index, position)) continue;
        struct place at = position->at;
        if (at.byte >= value.len || !read_run(value, at.byte, run)) return false;
        if (run->len > HLL_REGISTERS - at.first) return false;
        if (index < at.first + run->len) return true;
        at = (struct place){at.byte + run->size, at.first + run->len};
        *position = (struct position){at, position->at, position->before};
    }
}

/* The same, and what is before the run is known: when it is not, as an earlier change may have
 * joined it, all runs are passed once more. */
static bool find(struct slice value, uint32_t index, struct position *position, struct run *run) {
    if (!find_onwards(value, index, position, run)) return false;
    if (position->before.byte < position->at.byte || position->at.byte == HLL_HEADER) return true;
    *position = position_begin;
    return find_onwards(value, index, position, run);
}

/* Joins equal runs of values among the few that begin at `at`: as few as in Redis, which makes the
 * same bytes then. */
static void join(struct hll *hll, size_t at) {
    struct run run, next;
    for (int tries = 5; tries > 0 && at < hll->len; tries--) {
        struct slice value = value_of(hll);
        if (!read_run(value, at, &run)) return;
        bool can_join = run.value && at + 1 < hll->len && read_run(value, at + 1, &next) &&
                        next.value == run.value && run.len + next.len <= EQUALS;
        if (!can_join) {
            at += run.size;
            continue;
        }
        write_run(hll->bytes + at, run.value, run.len + next.len);
        memmove(hll->bytes + at + 1, hll->bytes + at + 2, hll->len - at - 2);
        hll->len--;
    }
}

static enum hll_change raise_dense(struct hll *hll, struct raise raise) {
    if (!hll_register_raise(hll->bytes + HLL_HEADER, raise.index, raise.value))
        return HLL_UNCHANGED;
    hll_forget_count(hll->bytes);
    return HLL_CHANGED;
}

static enum hll_change raise_in_dense_copy(struct hll *hll, struct raise raise) {
    return hll_make_dense(hll) ? raise_dense(hll, raise) : HLL_CORRUPT;
}

/* Raises a register that is not before those of earlier calls with the same position. */
static enum hll_change raise_sparse(struct hll *hll, struct raise raise, size_t max,
                                    struct position *position) {
    uint8_t runs[5];
    struct run run;
    if (raise.value > SPARSE_VALUE_MAX) return raise_in_dense_copy(hll, raise);
    if (!find(value_of(hll), raise.index, position, &run)) return HLL_CORRUPT;
    if (run.value >= raise.value) return HLL_UNCHANGED;
    uint32_t before = raise.index - position->at.first;
    size_t size = write_run(runs, run.value, before);
    size += write_run(runs + size, raise.value, 1);
    size += write_run(runs + size, run.value, run.len - before - 1);
    size_t len = hll->len - run.size + size;
    if (size > run.size && len > max) return raise_in_dense_copy(hll, raise);
    if (len > HLL_VALUE_MAX) return HLL_CORRUPT;
    uint8_t *at = hll->bytes + position->at.byte;
    memmove(at + size, at + run.size, hll->len - position->at.byte - run.size);
    memcpy(at, runs, size);
    hll->len = len;
    join(hll, position->before.byte);
    hll_forget_count(hll->bytes);
    /* Joining began at `before`, so only what begins before that is as it was. */
    *position = (struct position){position->before, position->before_that, position->before_that};
    return HLL_CHANGED;
}

static enum hll_change raise_any(struct hll *hll, struct raise raise, size_t max,
                                 struct position *position) {
    return hll->bytes[ENCODING_AT] == ENCODING_DENSE ? raise_dense(hll, raise)
                                                     : raise_sparse(hll, raise, max, position);
}

enum hll_change hll_add(struct hll *hll, struct slice element, const struct hll_limits *limits) {
    struct position position = position_begin;
    return raise_any(hll, raise_of(element), limits->sparse_bytes, &position);
}

bool hll_raise_all(struct hll *hll, const uint8_t registers[HLL_REGISTER_BYTES],
                   const struct hll_limits *limits) {
    struct position position = position_begin;
    for (size_t i = hll_register_next(registers, 0); i < HLL_REGISTERS;
         i = hll_register_next(registers, i + 1)) {
        struct raise raise = {(uint32_t)i, hll_register_get(registers, i)};
        if (raise_any(hll, raise, limits->sparse_bytes, &position) == HLL_CORRUPT) return false;
    }
    hll_forget_count(hll->bytes);
    return true;
}

/* --- Testing --- */

/* Returns whether registers that are set in any order are what was set, and are merged right. */
static bool test_registers(uint8_t *registers) {
    uint8_t expected[HLL_REGISTERS] = {0}, other[HLL_REGISTER_BYTES] = {0};
    memset(registers, 0, HLL_REGISTER_BYTES);
    for (uint32_t i = 0, index = 0; i < HLL_REGISTERS; i++, index += 4801) {
        uint32_t at = index % HLL_REGISTERS, value = index * 31 % (HLL_REGISTER_MAX + 1);
        hll_register_raise(i % 2 ? registers : other, at, value);
        expected[at] = (uint8_t)value;
    }
    hll_registers_merge(registers, (const uint8_t *[]){registers, other}, 2, false);
    for (uint32_t i = 0; i < HLL_REGISTERS; i++)
        if (hll_register_get(registers, i) != expected[i]) return false;
    return true;
}

/* Returns whether the count is that of plain code, and, of so many elements, close to right: not
 * wrong by more than five times the standard error. */
static bool test_count(struct slice value, uint64_t elements) {
    uint64_t count, same;
    if (!hll_count(value, &(struct hll_limits){.plain = false}, &count)) return false;
    if (!hll_count(value, &(struct hll_limits){.plain = true}, &same)) return false;
    uint64_t error = count > elements ? count - elements : elements - count;
    return count == same && error * error * HLL_REGISTERS <= 28 * elements * elements;
}

const char *hll_self_test(void) {
    const struct hll_limits sparse = {.sparse_bytes = HLL_SPARSE_MAX};
    uint8_t bytes[HLL_VALUE_MAX], dense_bytes[HLL_VALUE_MAX];
    struct hll hll = {.bytes = bytes}, dense = {.bytes = dense_bytes};
    if (!test_registers(bytes)) return "registers are not what was set";
    hll_init(&hll), hll_init(&dense);
    if (!hll_make_dense(&dense)) return "an empty value is corrupt";
    for (uint64_t i = 1; i <= 100000; i++) {
        uint64_t element = htole64(i * 0x9E3779B97F4A7C15);
        struct slice text = slice_make(&element, sizeof(element));
        if (hll_add(&hll, text, &sparse) != hll_add(&dense, text, &sparse))
            return "a sparse and a dense value differ";
        if (i == 1000 && !hll_make_dense(&hll)) return "a value is corrupt";
        bool is_tested = i == 10 || i == 100 || i == 1000 || i == 10000 || i == 100000;
        if (is_tested && !test_count(value_of(&hll), i)) return "an estimate is wrong";
    }
    if (memcmp(bytes, dense_bytes, HLL_DENSE) != 0) return "a sparse and a dense value differ";
    return NULL;
}

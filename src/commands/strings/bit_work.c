#include "commands/strings/bit_work.h"

#include "base/memory/alloc.h"
#include "commands/strings/string_common.h"
#include "types/bits.h"

struct bit_work {
    struct work work;
    struct capture *capture; /* of the text */
    uint64_t from;           /* the bits that are left */
    uint64_t to;
    bool value; /* that is sought */
    int64_t result;
};

#ifdef TINY_LIMITS
enum { PART = 100 };
#else
enum { PART = 16 * 1024 }; /* it stays in the L1 cache */
#endif

/* A part of the text, which begins with the byte `at`; bits [from, to) of it count. */
struct part {
    char bytes[PART];
    size_t len;
    uint64_t at, from, to;
};

/* Reads the next part. Returns false when there is none, or the result is not needed. */
static bool next_part(struct bit_work *bits, struct part *part) {
    if (bits->from >= bits->to || work_is_cancelled(&bits->work)) return false;
    part->at = bits_byte(bits->from);
    uint64_t rest = bits_byte(bits->to + 7) - part->at;
    part->len = rest < PART ? (size_t)rest : PART;
    part->from = bits->from - 8 * part->at;
    part->to = rest <= PART ? bits->to - 8 * part->at : 8 * PART;
    text_capture_read(bits->capture, part->at, part->bytes, part->len);
    text_capture_pass(bits->capture, part->at + part->len);
    bits->from = 8 * part->at + part->to;
    return true;
}

static void count(struct work *work) {
    struct bit_work *bits = (struct bit_work *)work;
    struct part part;
    while (next_part(bits, &part))
        bits->result += (int64_t)bits_count(slice_make(part.bytes, part.len), part.from, part.to);
}

static void find(struct work *work) {
    struct bit_work *bits = (struct bit_work *)work;
    struct part part;
    while (next_part(bits, &part)) {
        int64_t found =
            bits_find(slice_make(part.bytes, part.len), bits->value, part.from, part.to);
        if (found < 0) continue;
        bits->result = (int64_t)(8 * part.at) + found;
        return;
    }
}

static void answer_number(struct call *call, struct work *work) {
    reply_integer(call->reply, ((struct bit_work *)work)->result);
}

static void end_capture(struct work *work) {
    work_end_capture(work, ((struct bit_work *)work)->capture);
}

static bool begin(struct call *call, struct entry *entry, const struct bit_work *how) {
    struct capture *capture = work_capture(call, entry);
    if (!capture) return false;
    struct bit_work *bits = work_new(how->work.kind, sizeof(*bits));
    *bits = *how;
    bits->capture = capture;
    work_begin(call, &bits->work);
    return true;
}

bool bits_count_later(struct call *call, struct entry *entry, uint64_t from, uint64_t to) {
    static const struct work_kind kind = {count, answer_number, end_capture};
    return begin(call, entry, &(struct bit_work){.work.kind = &kind, .from = from, .to = to});
}

bool bits_find_later(struct call *call, struct entry *entry, bool value, uint64_t from, uint64_t to,
                     int64_t otherwise) {
    static const struct work_kind kind = {find, answer_number, end_capture};
    return begin(
        call, entry,
        &(struct bit_work){
            .work.kind = &kind, .from = from, .to = to, .value = value, .result = otherwise});
}

/* The usual table L[i][j] = length for the first i bytes of `a` and the first j of `b` is not kept.
 * Neighbours in a row differ by 0 or 1, so one bit a place is enough, and a word of a row follows
 * from the row above by a few operations on all its bits at once (M. Crochemore et al., "A fast and
 * practical bit-vector algorithm for the longest common subsequence problem", 2001; a bit is one
 * where L does not grow):
 *
 *      row' = (row + (row & match)) | (row & ~match)        match: where b has the byte a[i]
 *
 *      b        c  a  b  a          bit j of the row is 0 where L[i][j + 1] = L[i][j] + 1
 *      a = a    1  0  1  1
 *      a = c    0  0  1  1  …
 *
 * Backtracking needs only whether L[i - 1][j] > L[i][j - 1], where a[i - 1] and b[j - 1] differ.
 * L[i][j] is the larger of the two there, so the answer is whether L grows from j - 1 to j in row
 * i: one bit. */
#include "types/lcs.h"

#include "base/memory/alloc.h"

/* A bit for each of up to 64 bytes at `at`, set where it equals `byte`. Eight are compared in one
 * word; the multiplication gathers their bits. */
static inline uint64_t match_word(const char *at, size_t len, uint8_t byte) {
    const uint64_t low = 0x0101010101010101ull, high = 0x8080808080808080ull;
    uint64_t found = 0;
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t bytes;
        memcpy(&bytes, at + i, sizeof(bytes));
        bytes ^= low * byte;
        uint64_t same = ~(((bytes & ~high) + ~high) | bytes) & high;
        found |= ((same >> 7) * 0x0102040810204080ull >> 56) << i;
    }
    for (; i < len; i++) found |= (uint64_t)((uint8_t)at[i] == byte) << i;
    return found;
}

/* The row for one more byte of `a`, from the one above it; they may be the same. */
static void next_row(uint64_t *row, const uint64_t *above, struct slice b, uint8_t byte) {
    unsigned char carry = 0;
    for (size_t at = 0; at < b.len; at += 64) {
        size_t rest = b.len - at;
        uint64_t word = *above++, match = match_word(b.ptr + at, rest < 64 ? rest : 64, byte);
        uint64_t part = word & match, sum;
        unsigned char carry_part = __builtin_add_overflow(word, part, &sum);
        unsigned char carry_in = __builtin_add_overflow(sum, (uint64_t)carry, &sum);
        carry = carry_part | carry_in;
        *row++ = sum | (word & ~match);
    }
}

static size_t word_count(size_t len) {
    return (len + 63) / 64;
}

/* How often L grows along the row. */
static size_t row_length(const uint64_t *row, size_t len) {
    size_t length = 0;
    for (size_t at = 0; at < len; at += 64) {
        uint64_t grows = ~*row++;
        if (len - at < 64) grows &= ((uint64_t)1 << (len - at)) - 1;
        length += (unsigned)__builtin_popcountll(grows);
    }
    return length;
}

size_t lcs_length(struct slice a, struct slice b) {
    if (a.len == 0 || b.len == 0) return 0;
    size_t size = word_count(b.len) * sizeof(uint64_t);
    uint64_t *row = mem_alloc(size);
    memset(row, 0xFF, size);
    for (size_t i = 0; i < a.len; i++) next_row(row, row, b, (uint8_t)a.ptr[i]);
    size_t length = row_length(row, b.len);
    mem_free(row);
    return length;
}

bool lcs_begin(struct lcs *lcs, struct slice a, struct slice b) {
    *lcs = (struct lcs){.a = a, .b = b, .words = word_count(b.len), .at_a = a.len, .at_b = b.len};
    if (a.len == 0 || b.len == 0) return true;
    size_t size;
    if (__builtin_mul_overflow(a.len + 1, lcs->words * sizeof(uint64_t), &size)) return false;
    uint64_t *row = lcs->rows = mem_try_alloc(size);
    if (row == NULL) return false;
    memset(row, 0xFF, lcs->words * sizeof(uint64_t));
    for (size_t i = 0; i < a.len; i++, row += lcs->words)
        next_row(row + lcs->words, row, b, (uint8_t)a.ptr[i]);
    lcs->length = row_length(row, b.len);
    return true;
}

void lcs_end(struct lcs *lcs) {
    mem_free(lcs->rows);
    lcs->rows = NULL;
}

/* Returns whether L grows from j - 1 to j in row i. */
static bool grows(const struct lcs *lcs, size_t i, size_t j) {
    uint64_t word = lcs->rows[i * lcs->words + (j - 1) / 64];
    return !(word >> (j - 1) % 64 & 1);
}

bool lcs_next(struct lcs *lcs, struct lcs_match *match) {
    size_t i = lcs->at_a, j = lcs->at_b;
    const char *a = lcs->a.ptr, *b = lcs->b.ptr;
    while (i > 0 && j > 0 && a[i - 1] != b[j - 1]) {
        if (grows(lcs, i, j))
            i--;
        else
            j--;
    }
    size_t length = 0;
    for (; i > 0 && j > 0 && a[i - 1] == b[j - 1]; i--, j--) length++;
    lcs->at_a = i;
    lcs->at_b = j;
    *match = (struct lcs_match){i, j, length};
    return length > 0;
}

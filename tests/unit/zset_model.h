/* zset_model: sorted sets as a naive ordered array, for tests that compare with it; random members
 * and scores. */
#ifndef PACKLIST_TESTS_UNIT_ZSET_MODEL_H
#define PACKLIST_TESTS_UNIT_ZSET_MODEL_H

#include "base/hash/random.h"
#include "base/slice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MODEL_MAX = 3000 };

struct pair {
    double score;
    size_t len;
    char *member;
};

struct model {
    struct pair pairs[MODEL_MAX];
    size_t count;
};

static inline struct slice member_of(const struct pair *pair) {
    return slice_make(pair->member, pair->len);
}

static inline int compare_texts(struct slice a, struct slice b) {
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool is_before(const struct pair *pair, double score, struct slice member) {
    if (pair->score != score) return pair->score < score;
    return compare_texts(member_of(pair), member) < 0;
}

/* --- The model --- */

static inline size_t model_find(const struct model *model, struct slice member) {
    size_t i = 0;
    while (i < model->count && !slice_equal(member_of(&model->pairs[i]), member)) i++;
    return i;
}

static inline void model_insert(struct model *model, struct slice member, double score) {
    size_t at = 0;
    if (model->count == MODEL_MAX) abort();
    while (at < model->count && is_before(&model->pairs[at], score, member)) at++;
    memmove(model->pairs + at + 1, model->pairs + at, (model->count - at) * sizeof(struct pair));
    char *copy = malloc(member.len + 1);
    if (member.len) memcpy(copy, member.ptr, member.len);
    model->pairs[at] = (struct pair){score, member.len, copy};
    model->count++;
}

static inline void model_delete(struct model *model, size_t from, size_t n) {
    for (size_t i = from; i < from + n; i++) free(model->pairs[i].member);
    model->count -= n;
    memmove(model->pairs + from, model->pairs + from + n,
            (model->count - from) * sizeof(struct pair));
}

static inline size_t model_below(const struct model *model, double score, bool inclusive) {
    size_t n = 0;
    while (n < model->count &&
           (model->pairs[n].score < score || (inclusive && model->pairs[n].score == score)))
        n++;
    return n;
}

/* Sorted sets keep no -0. */
static inline bool same_score(double kept, double given) {
    return kept == given && !(kept == 0 && signbit(kept));
}

/* --- Random members and scores --- */

enum taste { INTEGERS, FRACTIONS, FEW_SCORES, ONE_SCORE, WIDE, TASTES };

static inline double random_score(struct random *random, enum taste taste) {
    static const double special[] = {0,        -0.0, INFINITY, -INFINITY, 5e-324, -5e-324,
                                     1.79e308, 1,    -1,       0.1,       1e15};
    switch (taste) {
    case INTEGERS: return (double)random_below(random, 5000) - 100;
    case FRACTIONS: return (double)random_below(random, 1u << 20) / 7.0;
    case FEW_SCORES: return (double)random_below(random, 4);
    case ONE_SCORE: return 0;
    default: break;
    }
    if (random_below(random, 3) == 0)
        return special[random_below(random, sizeof(special) / sizeof(special[0]))];
    uint64_t bits = random_next(random);
    double score;
    memcpy(&score, &bits, sizeof(score));
    return isnan(score) ? 1 : score;
}

enum { LONG_TEXT = 3000 };

/* One of about `of` members, written to `buffer` of LONG_TEXT bytes: most are short, a few too long
 * for a node. */
static inline struct slice random_member(struct random *random, char *buffer, uint64_t of) {
    uint64_t n = random_below(random, of);
    if (n == 0) return slice_make("", 0);
    if (n % 97 == 1) {
        size_t len = (size_t)(n * 31 % LONG_TEXT);
        memset(buffer, (int)('a' + n % 26), len);
        return slice_make(buffer, len);
    }
    int len = snprintf(buffer, 64, "%s%llu", n % 3 ? "" : "member:", (unsigned long long)n);
    return slice_make(buffer, (size_t)len);
}

#endif

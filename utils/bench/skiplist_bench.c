/* skiplist_bench: the unrolled skiplist (ds/sorted_sets/skiplist.h) beside a plain one with a node and an
 * allocation per member and a hashtable of the nodes, as other servers have it: bytes a member, all
 * in, as the allocator counts them, and nanoseconds of CPU time an operation.
 *
 *      make benchmarks
 *      build/release/utils/bench/skiplist_bench [members of the large sets]       default 3000000 */
#include "base/hash/hash.h"
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/hashtable.h"
#include "ds/sorted_sets/skiplist.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* --- The plain skiplist --- */

enum { PLAIN_LEVELS = 20 };

struct plain_node {
    double score;
    struct plain_node *prev;
    uint32_t len;
    uint32_t height;
    struct plain_link {
        struct plain_node *next;
        uint64_t span;
    } links[]; /* the member's bytes follow */
};

struct plain {
    struct hashtable *table;
    struct plain_node *tail;
    uint64_t count;
    int height;
    struct plain_link head[PLAIN_LEVELS];
};

static struct slice plain_member(const struct plain_node *node) {
    return slice_make(&node->links[node->height], node->len);
}

static struct slice plain_key(const void *item) {
    return plain_member(item);
}

static const struct hashtable_type plain_type = {plain_key};

static bool plain_before(const struct plain_node *node, double score, struct slice member) {
    if (node->score != score) return node->score < score;
    struct slice own = plain_member(node);
    size_t len = own.len < member.len ? own.len : member.len;
    int order = memcmp(own.ptr, member.ptr, len);
    return order ? order < 0 : own.len < member.len;
}

static struct plain *plain_new(void) {
    struct plain *list = mem_alloc_zeroed(sizeof(*list));
    list->table = hashtable_new(&plain_type);
    list->height = 1;
    return list;
}

static void plain_descend(struct plain *list, double score, struct slice member,
                          struct plain_link **update, uint64_t *ranks) {
    struct plain_link *links = list->head;
    uint64_t rank = 0;
    for (int level = list->height - 1; level >= 0; level--) {
        while (links[level].next && plain_before(links[level].next, score, member)) {
            rank += links[level].span;
            links = links[level].next->links;
        }
        update[level] = links;
        ranks[level] = rank;
    }
}

static void plain_insert(struct plain *list, struct slice member, double score, uint64_t hash) {
    struct plain_link *update[PLAIN_LEVELS];
    uint64_t ranks[PLAIN_LEVELS];
    int height = 1 + __builtin_clzl(hash | 1) / 2;
    if (height > PLAIN_LEVELS) height = PLAIN_LEVELS;
    plain_descend(list, score, member, update, ranks);
    for (; list->height < height; list->height++) {
        update[list->height] = list->head;
        ranks[list->height] = 0;
        list->head[list->height].span = list->count;
    }
    struct plain_node *node =
        mem_alloc(sizeof(*node) + (size_t)height * sizeof(struct plain_link) + member.len);
    *node = (struct plain_node){
        .score = score, .len = (uint32_t)member.len, .height = (uint32_t)height};
    memcpy(&node->links[height], member.ptr, member.len);
    for (int level = 0; level < height; level++) {
        struct plain_link *link = &update[level][level];
        node->links[level].next = link->next;
        node->links[level].span = link->span - (ranks[0] - ranks[level]);
        link->next = node;
        link->span = ranks[0] - ranks[level] + 1;
    }
    for (int level = height; level < list->height; level++) update[level][level].span++;
    if (update[0] != list->head)
        node->prev =
            (struct plain_node *)(void *)((char *)update[0] - offsetof(struct plain_node, links));
    if (node->links[0].next)
        node->links[0].next->prev = node;
    else
        list->tail = node;
    hashtable_insert(list->table, node, hash);
    list->count++;
}

static void plain_delete(struct plain *list, hashtable_slot *slot, uint64_t hash) {
    struct plain_link *update[PLAIN_LEVELS];
    uint64_t ranks[PLAIN_LEVELS];
    struct plain_node *node = hashtable_item(*slot);
    plain_descend(list, node->score, plain_member(node), update, ranks);
    for (int level = 0; level < list->height; level++) {
        struct plain_link *link = &update[level][level];
        if (link->next == node) {
            link->span += node->links[level].span - 1;
            link->next = node->links[level].next;
        } else {
            link->span--;
        }
    }
    if (node->links[0].next)
        node->links[0].next->prev = node->prev;
    else
        list->tail = node->prev;
    hashtable_delete(list->table, slot, hash);
    list->count--;
    mem_free(node);
}

/* --- Both behind one interface --- */

struct kind {
    const char *name;
    void *(*create)(void);
    void (*add)(void *set, struct slice member, double score); /* looks it up first */
    bool (*remove)(void *set, struct slice member);
    uint64_t (*rank)(void *set, struct slice member);
    double (*score)(void *set, struct slice member);
    size_t (*range)(void *set, double score, size_t members); /* BYSCORE LIMIT 0 n */
    size_t (*first)(void *set);                               /* ZRANGE 0 0 */
    void (*pop)(void *set);
    void (*destroy)(void *set);
};

/* Of this thread: what others do on the machine does not count. */
static int64_t cpu_us(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

static void *unrolled_create(void) {
    return skiplist_new();
}

static void unrolled_add(void *set, struct slice member, double score) {
    struct skiplist_place place = skiplist_find(set, member);
    if (place.node)
        skiplist_update(set, &place, member, score);
    else
        skiplist_insert(set, &place, member, score);
}

static bool unrolled_remove(void *set, struct slice member) {
    struct skiplist_place place = skiplist_find(set, member);
    if (place.node) skiplist_delete(set, &place);
    return place.node;
}

static uint64_t unrolled_rank(void *set, struct slice member) {
    struct skiplist_place place = skiplist_find(set, member);
    return place.node ? skiplist_rank(set, &place) : UINT64_MAX;
}

static double unrolled_score(void *set, struct slice member) {
    struct skiplist_place place = skiplist_find(set, member);
    return place.node ? skiplist_score(&place) : -1;
}

static size_t unrolled_range(void *set, double score, size_t members) {
    struct skiplist_cursor cursor;
    size_t sum = 0;
    uint64_t rank = skiplist_count_below(set, score, false);
    if (rank == skiplist_count(set)) return 0;
    skiplist_seek(set, rank, &cursor);
    do sum += skiplist_cursor_member(&cursor).len + (size_t)skiplist_cursor_score(&cursor);
    while (--members && skiplist_next(&cursor));
    return sum;
}

static size_t unrolled_first(void *set) {
    struct skiplist_cursor cursor;
    skiplist_seek(set, 0, &cursor);
    struct slice member = skiplist_cursor_member(&cursor);
    return member.len + (size_t)member.ptr[0];
}

static void unrolled_pop(void *set) {
    skiplist_delete_range(set, 0, 1);
}

static void unrolled_destroy(void *set) {
    skiplist_free(set);
}

static void *plain_create(void) {
    return plain_new();
}

static void plain_add(void *set, struct slice member, double score) {
    struct plain *list = set;
    uint64_t hash = hashtable_hash(member);
    hashtable_slot *slot = hashtable_find(list->table, member, hash);
    if (slot) plain_delete(list, slot, hash);
    plain_insert(list, member, score, hash);
}

static bool plain_remove(void *set, struct slice member) {
    struct plain *list = set;
    uint64_t hash = hashtable_hash(member);
    hashtable_slot *slot = hashtable_find(list->table, member, hash);
    if (slot) plain_delete(list, slot, hash);
    return slot;
}

static uint64_t plain_rank(void *set, struct slice member) {
    struct plain *list = set;
    struct plain_link *update[PLAIN_LEVELS];
    uint64_t ranks[PLAIN_LEVELS];
    hashtable_slot *slot = hashtable_find(list->table, member, hashtable_hash(member));
    if (!slot) return UINT64_MAX;
    struct plain_node *node = hashtable_item(*slot);
    plain_descend(list, node->score, member, update, ranks);
    return ranks[0];
}

static double plain_score(void *set, struct slice member) {
    struct plain *list = set;
    hashtable_slot *slot = hashtable_find(list->table, member, hashtable_hash(member));
    return slot ? ((struct plain_node *)hashtable_item(*slot))->score : -1;
}

static size_t plain_range(void *set, double score, size_t members) {
    struct plain *list = set;
    struct plain_link *update[PLAIN_LEVELS];
    uint64_t ranks[PLAIN_LEVELS];
    size_t sum = 0;
    plain_descend(list, score, slice_make("", 0), update, ranks);
    struct plain_node *node = update[0]->next;
    for (; node && members; members--, node = node->links[0].next)
        sum += plain_member(node).len + (size_t)node->score;
    return sum;
}

static size_t plain_first(void *set) {
    struct slice member = plain_member(((struct plain *)set)->head[0].next);
    return member.len + (size_t)member.ptr[0];
}

static void plain_pop(void *set) {
    struct plain *list = set;
    struct slice member = plain_member(list->head[0].next);
    uint64_t hash = hashtable_hash(member);
    plain_delete(list, hashtable_find(list->table, member, hash), hash);
}

static void plain_destroy(void *set) {
    struct plain *list = set;
    struct plain_node *next;
    for (struct plain_node *node = list->head[0].next; node; node = next) {
        next = node->links[0].next;
        mem_free(node);
    }
    hashtable_free(list->table);
    mem_free(list);
}

#define KIND(kind)                                                                                 \
    {                                                                                              \
#kind, kind##_create, kind##_add, kind##_remove, kind##_rank, kind##_score, kind##_range,  \
            kind##_first, kind##_pop, kind##_destroy                                               \
    }
static const struct kind kinds[] = {KIND(unrolled), KIND(plain)};

/* --- Data --- */

static uint32_t *shuffled(size_t count, struct random *random) {
    uint32_t *order = mem_alloc(count * sizeof(*order));
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t j = random_below(random, i);
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
    return order;
}

enum data { TWENTY_BYTES, INTEGERS, FRACTIONS };

/* The member and score of number i. */
static struct slice member_of(char *text, enum data data, uint32_t i, double *score) {
    *score = data == FRACTIONS ? (double)(i * 2654435761u) / 4294967296.0 : i;
    if (data == INTEGERS) return slice_make(text, number_format_uint64(text, i));
    memset(text, 'm', 20);
    number_format_uint64(text + 20 - number_uint64_length(i), i);
    return slice_make(text, 20);
}

static double ns_since(int64_t start_us, size_t count) {
    return 1000.0 * (double)(cpu_us() - start_us) / (double)count;
}

static volatile size_t sink;

static void bench_small(const struct kind *kind) {
    enum { SETS = 20000, MEMBERS = 129 };
    void **sets = mem_alloc(SETS * sizeof(*sets));
    char text[32] = "member:";
    struct random random;
    random_seed(&random, 1);
    size_t used = mem_used();
    for (int i = 0; i < SETS; i++) sets[i] = kind->create();
    int64_t start = cpu_us();
    for (uint32_t j = 0; j < MEMBERS; j++) {
        struct slice member = slice_make(text, 7 + number_format_uint64(text + 7, j));
        for (int i = 0; i < SETS; i++) kind->add(sets[i], member, j);
    }
    double add = ns_since(start, SETS * MEMBERS);
    double bytes = (double)(mem_used() - used) / SETS / MEMBERS;
    start = cpu_us();
    for (int i = 0; i < 2000000; i++) sink += kind->first(sets[random_below(&random, SETS)]);
    double first = ns_since(start, 2000000);
    for (int i = 0; i < SETS; i++) kind->destroy(sets[i]);
    mem_free(sets);
    printf("%-9s %6d sets of %d: %5.1f B a member, add %4.0f ns, first %4.0f ns\n", kind->name,
           SETS, MEMBERS, bytes, add, first);
}

static void bench_large(const struct kind *kind, enum data data, size_t members,
                        const uint32_t *order, const char *what) {
    enum { LOOKUPS = 500000 };
    char text[32];
    double score, own = 0;
    struct random random;
    random_seed(&random, 2);
    size_t used = mem_used();
    void *set = kind->create();
    int64_t start = cpu_us();
    for (size_t i = 0; i < members; i++) {
        struct slice member = member_of(text, data, order ? order[i] : (uint32_t)i, &score);
        own += (double)member.len;
        kind->add(set, member, score);
    }
    double add = ns_since(start, members);
    double bytes = (double)(mem_used() - used) / (double)members;
    double cost[7];
    for (int what_next = 0; what_next < 7; what_next++) {
        start = cpu_us();
        for (int i = 0; i < LOOKUPS; i++) {
            uint32_t n = (uint32_t)random_below(&random, members);
            struct slice member = member_of(text, data, n, &score);
            switch (what_next) {
            case 0: sink += (size_t)kind->score(set, member); break;
            case 1: sink += kind->rank(set, member); break;
            case 2: sink += kind->range(set, score, 10); break;
            case 3: kind->add(set, member, score + 1); break;
            case 4: kind->pop(set); break;
            case 5: kind->remove(set, member); break;
            default:
                kind->remove(set, member);
                kind->add(set, member, score);
                break;
            }
        }
        cost[what_next] = ns_since(start, LOOKUPS);
    }
    kind->destroy(set);
    printf("%-9s %zu %s: %5.1f B (%4.1f beside the member), add %4.0f ns, score %4.0f, rank %4.0f, "
           "range 10 "
           "%4.0f, update %4.0f, pop %4.0f, remove %4.0f, replace %4.0f\n",
           kind->name, members, what, bytes, bytes - own / (double)members, add, cost[0], cost[1],
           cost[2], cost[3], cost[4], cost[5], cost[6]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    uint64_t members = 3000000;
    if (argc > 1 && (!number_parse_uint64(slice_of_cstr(argv[1]), &members) || members < 2000000))
        return 1;
    hash_init();
    struct random random;
    random_seed(&random, 3);
    uint32_t *order = shuffled(members, &random);
    for (int i = 0; i < 2; i++) bench_small(&kinds[i]);
    for (int i = 0; i < 2; i++)
        bench_large(&kinds[i], TWENTY_BYTES, members, order, "of 20 B, random order");
    for (int i = 0; i < 2; i++)
        bench_large(&kinds[i], TWENTY_BYTES, members, NULL, "of 20 B, in order");
    for (int i = 0; i < 2; i++)
        bench_large(&kinds[i], FRACTIONS, members, order, "of 20 B, scores that are fractions");
    uint32_t *integers = shuffled(1000000, &random);
    for (int i = 0; i < 2; i++)
        bench_large(&kinds[i], INTEGERS, 1000000, integers, "integers, random order");
    mem_free(order);
    mem_free(integers);
    return 0;
}

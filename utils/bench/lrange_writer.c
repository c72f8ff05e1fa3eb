/* What the LRANGE writer costs: nanoseconds an element, from a warm 8 KB listpack node to RESP
 * bytes.
 *
 *      make benchmarks
 *      build/release/utils/bench/lrange_writer
 *
 * Prints a table: kind of element, elements in the node, ns forward, backward, and per
 * listpack_find step. */
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "resp/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NODE_SIZE = 8192, ELEMENTS_TIMED = 20000000 };

static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

struct node {
    uint8_t *body;
    uint8_t *end;
    size_t count;
};

/* How texts are chosen: strings of a length in [from, to], or integers of a magnitude below
 * `to`. */
struct kind {
    const char *name;
    bool integers;
    uint64_t from, to;
    size_t node_size;
};

static struct node fill_node(const struct kind *kind, struct random *random) {
    struct node node = {mem_alloc(kind->node_size), NULL, 0};
    node.end = node.body;
    for (;; node.count++) {
        char text[1024];
        size_t len;
        if (kind->integers) {
            int64_t value = (int64_t)(kind->from + random_below(random, kind->to - kind->from));
            len = (size_t)snprintf(text, sizeof(text), "%lld", (long long)value);
        } else {
            len = kind->from + random_below(random, kind->to - kind->from + 1);
            for (size_t i = 0; i < len; i++) text[i] = (char)('a' + random_below(random, 26));
        }
        struct listpack_element element;
        listpack_prepare(&element, slice_make(text, len));
        if ((size_t)(node.end - node.body) + element.size > kind->node_size) return node;
        listpack_write(node.end, &element);
        node.end += element.size;
    }
}

static double time_forward(const struct node *node, struct reply *reply, size_t rounds) {
    double start = now_ns();
    for (size_t i = 0; i < rounds; i++) {
        reply->len = 0;
        reply_listpack_run(reply, node->body, node->count, node->end, node->end);
    }
    return (now_ns() - start) / (double)(rounds * node->count);
}

static double time_backward(const struct node *node, struct reply *reply, size_t rounds) {
    double start = now_ns();
    for (size_t i = 0; i < rounds; i++) {
        reply->len = 0;
        reply_listpack_run_back(reply, node->end, node->count, node->body, node->end);
    }
    return (now_ns() - start) / (double)(rounds * node->count);
}

static double time_find(const struct node *node, size_t rounds) {
    struct listpack_element needle;
    listpack_prepare(&needle, SLICE("not there"));
    size_t total = 0;
    double start = now_ns();
    for (size_t i = 0; i < rounds; i++) {
        size_t skipped;
        if (listpack_find(node->body, node->end, &needle, SIZE_MAX, &skipped) != NULL) abort();
        total += skipped;
    }
    return (now_ns() - start) / (double)total;
}

static double time_seek(const struct node *node, size_t rounds) {
    uintptr_t sum = 0;
    double start = now_ns();
    for (size_t i = 0; i < rounds; i++) {
        sum += (uintptr_t)listpack_seek(node->body, node->count - 1 - (sum & 1));
    }
    if (sum == 1) puts("");
    return (now_ns() - start) / (double)(rounds * node->count);
}

int main(void) {
    static const struct kind kinds[] = {
        {"strings of 5", false, 5, 5, NODE_SIZE},
        {"strings of 10", false, 10, 10, NODE_SIZE},
        {"5 strings of 10", false, 10, 10, 60},
        {"strings of 40", false, 40, 40, NODE_SIZE},
        {"strings of 5 to 40", false, 5, 40, NODE_SIZE},
        {"strings of 100", false, 100, 100, NODE_SIZE},
        {"strings of 500", false, 500, 500, NODE_SIZE},
        {"integers below 100", true, 0, 100, NODE_SIZE},
        {"integers below 10^4", true, 0, 10000, NODE_SIZE},
        {"integers below 10^6", true, 0, 1000000, NODE_SIZE},
        {"integers of 8 digits", true, 10000000, 99999999, NODE_SIZE},
        {"integers of 13 digits", true, 1000000000000, 9999999999999, NODE_SIZE},
    };
    printf("%-24s %8s %8s %8s %8s %8s\n", "elements", "in node", "forward", "backward", "find",
           "seek");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct random random;
        random_seed(&random, 1);
        struct node node = fill_node(&kinds[i], &random);
        struct reply reply;
        reply_init(&reply, 0);
        size_t rounds = ELEMENTS_TIMED / node.count;
        time_forward(&node, &reply, rounds / 10);
        double forward = time_forward(&node, &reply, rounds);
        double backward = time_backward(&node, &reply, rounds);
        double find = time_find(&node, rounds);
        printf("%-24s %8zu %8.2f %8.2f %8.2f %8.2f\n", kinds[i].name, node.count, forward, backward,
               find, time_seek(&node, rounds));
        reply_free(&reply);
        mem_free(node.body);
    }
    return 0;
}

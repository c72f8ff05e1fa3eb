/* lzf_bench: what compressing and decompressing nodes of lists costs and gains, with the codec that
 * this build uses. Nodes have 8 KB, as with list-max-listpack-size -2; median of several runs.
 *
 *      make benchmarks && build/release/utils/bench/lzf_bench
 *      make benchmarks LZF=system && build/release-system-lzf/utils/bench/lzf_bench */
#include "base/hash/random.h"
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"
#include "median.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 9, NODES = 2000, NODE_SIZE = 8192, STREAM_MAX = 2 * NODE_SIZE };

struct node {
    size_t len;  /* of the text */
    size_t size; /* of the stream */
    uint8_t text[NODE_SIZE];
    uint8_t stream[STREAM_MAX];
};

/* One element of each kind: its length, at most 63 bytes. */
static size_t write_counter(char *out, struct random *random, unsigned number) {
    (void)random;
    return (size_t)snprintf(out, 64, "key:%012u", number);
}

static size_t write_record(char *out, struct random *random, unsigned number) {
    return (size_t)snprintf(out, 64, "{\"id\":%u,\"user\":%u,\"state\":\"%s\"}", number,
                            (unsigned)random_below(random, 10000), number % 3 ? "done" : "waiting");
}

static size_t write_words(char *out, struct random *random, unsigned number) {
    static const char *const words[] = {"list",  "value", "server", "client", "loop",  "write",
                                        "read",  "key",   "node",   "memory", "a",     "of",
                                        "store", "queue", "commit", "page",   "entry", "the"};
    size_t len = 0;
    (void)number;
    while (len < 40)
        len += (size_t)snprintf(out + len, 64 - len, "%s ", words[random_below(random, 18)]);
    return len;
}

static size_t write_noise(char *out, struct random *random, unsigned number) {
    (void)number;
    for (size_t i = 0; i < 40; i++) out[i] = (char)random_below(random, 256);
    return 40;
}

typedef size_t (*writer)(char *out, struct random *random, unsigned number);

/* Elements as a listpack has them: a byte before each, and its size behind it. */
static void fill(struct node *node, writer write, struct random *random, unsigned *number) {
    char element[64];
    for (node->len = 0;;) {
        size_t len = write(element, random, (*number)++);
        if (node->len + len + 2 > NODE_SIZE) return;
        node->text[node->len++] = (uint8_t)(0x80 | len);
        memcpy(node->text + node->len, element, len);
        node->len += len;
        node->text[node->len++] = (uint8_t)(len + 1);
    }
}

static void compress_all(struct node *nodes) {
    for (size_t i = 0; i < NODES; i++)
        nodes[i].size = lzf_compress_text(slice_make(nodes[i].text, nodes[i].len), nodes[i].stream,
                                          nodes[i].len - 1); /* as a node: it must shrink */
}

static void decompress_all(struct node *nodes) {
    static uint8_t back[NODE_SIZE];
    for (size_t i = 0; i < NODES; i++) {
        if (nodes[i].size == 0) continue;
        struct slice stream = slice_make(nodes[i].stream, nodes[i].size);
        if (!lzf_decompress_text(stream, back, nodes[i].len) ||
            memcmp(back, nodes[i].text, nodes[i].len) != 0)
            abort();
    }
}

/* Microseconds of CPU per node. */
static double measure(void (*work)(struct node *nodes), struct node *nodes) {
    double figures[RUNS];
    for (int i = 0; i < RUNS; i++) {
        clock_t start = clock();
        work(nodes);
        figures[i] = (double)(clock() - start) * 1e6 / CLOCKS_PER_SEC / NODES;
    }
    return median(figures, RUNS);
}

int main(void) {
    static const struct {
        const char *name;
        writer write;
    } kinds[] = {{"counters", write_counter},
                 {"records", write_record},
                 {"words", write_words},
                 {"noise", write_noise}};
    struct node *nodes = mem_alloc(NODES * sizeof(*nodes));
    printf("codec: %s; %d nodes of %d bytes\n", lzf_name(), NODES, NODE_SIZE);
    printf("%-10s %10s %14s %16s\n", "elements", "size", "compress", "decompress");
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        struct random random;
        unsigned number = 0;
        size_t len = 0, size = 0;
        random_seed(&random, 1);
        for (size_t i = 0; i < NODES; i++) fill(&nodes[i], kinds[kind].write, &random, &number);
        double compress_us = measure(compress_all, nodes),
               decompress_us = measure(decompress_all, nodes);
        for (size_t i = 0; i < NODES; i++) {
            len += nodes[i].len;
            size += nodes[i].size ? nodes[i].size : nodes[i].len;
        }
        printf("%-10s %8.1f %% %11.2f us %13.2f us\n", kinds[kind].name,
               100 * (double)size / (double)len, compress_us, decompress_us);
    }
    mem_free(nodes);
    return 0;
}

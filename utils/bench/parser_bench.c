/* parser_bench: nanoseconds per request of the RESP parser, over pipelines that fill one 64 KB read.
 *
 *      make benchmarks
 *      build/release/utils/bench/parser_bench [rounds] */
#include "base/clock.h"
#include "base/text/number.h"
#include "resp/parser.h"

#include <stdio.h>

enum { READ_SIZE = 64 * 1024 };

struct workload {
    const char *name;
    const char *request;
};

static const struct workload WORKLOADS[] = {
    {"PING", "*1\r\n$4\r\nPING\r\n"},
    {"LPUSH key value", "*3\r\n$5\r\nLPUSH\r\n$6\r\nmylist\r\n$10\r\nhellohello\r\n"},
    {"LRANGE key 0 99", "*4\r\n$6\r\nLRANGE\r\n$6\r\nmylist\r\n$1\r\n0\r\n$2\r\n99\r\n"},
    {"RPUSH of ten", "*12\r\n$5\r\nRPUSH\r\n$1\r\nk\r\n$1\r\n0\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n"
                     "$1\r\n4\r\n$1\r\n5\r\n$1\r\n6\r\n$1\r\n7\r\n$1\r\n8\r\n$1\r\n9\r\n"},
    {"inline", "LPUSH mylist hellohello\r\n"},
};

/* Parses all of `bytes`; returns the number of requests, and adds up their arguments so that
 * nothing is optimised away. */
static size_t parse_all(struct resp_parser *parser, char *bytes, size_t len, size_t *arguments) {
    static const struct resp_limits limits = {.bulk_max = 512 << 20, .authenticated = true};
    size_t requests = 0;
    while (resp_parse(parser, bytes, len, &limits) == RESP_REQUEST) {
        bytes += parser->consumed;
        len -= parser->consumed;
        *arguments += parser->argc;
        requests++;
    }
    return requests;
}

static void measure(const struct workload *workload, int64_t rounds) {
    static char bytes[READ_SIZE];
    size_t request_len = strlen(workload->request), len = 0;
    for (; len + request_len <= READ_SIZE; len += request_len)
        memcpy(bytes + len, workload->request, request_len);

    struct resp_parser parser;
    resp_parser_init(&parser);
    size_t arguments = 0, requests = parse_all(&parser, bytes, len, &arguments);
    double best = 1e9;
    for (int attempt = 0; attempt < 5; attempt++) {
        int64_t start = clock_monotonic_us();
        for (int64_t round = 0; round < rounds; round++) parse_all(&parser, bytes, len, &arguments);
        double us = (double)(clock_monotonic_us() - start);
        double ns = us * 1000 / ((double)rounds * (double)requests);
        if (ns < best) best = ns;
    }
    printf("%-16s %6.1f ns/request  %5.2f GB/s  (%zu)\n", workload->name, best,
           (double)request_len / best, arguments % 10);
    resp_parser_free(&parser);
}

int main(int argc, char **argv) {
    int64_t rounds = 200;
    if (argc > 1 && !number_parse_int64(slice_of_cstr(argv[1]), &rounds)) return 1;
    clock_init();
    for (size_t i = 0; i < sizeof(WORKLOADS) / sizeof(WORKLOADS[0]); i++)
        measure(&WORKLOADS[i], rounds);
    return 0;
}

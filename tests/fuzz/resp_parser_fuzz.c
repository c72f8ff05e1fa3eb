/* The parser must say the same about the same bytes however they are cut and wherever they lie.
 *
 * Input: byte 0 chooses the limits and the number of cuts, the following bytes are the distances
 * between the cuts, the rest is what a client sends. */
#include "resp/parser.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* All that a parse said, folded into one number. */
struct verdict {
    uint64_t digest;
    size_t requests;
    size_t rest;
    bool failed;
};

static void fold(struct verdict *verdict, const void *bytes, size_t len) {
    const uint8_t *at = bytes;
    for (size_t i = 0; i < len; i++) verdict->digest = (verdict->digest ^ at[i]) * 0x100000001b3u;
}

static void fold_request(struct verdict *verdict, const struct resp_parser *parser) {
    fold(verdict, &parser->argc, sizeof(parser->argc));
    for (size_t i = 0; i < parser->argc; i++) {
        fold(verdict, &parser->argv[i].len, sizeof(size_t));
        fold(verdict, parser->argv[i].ptr, parser->argv[i].len);
    }
    verdict->requests++;
}

static void expect(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

/* Parses what there is of the current request in memory of exactly that size. Returns the bytes
 * consumed. */
static size_t parse_piece(struct resp_parser *parser, const uint8_t *bytes, size_t len,
                          const struct resp_limits *limits, struct verdict *verdict) {
    char *copy = malloc(len > 0 ? len : 1);
    if (len > 0) memcpy(copy, bytes, len);
    size_t consumed = 0;
    enum resp_status status;
    while ((status = resp_parse(parser, copy + consumed, len - consumed, limits)) == RESP_REQUEST) {
        expect(parser->consumed > 0 && parser->consumed <= len - consumed, "consumed is in range");
        fold_request(verdict, parser);
        consumed += parser->consumed;
    }
    verdict->rest = len - consumed;
    verdict->failed = status == RESP_ERROR;
    if (verdict->failed) {
        fold(verdict, parser->error, strlen(parser->error));
    } else if (verdict->rest > 0) {
        expect(parser->scanned != 0, "a rest is a partial request");
        expect(resp_parser_needs(parser) > verdict->rest, "a partial request needs more");
    }
    free(copy);
    return consumed;
}

static struct verdict parse(const uint8_t *bytes, size_t len, const uint8_t *steps, size_t cuts,
                            const struct resp_limits *limits) {
    struct verdict verdict = {.digest = 0xcbf29ce484222325u};
    struct resp_parser parser;
    resp_parser_init(&parser);
    size_t start = 0, end = 0;
    for (size_t i = 0; i <= cuts && !verdict.failed; i++) {
        end = i < cuts && steps[i] < len - end ? end + steps[i] : len;
        start += parse_piece(&parser, bytes + start, end - start, limits, &verdict);
    }
    resp_parser_free(&parser);
    return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    struct resp_limits limits = {.bulk_max = 1 << 20, .authenticated = (data[0] & 1) != 0};
    size_t cuts = data[0] >> 1;
    if (cuts > size - 1) cuts = size - 1;
    const uint8_t *steps = data + 1, *bytes = steps + cuts;
    size_t len = size - 1 - cuts;

    struct verdict whole = parse(bytes, len, NULL, 0, &limits);
    struct verdict pieces = parse(bytes, len, steps, cuts, &limits);
    expect(whole.requests == pieces.requests, "the same requests");
    expect(whole.digest == pieces.digest, "the same arguments and errors");
    expect(whole.failed == pieces.failed, "the same end");
    expect(whole.failed || whole.rest == pieces.rest, "the same rest");
    return 0;
}

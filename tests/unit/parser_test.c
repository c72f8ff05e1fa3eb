/* The parser against a naive reference that sees all bytes at once, with every input placed right
 * before an unreadable page, cut at every byte, and moved between the pieces. */
#include "resp/parser.h"

#include "unit/in_range.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const struct resp_limits OPEN_LIMITS = {.bulk_max = 512 << 20, .authenticated = true};
static const struct resp_limits LOCKED_LIMITS = {.bulk_max = 512 << 20, .authenticated = false};

/* --- A stage: bytes that end where a guard page begins --- */

enum { STAGE_SIZE = 256 * 1024 };

struct stage {
    char *page_end[2]; /* of two areas, used in turn so that every piece moves */
    int turn;
};

static struct stage stage;

static int stage_open(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *area = mmap(NULL, STAGE_SIZE + 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (area == MAP_FAILED || mprotect(area + STAGE_SIZE, 4096, PROT_NONE) != 0) return -1;
        stage.page_end[i] = area + STAGE_SIZE;
    }
    return 0;
}

static char *stage_put(const char *bytes, size_t len) {
    assert_true(len <= STAGE_SIZE);
    stage.turn = 1 - stage.turn;
    char *at = stage.page_end[stage.turn] - len;
    memcpy(at, bytes, len);
    return at;
}

/* --- A transcript: what came out of some bytes, as text --- */

struct transcript {
    char text[1 << 20];
    size_t len;
    bool failed;
    size_t rest; /* bytes of the incomplete request at the end */
};

static void transcript_add(struct transcript *transcript, const char *bytes, size_t len) {
    assert_true(transcript->len + len < sizeof(transcript->text));
    memcpy(transcript->text + transcript->len, bytes, len);
    transcript->len += len;
    transcript->text[transcript->len] = '\0';
}

static void transcript_request(struct transcript *transcript, size_t argc,
                               const struct slice *argv) {
    char number[32];
    transcript_add(transcript, number, (size_t)snprintf(number, sizeof(number), "(%zu", argc));
    for (size_t i = 0; i < argc; i++) {
        int len = snprintf(number, sizeof(number), " %zu:", argv[i].len);
        transcript_add(transcript, number, (size_t)len);
        transcript_add(transcript, argv[i].ptr, argv[i].len);
    }
    transcript_add(transcript, ")", 1);
}

static void transcript_error(struct transcript *transcript, const char *error) {
    transcript_add(transcript, "!", 1);
    transcript_add(transcript, error, strlen(error));
    transcript->failed = true;
}

static void assert_same(const struct transcript *got, const struct transcript *want) {
    assert_int_equal(got->len, want->len);
    assert_memory_equal(got->text, want->text, want->len);
    assert_int_equal(got->failed, want->failed);
    if (!want->failed) assert_int_equal(got->rest, want->rest);
}

/* Parses `len` bytes that arrive in pieces ending at the ascending `cuts`, the last of which is
 * `len`. */
static void parse_pieces(struct transcript *out, const char *bytes, const size_t *cuts,
                         const struct resp_limits *limits) {
    struct resp_parser parser;
    resp_parser_init(&parser);
    out->len = 0;
    out->failed = false;
    size_t start = 0; /* of the request at hand */
    for (size_t piece = 0; !out->failed; piece++) {
        size_t have = cuts[piece] - start;
        char *at = stage_put(bytes + start, have);
        bool resumed = parser.scanned != 0;
        size_t needs = resumed ? resp_parser_needs(&parser) : 0;
        enum resp_status status;
        while ((status = resp_parse(&parser, at, have, limits)) == RESP_REQUEST) {
            assert_true(!resumed || parser.consumed >= needs);
            assert_int_equal(parser.scanned, 0);
            assert_true(parser.consumed > 0 && parser.consumed <= have);
            transcript_request(out, parser.argc, parser.argv);
            at += parser.consumed;
            have -= parser.consumed;
            start += parser.consumed;
            resumed = false;
        }
        if (status == RESP_ERROR) {
            assert_true(!resumed || have >= needs);
            transcript_error(out, parser.error);
        } else {
            assert_int_equal(parser.scanned != 0, have > 0);
            if (have > 0) assert_true(resp_parser_needs(&parser) > have);
        }
        out->rest = have;
        bool last = cuts[piece + 1] == 0;
        if (last) break;
    }
    resp_parser_free(&parser);
}

static void parse_whole(struct transcript *out, const char *bytes, size_t len,
                        const struct resp_limits *limits) {
    const size_t cuts[] = {len, 0};
    parse_pieces(out, bytes, cuts, limits);
}

/* --- The reference --- */

struct reference {
    const char *at;
    const char *end;
    const struct resp_limits *limits;
    struct transcript *out;
    struct slice argv[65536];
    char words[RESP_LINE_MAX + 1];
};

enum line { LINE_READ, LINE_CUT, LINE_LONG };

/* A line up to `end_byte`, which must be followed by `extra` bytes more. */
static enum line reference_line(const char *at, const char *end, char end_byte, ptrdiff_t extra,
                                struct slice *line) {
    for (const char *c = at;; c++) {
        if (c - at > RESP_LINE_MAX) return LINE_LONG;
        if (c == end) return LINE_CUT;
        if (*c == '\0') return end - at > RESP_LINE_MAX ? LINE_LONG : LINE_CUT;
        if (*c != end_byte) continue;
        *line = slice_make(at, (size_t)(c - at));
        return end - c > extra ? LINE_READ : LINE_CUT;
    }
}

static bool reference_number(struct slice text, long long *number) {
    char copy[32], back[32];
    if (text.len == 0 || text.len > 20) return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *number = strtoll(copy, NULL, 10);
    snprintf(back, sizeof(back), "%lld", *number);
    return strcmp(copy, back) == 0; /* out of range saturates, and so differs */
}

/* Unquotes by the grammar, one character at a time, into `words`. Returns the arguments, -1 when
 * unbalanced. */
static int reference_split(struct reference *ref, struct slice line) {
    int argc = 0;
    char *out = ref->words;
    enum { BLANK, WORD, DOUBLE, SINGLE, CLOSED } where = BLANK;
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        bool blank = strchr(" \t\n\v\f\r", c) != NULL;
        if (where == CLOSED) {
            if (!blank) return -1;
            where = BLANK;
        }
        if (where == BLANK) {
            if (blank) continue;
            ref->argv[argc++] = slice_make(out, 0);
            where = WORD;
        }
        struct slice *word = &ref->argv[argc - 1];
        if (where == WORD) {
            if (strchr(" \t\n\r", c) != NULL)
                where = BLANK;
            else if (c == '"')
                where = DOUBLE;
            else if (c == '\'')
                where = SINGLE;
            else {
                *out++ = c;
                word->len++;
            }
            continue;
        }
        if (c == (where == DOUBLE ? '"' : '\'')) {
            where = CLOSED;
            continue;
        }
        if (c == '\\' && where == SINGLE && i + 1 < line.len && line.ptr[i + 1] == '\'') {
            c = line.ptr[++i];
        } else if (c == '\\' && where == DOUBLE && i + 1 < line.len) {
            static const char names[] = "nrtba", values[] = "\n\r\t\b\a";
            c = line.ptr[++i];
            unsigned hex;
            char digits[3] = {0};
            if (c == 'x' && i + 2 < line.len) memcpy(digits, line.ptr + i + 1, 2);
            if (strspn(digits, "0123456789abcdefABCDEF") == 2 && sscanf(digits, "%x", &hex) == 1) {
                c = (char)hex;
                i += 2;
            } else if (strchr(names, c) != NULL) {
                c = values[strchr(names, c) - names];
            }
        }
        *out++ = c;
        word->len++;
    }
    return where == DOUBLE || where == SINGLE ? -1 : argc;
}

static bool reference_fail(struct reference *ref, const char *error) {
    transcript_error(ref->out, error);
    return false;
}

/* One header: sets *number and moves *at behind it. False at the end of the bytes and after an
 * error. */
static bool reference_header(struct reference *ref, const char **at, bool bulk, long long *number) {
    struct slice line;
    enum line status = reference_line(*at, ref->end, '\r', 1, &line);
    if (status == LINE_CUT) return false;
    if (status == LINE_LONG) {
        return reference_fail(ref,
                              bulk ? "too big bulk count string" : "too big mbulk count string");
    }
    char text[64];
    snprintf(text, sizeof(text), "expected '$', got '%c'", **at);
    if (bulk && **at != '$') return reference_fail(ref, text);
    bool valid = reference_number(slice_make(line.ptr + 1, line.len - 1), number);
    if (valid && bulk) valid = *number >= 0 && *number <= ref->limits->bulk_max;
    if (valid && !bulk) valid = *number <= INT32_MAX;
    if (!valid)
        return reference_fail(ref, bulk ? "invalid bulk length" : "invalid multibulk length");
    if (!ref->limits->authenticated && *number > (bulk ? 16384 : 10)) {
        return reference_fail(ref, bulk ? "unauthenticated bulk length"
                                        : "unauthenticated multibulk length");
    }
    *at = line.ptr + line.len + 2;
    return true;
}

static bool reference_inline(struct reference *ref) {
    struct slice line;
    enum line status = reference_line(ref->at, ref->end, '\n', 0, &line);
    if (status == LINE_CUT) return false;
    if (status == LINE_LONG) return reference_fail(ref, "too big inline request");
    int argc = reference_split(ref, line);
    if (argc < 0) return reference_fail(ref, "unbalanced quotes in request");
    transcript_request(ref->out, (size_t)argc, ref->argv);
    ref->at += line.len + 1;
    return true;
}

static bool reference_request(struct reference *ref) {
    if (ref->at == ref->end) return false;
    if (*ref->at != '*') return reference_inline(ref);
    const char *at = ref->at;
    long long count, length;
    if (!reference_header(ref, &at, false, &count)) return false;
    if (count < 0) count = 0;
    for (long long i = 0; i < count; i++) {
        if (!reference_header(ref, &at, true, &length)) return false;
        if (ref->end - at < length + 2) return false;
        assert_true(i < 65536);
        ref->argv[i] = slice_make(at, (size_t)length);
        at += length + 2;
    }
    transcript_request(ref->out, (size_t)count, ref->argv);
    ref->at = at;
    return true;
}

static void reference_parse(struct transcript *out, const char *bytes, size_t len,
                            const struct resp_limits *limits) {
    static struct reference ref;
    ref.at = bytes;
    ref.end = bytes + len;
    ref.limits = limits;
    ref.out = out;
    out->len = 0;
    out->failed = false;
    while (reference_request(&ref)) continue;
    out->rest = (size_t)(ref.end - ref.at);
}

/* --- Tests --- */

static struct transcript got, want;

struct message {
    const char *bytes;
    size_t len;
};
#define MESSAGE(literal)                                                                           \
    { literal, sizeof(literal) - 1 }

/* Every kind of message, right and wrong; each one is tried whole, by every prefix and by every
 * pair of cuts. */
static const struct message MESSAGES[] = {
    MESSAGE("*1\r\n$4\r\nPING\r\n"),
    MESSAGE("*3\r\n$5\r\nLPUSH\r\n$6\r\nmylist\r\n$10\r\nhellohello\r\n*2\r\n$4\r\nLLEN\r\n$"
            "1\r\nk\r\n"),
    MESSAGE("*2\r\n$0\r\n\r\n$3\r\na\0b\r\n*0\r\n*-1\r\n*-7\r\n*1\r\n$1\r\nx\r\n"),
    MESSAGE("*11\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n$1\r\nf\r\n$1\r\ng\r\n$"
            "1\r\nh\r\n"
            "$1\r\ni\r\n$1\r\nj\r\n$1\r\nk\r\n"),
    MESSAGE("*1\rX$4\rXPINGXX*1\r\n$12\r?............\n\nPING\n"),
    MESSAGE("PING\r\n"),
    MESSAGE("PING\n\r\n\n   \r\n PING\t a \r\r\nx\n"),
    MESSAGE(
        "ECHO \"a\\x41\\n\\r\\t\\b\\a\\q\\\"\\xzz\\x4\\\\\" 'a\\'b\\n\\\\' \"\" ''\r\nPING\r\n"),
    MESSAGE("SET a\"b c\" it's' \xff\xfe\x01 a\\nb\r\n"),
    MESSAGE("a\vb\fc \"q\"\vd 'q'\fe\n$4\r\nPING\r\n"),
    MESSAGE("ECHO \"abc\r\nPING\r\n"),
    MESSAGE("ECHO 'abc\r\nPING\r\n"),
    MESSAGE("ECHO \"abc\"d\r\n"),
    MESSAGE("ECHO 'abc'd\r\n"),
    MESSAGE("ECHO \"abc\\\r\n"),
    MESSAGE("ECHO \"\\x4\r\n"),
    MESSAGE("ECHO 'a\\\n"),
    MESSAGE("ECHO a\0b\r\nPING\r\n"),
    MESSAGE("\0PING\r\n"),
    MESSAGE("*\0\r\n"),
    MESSAGE("*1\r\n$\0\r\n\r\n"),
    MESSAGE("*1\r\n\0\r\n"),
    MESSAGE("*\r\n"),
    MESSAGE("*1x\r\n"),
    MESSAGE("*+1\r\n"),
    MESSAGE("*01\r\n"),
    MESSAGE("*-0\r\n"),
    MESSAGE("* 1\r\n"),
    MESSAGE("*-\r\n"),
    MESSAGE("*1234567890\r\n$1\r\nx\r\n"),
    MESSAGE("*2147483647\r\n"),
    MESSAGE("*2147483648\r\n"),
    MESSAGE("*9223372036854775808\r\n"),
    MESSAGE("*-9223372036854775808\r\n*-9223372036854775809\r\n"),
    MESSAGE("*99999999999999999999999\r\n"),
    MESSAGE("*1\r\n$\r\n"),
    MESSAGE("*1\r\n$-1\r\n"),
    MESSAGE("*1\r\n$04\r\nPING\r\n"),
    MESSAGE("*1\r\n$04\r\nPING\r\n*1\r\n$4\r\nPING\r\n"),
    MESSAGE("*01\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n"),
    MESSAGE("*1\r\n$4x\r\nPING\r\n"),
    MESSAGE("*1\r\n$536870912\r\n"),
    MESSAGE("*1\r\n$536870913\r\n"),
    MESSAGE("*1\r\n$16384\r\n"),
    MESSAGE("*1\r\n$16385\r\n"),
    MESSAGE("*1\r\n$99999999999999999999\r\n"),
    MESSAGE("*2\r\n$1\r\na\r\n:1\r\n"),
    MESSAGE("*1\r\n\r\n"),
    MESSAGE("*1\r\n\xff\r\n"),
    MESSAGE("*1\r\n*1\r\n$4\r\nPING\r\n"),
};
enum { MESSAGE_COUNT = sizeof(MESSAGES) / sizeof(MESSAGES[0]) };

static void each_message_parses_as_the_reference_says_by_every_prefix(void **state) {
    (void)state;
    const struct resp_limits *limits[] = {&OPEN_LIMITS, &LOCKED_LIMITS};
    for (size_t i = 0; i < MESSAGE_COUNT * 2; i++) {
        const struct message *message = &MESSAGES[i / 2];
        for (size_t len = 0; len <= message->len; len++) {
            reference_parse(&want, message->bytes, len, limits[i % 2]);
            parse_whole(&got, message->bytes, len, limits[i % 2]);
            assert_same(&got, &want);
        }
    }
}

static void each_message_parses_the_same_however_it_is_cut(void **state) {
    (void)state;
    for (size_t i = 0; i < MESSAGE_COUNT; i++) {
        const struct message *message = &MESSAGES[i];
        reference_parse(&want, message->bytes, message->len, &OPEN_LIMITS);
        for (size_t first = 1; first < message->len; first++) {
            for (size_t second = first; second < message->len; second++) {
                const size_t cuts[] = {first, second, message->len, 0};
                parse_pieces(&got, message->bytes, cuts, &OPEN_LIMITS);
                assert_same(&got, &want);
            }
        }
        size_t single[256] = {0};
        for (size_t at = 0; at < message->len; at++) single[at] = at + 1;
        parse_pieces(&got, message->bytes, single, &OPEN_LIMITS);
        assert_same(&got, &want);
    }
}

static void expect_error(const char *bytes, size_t len, const struct resp_limits *limits,
                         const char *error) {
    parse_whole(&got, bytes, len, limits);
    assert_true(got.failed);
    assert_int_equal(got.len, strlen(error) + 1);
    assert_memory_equal(got.text + 1, error, strlen(error));
}

static void errors_have_the_texts_of_redis(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *open, *locked;
    } cases[] = {
        {"*x\r\n", "invalid multibulk length", "invalid multibulk length"},
        {"*2147483648\r\n", "invalid multibulk length", "invalid multibulk length"},
        {"*11\r\n", NULL, "unauthenticated multibulk length"},
        {"*10\r\n", NULL, NULL},
        {"*1\r\nx\r\n", "expected '$', got 'x'", "expected '$', got 'x'"},
        {"*1\r\n\r\n", "expected '$', got '\r'", "expected '$', got '\r'"},
        {"*1\r\n$-1\r\n", "invalid bulk length", "invalid bulk length"},
        {"*1\r\n$536870913\r\n", "invalid bulk length", "invalid bulk length"},
        {"*1\r\n$16385\r\n", NULL, "unauthenticated bulk length"},
        {"*1\r\n$16384\r\n", NULL, NULL},
        {"GET \"a\n", "unbalanced quotes in request", "unbalanced quotes in request"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int locked = 0; locked < 2; locked++) {
            const char *error = locked ? cases[i].locked : cases[i].open;
            const struct resp_limits *limits = locked ? &LOCKED_LIMITS : &OPEN_LIMITS;
            size_t len = strlen(cases[i].bytes);
            if (error != NULL) {
                expect_error(cases[i].bytes, len, limits, error);
            } else {
                parse_whole(&got, cases[i].bytes, len, limits);
                assert_false(got.failed);
                assert_int_equal(got.rest, len);
            }
        }
    }
}

static void lines_may_be_as_long_as_the_limit_and_no_longer(void **state) {
    (void)state;
    static const struct {
        const char *head, *end, *error;
        char fill;
    } kinds[] = {
        {"", "\n", "too big inline request", 'a'},
        {"\"", "\n", "too big inline request", '\0'},
        {"*", "\r\n", "too big mbulk count string", '1'},
        {"*", "\r\n", "too big mbulk count string", '\0'},
        {"*1\r\n$", "\r\n", "too big bulk count string", '1'},
        {"*1\r\n", "\r\n", "too big bulk count string", '\0'},
    };
    static char bytes[RESP_LINE_MAX + 100];
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t head = strlen(kinds[i].head);
        size_t start = head > 4 ? 4 : head == 4 ? 4 : 0; /* of the line that is long */
        memset(bytes, kinds[i].fill, sizeof(bytes));
        memcpy(bytes, kinds[i].head, head);

        /* One byte less than too long: not an error yet. */
        parse_whole(&got, bytes, start + RESP_LINE_MAX, &OPEN_LIMITS);
        assert_false(got.failed);
        expect_error(bytes, start + RESP_LINE_MAX + 1, &OPEN_LIMITS, kinds[i].error);
        const size_t cuts[] = {start + RESP_LINE_MAX - 1, start + RESP_LINE_MAX,
                               start + RESP_LINE_MAX + 1, 0};
        parse_pieces(&want, bytes, cuts, &OPEN_LIMITS);
        assert_same(&got, &want);

        /* The end as the last byte that is looked at, and behind it. */
        for (size_t at = RESP_LINE_MAX; at <= RESP_LINE_MAX + 1; at++) {
            memset(bytes + head, kinds[i].fill, sizeof(bytes) - head);
            size_t end_len = strlen(kinds[i].end);
            memcpy(bytes + start + at, kinds[i].end, end_len);
            parse_whole(&got, bytes, start + at + end_len, &OPEN_LIMITS);
            const size_t ends[] = {start + RESP_LINE_MAX - 1, start + at + end_len, 0};
            reference_parse(&want, bytes, ends[1], &OPEN_LIMITS);
            assert_same(&got, &want);
            parse_pieces(&got, bytes, ends, &OPEN_LIMITS);
            assert_same(&got, &want);
            bool too_long = at > RESP_LINE_MAX || kinds[i].fill == '\0';
            assert_int_equal(strncmp(got.text, "!too big", 8) == 0, too_long);
        }
    }
}

static void a_big_argument_is_asked_for_as_a_whole(void **state) {
    (void)state;
    struct resp_parser parser;
    resp_parser_init(&parser);
    static const char head[] = "*2\r\n$3\r\nSET\r\n$100000\r\n";
    size_t head_len = sizeof(head) - 1;
    char *bytes = stage_put(head, head_len);
    assert_int_equal(resp_parse(&parser, bytes, head_len, &OPEN_LIMITS), RESP_MORE);
    assert_int_equal(resp_parser_needs(&parser), head_len + 100002);
    assert_int_equal(resp_parse(&parser, bytes, head_len, &OPEN_LIMITS), RESP_MORE);

    static char whole[200000];
    memcpy(whole, head, head_len);
    memset(whole + head_len, 'v', 100000);
    bytes = stage_put(whole, head_len + 100001);
    assert_int_equal(resp_parse(&parser, bytes, head_len + 100001, &OPEN_LIMITS), RESP_MORE);
    bytes = stage_put(whole, head_len + 100002);
    assert_int_equal(resp_parse(&parser, bytes, head_len + 100002, &OPEN_LIMITS), RESP_REQUEST);
    assert_int_equal(parser.consumed, head_len + 100002);
    assert_ptr_equal(parser.argv[0].ptr, bytes + 8);
    assert_ptr_equal(parser.argv[1].ptr, bytes + head_len);
    assert_int_equal(parser.argv[1].len, 100000);
    resp_parser_free(&parser);
}

static void a_reset_begins_the_request_again_and_keeps_the_array(void **state) {
    (void)state;
    struct resp_parser parser;
    resp_parser_init(&parser);
    assert_int_equal(resp_parser_allocated(&parser), 0);
    static const char request[] = "*2\r\n$1\r\na\r\n$1\r\nb\r\n";
    const size_t len = sizeof(request) - 1;
    char *bytes = stage_put(request, len);
    assert_int_equal(resp_parse(&parser, bytes, len, &OPEN_LIMITS), RESP_REQUEST);
    const struct slice *argv = parser.argv;
    assert_true(resp_parser_allocated(&parser) >= 2 * sizeof(struct slice));
    assert_int_equal(resp_parse(&parser, bytes, len - 3, &OPEN_LIMITS), RESP_MORE);
    assert_int_equal(parser.argc, 1);
    resp_parser_reset(&parser);
    assert_int_equal(parser.scanned, 0);

    bytes = stage_put("PING\r\n", 6);
    assert_int_equal(resp_parse(&parser, bytes, 6, &OPEN_LIMITS), RESP_REQUEST);
    assert_int_equal(parser.argc, 1);
    assert_ptr_equal(parser.argv[0].ptr, bytes);
    assert_ptr_equal(parser.argv, argv);
    resp_parser_free(&parser);
}

static void a_line_is_split_without_a_look_behind_its_end(void **state) {
    (void)state;
    static const struct {
        const char *line, *words[3];
        enum resp_split last;
    } cases[] = {
        {"", {NULL}, RESP_SPLIT_END},
        {" \t", {NULL}, RESP_SPLIT_END},
        {"save 900", {"save", "900"}, RESP_SPLIT_END},
        {"dir \"/a b\"", {"dir", "/a b"}, RESP_SPLIT_END},
        {"a '\\'' \"\\x41\"", {"a", "'", "A"}, RESP_SPLIT_END},
        {"a \"", {"a"}, RESP_SPLIT_UNBALANCED},
        {"a \"\\", {"a"}, RESP_SPLIT_UNBALANCED},
        {"a \"\\x", {"a"}, RESP_SPLIT_UNBALANCED},
        {"a \"\\x4", {"a"}, RESP_SPLIT_UNBALANCED},
        {"a \"\\x41", {"a"}, RESP_SPLIT_UNBALANCED},
        {"a '\\", {"a"}, RESP_SPLIT_UNBALANCED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t len = strlen(cases[i].line);
        char *at = stage_put(cases[i].line, len), *end = at + len;
        struct slice word;
        for (int n = 0; n < 3 && cases[i].words[n] != NULL; n++) {
            assert_int_equal(resp_split_next(&at, end, &word), RESP_SPLIT_ARGUMENT);
            assert_true(slice_equal(word, slice_of_cstr(cases[i].words[n])));
        }
        assert_int_equal(resp_split_next(&at, end, &word), cases[i].last);
    }
}

/* --- Random pipelines --- */

static struct random dice;

/* Appends formatted text at `at`; returns what is behind it. */
__attribute__((format(printf, 2, 3))) static char *print(char *at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(at, 64, format, args);
    va_end(args);
    assert_uint_in_range(len, 0, 63);
    return at + len;
}

static size_t random_request(char *out) {
    char *at = out;
    if (random_below(&dice, 4) == 0) {
        static const char alphabet[] = "ab \t\"'\\xn4\r*$1";
        for (uint64_t n = random_below(&dice, 12); n > 0; n--)
            *at++ = alphabet[random_below(&dice, sizeof(alphabet) - 1)];
        return (size_t)(print(at, "\r\n") - out);
    }
    uint64_t argc = random_below(&dice, 20) == 0 ? random_below(&dice, 40) : random_below(&dice, 5);
    at = print(at, "*%d\r\n", (int)argc);
    for (; argc > 0; argc--) {
        uint64_t len =
            random_below(&dice, 30) == 0 ? random_below(&dice, 2000) : random_below(&dice, 14);
        at = print(at, "$%d\r\n", (int)len);
        for (uint64_t i = 0; i < len; i++) *at++ = (char)random_below(&dice, 256);
        at = print(at, "\r\n");
    }
    return (size_t)(at - out);
}

static void mutate(char *bytes, size_t len) {
    static const char interesting[] = "*$\r\n0123456789-\"' \\\0x";
    for (uint64_t n = 1 + random_below(&dice, 3); n > 0; n--)
        bytes[random_below(&dice, len)] = interesting[random_below(&dice, sizeof(interesting))];
}

static void random_pipelines_parse_as_the_reference_says(void **state) {
    (void)state;
    dice = random_of_this_run();
    static char bytes[STAGE_SIZE];
    for (int round = 0; round < 4000; round++) {
        size_t len = 0;
        for (uint64_t n = 1 + random_below(&dice, 8); n > 0; n--)
            len += random_request(bytes + len);
        if (round % 2 == 1) mutate(bytes, len);
        const struct resp_limits *limits = random_below(&dice, 4) ? &OPEN_LIMITS : &LOCKED_LIMITS;
        reference_parse(&want, bytes, len, limits);
        parse_whole(&got, bytes, len, limits);
        assert_same(&got, &want);

        size_t cuts[64] = {0};
        size_t count = 0, at = 0;
        uint64_t stride = 1 + random_below(&dice, len);
        while (count < 60 && (at += 1 + random_below(&dice, stride)) < len) cuts[count++] = at;
        cuts[count] = len;
        parse_pieces(&got, bytes, cuts, limits);
        assert_same(&got, &want);
    }
}

static void a_request_of_many_arguments_survives_any_number_of_moves(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static char bytes[STAGE_SIZE];
    static size_t cuts[STAGE_SIZE];
    char *end = print(bytes, "*%d\r\n", COUNT);
    for (int i = 0; i < COUNT; i++) {
        char text[64];
        end = print(end, "$%d\r\n%s\r\n", (int)(print(text, "%d", i) - text), text);
    }
    size_t len = (size_t)(end - bytes);
    size_t pieces = 0;
    for (size_t at = 7; at < len; at += 97) cuts[pieces++] = at;
    cuts[pieces] = len;
    reference_parse(&want, bytes, len, &OPEN_LIMITS);
    parse_pieces(&got, bytes, cuts, &OPEN_LIMITS);
    assert_same(&got, &want);
    assert_int_equal(got.rest, 0);
}

static void an_argument_can_be_collected_elsewhere(void **state) {
    (void)state;
    static const char begun[] = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9\r\nabc";
    static const char whole[] = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9\r\n\r\n*1";
    struct resp_parser parser;
    resp_parser_init(&parser);
    char *at = stage_put(begun, sizeof(begun) - 1);
    assert_int_equal(resp_parse(&parser, at, sizeof(begun) - 1, &OPEN_LIMITS), RESP_MORE);
    assert_int_equal(parser.bulk_length, 9);
    size_t position = parser.position;
    assert_int_equal(position, sizeof(begun) - 1 - 3);
    assert_int_equal(resp_parser_take_out(&parser), 2);
    for (size_t len = position; len < position + 2; len++) {
        at = stage_put(whole, len);
        assert_int_equal(resp_parse(&parser, at, len, &OPEN_LIMITS), RESP_MORE);
    }
    at = stage_put(whole, sizeof(whole) - 1);
    assert_int_equal(resp_parse(&parser, at, sizeof(whole) - 1, &OPEN_LIMITS), RESP_REQUEST);
    assert_int_equal(parser.consumed, position + 2);
    assert_int_equal(parser.argc, 3);
    assert_true(slice_equal(parser.argv[1], SLICE("k")));
    assert_int_equal(parser.argv[2].len, 0);
    resp_parser_free(&parser);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_parses_as_the_reference_says_by_every_prefix),
        cmocka_unit_test(each_message_parses_the_same_however_it_is_cut),
        cmocka_unit_test(errors_have_the_texts_of_redis),
        cmocka_unit_test(lines_may_be_as_long_as_the_limit_and_no_longer),
        cmocka_unit_test(a_big_argument_is_asked_for_as_a_whole),
        cmocka_unit_test(an_argument_can_be_collected_elsewhere),
        cmocka_unit_test(a_reset_begins_the_request_again_and_keeps_the_array),
        cmocka_unit_test(a_line_is_split_without_a_look_behind_its_end),
        cmocka_unit_test(random_pipelines_parse_as_the_reference_says),
        cmocka_unit_test(a_request_of_many_arguments_survives_any_number_of_moves),
    };
    return cmocka_run_group_tests_name("parser", tests, stage_open, NULL);
}

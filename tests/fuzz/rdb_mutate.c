#include "fuzz/rdb_mutate.h"

#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "ds/lists/listpack.h"
#include "persist/rdb_format.h"
#include "persist/rdb_skip.h"
#include "persist/rdb_writer.h"

enum { ID_SIZE = 16 };

/* --- Finding strings --- */

static bool note(struct rdb_reader *reader, struct rdb_strings *strings,
                 enum rdb_string_kind kind) {
    struct rdb_string_place place = {.start = rdb_reader_offset(reader), .kind = kind};
    bool good = kind == RDB_KIND_ID ? rdb_skip_bytes(reader, ID_SIZE) : rdb_skip_string(reader);
    if (!good) return false;
    place.end = rdb_reader_offset(reader);
    if (strings->count < RDB_STRINGS_MAX) strings->places[strings->count++] = place;
    return true;
}

/* [n] (container string) …; without containers all are packed. */
static void find_nodes(struct rdb_reader *reader, struct rdb_strings *strings,
                       enum rdb_string_kind kind, bool containers) {
    uint64_t n, container = RDB_CONTAINER_PACKED;
    if (!rdb_read_length(reader, &n)) return;
    for (; n > 0; n--) {
        if (containers && !rdb_read_length(reader, &container)) return;
        if (!note(reader, strings, container == RDB_CONTAINER_PACKED ? kind : RDB_KIND_TEXT))
            return;
    }
}

/* Skips the score of a sorted set that is stored as text. */
static bool skip_score_text(struct rdb_reader *reader) {
    enum { SPECIAL_MIN = 253 }; /* NaN and infinities */
    uint8_t len;
    return rdb_read_byte(reader, &len) && (len >= SPECIAL_MIN || rdb_skip_bytes(reader, len));
}

static bool find_in_part(struct rdb_reader *reader, struct rdb_strings *strings, char part) {
    uint64_t length;
    switch (part) {
    case 's': return note(reader, strings, RDB_KIND_TEXT);
    case 't': return skip_score_text(reader);
    case 'i': return note(reader, strings, RDB_KIND_ID);
    case 'l': return rdb_read_length(reader, &length);
    default: return rdb_skip_bytes(reader, 8);
    }
}

/* These parts: s a string, t a score as text, i a raw id, l a length, 8 eight bytes. */
static bool find_parts(struct rdb_reader *reader, struct rdb_strings *strings, const char *parts) {
    for (const char *part = parts; *part; part++)
        if (!find_in_part(reader, strings, *part)) return false;
    return true;
}

/* [n] and n times these parts. */
static bool find_members(struct rdb_reader *reader, struct rdb_strings *strings,
                         const char *parts) {
    uint64_t n;
    if (!rdb_read_length(reader, &n)) return false;
    for (; n > 0; n--)
        if (!find_parts(reader, strings, parts)) return false;
    return true;
}

/* [n] consumer …; see persist/stream_groups_format.h. */
static bool find_consumers(struct rdb_reader *reader, unsigned type, struct rdb_strings *strings) {
    uint64_t n;
    const char *head = type >= RDB_STREAM_LISTPACKS_3 ? "s88" : "s8";
    if (!rdb_read_length(reader, &n)) return false;
    for (; n > 0; n--)
        if (!find_parts(reader, strings, head) || !find_members(reader, strings, "i")) return false;
    return type < RDB_STREAM_LISTPACKS_5 || find_members(reader, strings, "i");
}

/* [n] group … */
static bool find_groups(struct rdb_reader *reader, unsigned type, struct rdb_strings *strings) {
    uint64_t n;
    const char *head = type == RDB_STREAM_LISTPACKS ? "sll" : "slll";
    if (!rdb_read_length(reader, &n)) return false;
    for (; n > 0; n--)
        if (!find_parts(reader, strings, head) || !find_members(reader, strings, "i8l") ||
            !find_consumers(reader, type, strings))
            return false;
    return true;
}

/* See persist/stream_format.c. */
static bool find_producers(struct rdb_reader *reader, struct rdb_strings *strings) {
    uint64_t n;
    if (!find_parts(reader, strings, "ll") || !rdb_read_length(reader, &n)) return false;
    for (; n > 0; n--)
        if (!find_parts(reader, strings, "s") || !find_members(reader, strings, "sll"))
            return false;
    return find_parts(reader, strings, "ll");
}

/* [n] (id listpack) …, what is known besides, groups, producers. */
static void find_in_stream(struct rdb_reader *reader, unsigned type, struct rdb_strings *strings) {
    uint64_t n;
    const char *facts = type == RDB_STREAM_LISTPACKS ? "lll" : "llllllll";
    if (!rdb_read_length(reader, &n)) return;
    for (; n > 0; n--) {
        if (!note(reader, strings, RDB_KIND_TEXT) || !note(reader, strings, RDB_KIND_LISTPACK))
            return;
    }
    if (find_parts(reader, strings, facts) && find_groups(reader, type, strings) &&
        type >= RDB_STREAM_LISTPACKS_4)
        find_producers(reader, strings);
}

void rdb_find_in_value(struct rdb_reader *reader, unsigned type, struct rdb_strings *strings) {
    if (type == RDB_HASH_LISTPACK_EX || type == RDB_HASH_METADATA) rdb_skip_bytes(reader, 8);
    switch (type) {
    case RDB_STRING:
    case RDB_SET_INTSET:
    case RDB_HASH_ZIPMAP: note(reader, strings, RDB_KIND_TEXT); break;
    case RDB_SET:
    case RDB_LIST: find_members(reader, strings, "s"); break;
    case RDB_ZSET: find_members(reader, strings, "st"); break;
    case RDB_ZSET_2: find_members(reader, strings, "s8"); break;
    case RDB_HASH: find_members(reader, strings, "ss"); break;
    case RDB_HASH_2: find_members(reader, strings, "ss8"); break;
    case RDB_HASH_METADATA: find_members(reader, strings, "lss"); break;
    case RDB_HASH_ZIPLIST:
    case RDB_ZSET_ZIPLIST:
    case RDB_LIST_ZIPLIST: note(reader, strings, RDB_KIND_ZIPLIST); break;
    case RDB_HASH_LISTPACK_EX:
    case RDB_HASH_LISTPACK_EX_PRE_GA:
    case RDB_HASH_LISTPACK:
    case RDB_ZSET_LISTPACK:
    case RDB_SET_LISTPACK: note(reader, strings, RDB_KIND_LISTPACK); break;
    case RDB_LIST_QUICKLIST: find_nodes(reader, strings, RDB_KIND_ZIPLIST, false); break;
    case RDB_LIST_QUICKLIST_2: find_nodes(reader, strings, RDB_KIND_LISTPACK, true); break;
    case RDB_STREAM_LISTPACKS:
    case RDB_STREAM_LISTPACKS_2:
    case RDB_STREAM_LISTPACKS_3:
    case RDB_STREAM_LISTPACKS_4:
    case RDB_STREAM_LISTPACKS_5: find_in_stream(reader, type, strings); break;
    default: rdb_skip_value(reader, type);
    }
    strings->end = rdb_reader_offset(reader);
}

/* Skips what stands between the keys. Returns false where the iteration must end. */
static bool find_in_item(struct rdb_reader *reader, uint8_t opcode, struct rdb_strings *strings) {
    uint64_t length;
    switch (opcode) {
    case RDB_AUX:
        return note(reader, strings, RDB_KIND_TEXT) && note(reader, strings, RDB_KIND_TEXT);
    case RDB_FUNCTION2: return note(reader, strings, RDB_KIND_TEXT);
    case RDB_SELECTDB:
    case RDB_IDLE: return rdb_read_length(reader, &length);
    case RDB_RESIZEDB: return rdb_read_length(reader, &length) && rdb_read_length(reader, &length);
    case RDB_EXPIRETIME_MS: return rdb_skip_bytes(reader, 8);
    case RDB_EXPIRETIME: return rdb_skip_bytes(reader, 4);
    case RDB_FREQ: return rdb_skip_bytes(reader, 1);
    }
    if (rdb_foreign_name(opcode, true)) return rdb_skip_foreign(reader, opcode, true);
    if (!rdb_type_name(opcode) || !note(reader, strings, RDB_KIND_TEXT)) return false;
    rdb_find_in_value(reader, opcode, strings);
    return true;
}

void rdb_find_in_file(struct rdb_reader *reader, struct rdb_strings *strings) {
    uint8_t opcode;
    while (rdb_read_byte(reader, &opcode) && opcode != RDB_EOF &&
           find_in_item(reader, opcode, strings))
        ;
    strings->end = rdb_reader_offset(reader);
}

/* --- Putting listpacks and ziplists right --- */

/* Bytes of encoding and data of the element at `p`; more than there are when it is cut off. */
static size_t listpack_data_size(const uint8_t *p, size_t left) {
    uint32_t len32;
    if (*p < LISTPACK_STRING6) return 1;
    if (*p < LISTPACK_INTEGER13) return 1 + (size_t)(*p & 63);
    if (*p < LISTPACK_STRING12) return 2;
    if (*p < LISTPACK_STRING32) return left < 2 ? SIZE_MAX : 2 + ((*p & 15u) << 8 | p[1]);
    switch (*p) {
    case LISTPACK_INTEGER16: return 3;
    case LISTPACK_INTEGER24: return 4;
    case LISTPACK_INTEGER32: return 5;
    case LISTPACK_INTEGER64: return 9;
    case LISTPACK_STRING32:
        if (left < 5) return SIZE_MAX;
        memcpy(&len32, p + 1, sizeof(len32));
        return 5 + (size_t)len32;
    }
    return SIZE_MAX;
}

/* Writes the back length of an element whose encoding and data take `size` bytes. */
static size_t write_back_length(uint8_t *p, size_t left, size_t size) {
    size_t width = size < 128 ? 1 : size < 16383 ? 2 : size < 2097151 ? 3 : 4;
    if (width > left) return SIZE_MAX;
    for (size_t i = 0; i < width; i++)
        p[i] = (uint8_t)((size >> 7 * (width - 1 - i) & 127) | (i > 0 ? 128 : 0));
    return width;
}

/* Makes a listpack of anything: the back lengths are written over what is behind the elements, and
 * the end where no more elements fit. Returns its size. */
static size_t repair_listpack(uint8_t *bytes, size_t size) {
    size_t at = LISTPACK_HEADER_SIZE, count = 0;
    if (size < LISTPACK_OVERHEAD) return size;
    while (at < size - 1) {
        size_t left = size - 1 - at, data = listpack_data_size(bytes + at, left);
        if (data >= left) break;
        size_t width = write_back_length(bytes + at + data, left - data, data);
        if (width > left - data) break;
        at += data + width;
        count++;
    }
    listpack_write_header(bytes, at - LISTPACK_HEADER_SIZE, count);
    bytes[at] = LISTPACK_END;
    return at + 1;
}

/* Bytes of encoding and data of a ziplist's entry. */
static size_t ziplist_data_size(const uint8_t *p, size_t left) {
    uint32_t len32;
    switch (*p >> 6) {
    case 0: return 1 + (size_t)*p;
    case 1: return left < 2 ? SIZE_MAX : 2 + ((*p & 63u) << 8 | p[1]);
    case 2:
        if (left < 5) return SIZE_MAX;
        memcpy(&len32, p + 1, sizeof(len32));
        return 5 + (size_t)__builtin_bswap32(len32);
    }
    switch (*p) {
    case 0xC0: return 3;
    case 0xD0: return 5;
    case 0xE0: return 9;
    case 0xF0: return 4;
    case 0xFE: return 2;
    }
    return *p > 0xF0 && *p < 0xFE ? 1 : SIZE_MAX;
}

/* The same of a ziplist, over whose entries the size of the one before is written. */
static size_t repair_ziplist(uint8_t *bytes, size_t size) {
    enum { HEADER = 10, LONG = 254 };
    size_t at = HEADER, last = HEADER, before = 0;
    uint16_t count = 0;
    if (size < HEADER + 1) return size;
    while (at < size - 1) {
        size_t left = size - 1 - at, prefix = before < LONG ? 1 : 5;
        if (left <= prefix) break;
        size_t data = ziplist_data_size(bytes + at + prefix, left - prefix);
        if (data > left - prefix) break;
        uint32_t before32 = (uint32_t)before;
        bytes[at] = (uint8_t)(before < LONG ? before : LONG);
        if (prefix > 1) memcpy(bytes + at + 1, &before32, sizeof(before32));
        before = prefix + data;
        last = at;
        at += before;
        count++;
    }
    uint32_t total = (uint32_t)at + 1, tail = (uint32_t)last;
    memcpy(bytes, &total, 4), memcpy(bytes + 4, &tail, 4), memcpy(bytes + 8, &count, 2);
    bytes[at] = 0xFF;
    return at + 1;
}

/* --- Mutating --- */

static bool append(void *arg, const void *bytes, size_t len) {
    sds *out = arg;
    *out = sds_append(*out, slice_make(bytes, len));
    return true;
}

/* Returns the text as it is stored in a file. */
static sds stored(struct slice text, bool compress) {
    struct rdb_writer writer;
    sds out = sds_new(SLICE(""));
    rdb_writer_start(&writer, (struct rdb_sink){.write = append, .arg = &out}, compress, false);
    rdb_write_string(&writer, text);
    rdb_writer_flush(&writer);
    rdb_writer_end(&writer);
    return out;
}

/* Returns the changed text of a string; empty when it is malformed. */
static sds mutated_text(struct slice string, enum rdb_string_kind kind, size_t room,
                        struct random *random) {
    struct rdb_reader reader;
    struct slice text;
    sds out = sds_new(SLICE(""));
    rdb_reader_start_memory(&reader, string, false);
    if (rdb_read_string(&reader, &text)) {
        size_t capacity = text.len + room + 1;
        uint8_t *bytes = mem_alloc(capacity);
        slice_copy((char *)bytes, text);
        size_t len = LLVMFuzzerMutate(bytes, text.len, capacity);
        bool repair = random_below(random, 4) != 0;
        if (repair && kind == RDB_KIND_LISTPACK) len = repair_listpack(bytes, len);
        if (repair && kind == RDB_KIND_ZIPLIST) len = repair_ziplist(bytes, len);
        out = sds_append(out, slice_make(bytes, len));
        mem_free(bytes);
    }
    rdb_reader_end(&reader);
    return out;
}

static size_t mutate_string(uint8_t *bytes, size_t size, size_t room,
                            const struct rdb_string_place *place, struct random *random) {
    struct slice string = slice_make(bytes + place->start, place->end - place->start);
    sds text = mutated_text(string, place->kind, room - size, random);
    sds replacement = stored(sds_slice(text), random_below(random, 2));
    size_t behind = size - place->end, new_size = place->start + sds_len(replacement) + behind;
    if (new_size <= room) {
        memmove(bytes + place->start + sds_len(replacement), bytes + place->end, behind);
        slice_copy((char *)bytes + place->start, sds_slice(replacement));
        size = new_size;
    }
    sds_free(text);
    sds_free(replacement);
    return size;
}

/* Puts another id of the input in the place, so that one stands there twice or is unknown, or
 * changes a bit. */
static void mutate_id(uint8_t *bytes, const struct rdb_strings *strings, size_t index,
                      struct random *random) {
    const struct rdb_string_place *place = &strings->places[index];
    const struct rdb_string_place *other = &strings->places[random_below(random, strings->count)];
    if (other->kind == RDB_KIND_ID && random_below(random, 4))
        memmove(bytes + place->start, bytes + other->start, ID_SIZE);
    else
        bytes[place->start + random_below(random, ID_SIZE)] ^=
            (uint8_t)(1 << random_below(random, 8));
}

size_t rdb_mutate(uint8_t *bytes, size_t size, size_t room, const struct rdb_strings *strings,
                  unsigned seed) {
    struct random random;
    random_seed(&random, seed);
    if (strings->count == 0 || random_below(&random, 2)) return LLVMFuzzerMutate(bytes, size, room);
    size_t index = random_below(&random, strings->count);
    if (strings->places[index].kind != RDB_KIND_ID)
        return mutate_string(bytes, size, room, &strings->places[index], &random);
    mutate_id(bytes, strings, index, &random);
    return size;
}

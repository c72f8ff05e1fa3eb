/* Payloads of FUNCTION DUMP: whatever the bytes, there are codes of libraries or an error; what was
 * read can be written, and is read back. The first line of each code is parsed, too.
 *
 * Input: a byte (odd: the checksum is verified), then the payload. */
#include "persist/dump.h"

#include "base/memory/alloc.h"
#include "fuzz/rdb_digest.h"
#include "persist/function_code.h"
#include "persist/rdb_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a payload held, and the same as a new payload. */
struct held {
    uint64_t digest;
    sds payload;
    struct rdb_writer writer;
};

static void check_first_line(struct slice code) {
    struct function_code parsed;
    sds error = NULL;
    bool good = function_code_parse(&parsed, code, &error);
    require(good == (error == NULL), "a name, or an error");
    if (good) {
        require(function_name_is_valid(sds_slice(parsed.name)), "a valid name");
        require(parsed.body.len > 0 && parsed.body.ptr[0] == '\n', "the rest of the code");
        require(slice_end(parsed.body) == slice_end(code), "all of it");
        function_code_free(&parsed);
    }
    sds_free(error);
}

static bool take(void *arg, struct slice code) {
    struct held *held = arg;
    held->digest = digest_bytes(held->digest, code);
    rdb_write_function(&held->writer, code);
    check_first_line(code);
    return true;
}

static const char *read_payload(struct slice payload, bool skip_checksum, struct held *held) {
    *held = (struct held){.payload = sds_new(SLICE(""))};
    dump_start(&held->writer, &held->payload, payload.len % 2);
    const char *error = dump_read_function(payload, skip_checksum, take, held);
    dump_end(&held->writer);
    return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    /* An allocation of its own, so that the sanitizer sees a read past its end. */
    char *bytes = mem_alloc(size - 1);
    slice_copy(bytes, slice_make(data + 1, size - 1));
    struct held held, again;
    size_t before = mem_used();
    read_payload(slice_make(bytes, size - 1), data[0] % 2 == 0, &held);
    require(mem_used() - before <= 400 * size + (1 << 20), "memory in proportion to the payload");
    mem_free(bytes);
    require(!read_payload(sds_slice(held.payload), false, &again), "what was written is good");
    require(again.digest == held.digest, "and the same");
    sds_free(held.payload);
    sds_free(again.payload);
    return 0;
}

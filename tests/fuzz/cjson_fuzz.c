/* First byte: settings; the rest is a JSON text. What can be decoded and encoded again is the same,
 * except that numbers have lost what encoding rounds, and stable: the next round changes nothing. */
#include "fuzz/run_script.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char SCRIPT[] =
    "local text, options = ... "
    "cjson.decode_array_with_array_mt(options % 2 == 1) "
    "cjson.decode_invalid_numbers(options % 4 < 2) "
    "if options % 8 > 3 then cjson.decode_max_depth(2000000000) cjson.encode_max_depth(8000) end "
    "local ok, value = pcall(cjson.decode, text) "
    "if not ok then return end "
    "local ok, encoded = pcall(cjson.encode, value) "
    "if not ok then return end " /* not a finite number, or too deep */
    "local once = cjson.decode(encoded) "
    "assert(same(value, once, 1e-13), 'not the same') " /* 14 digits are written */
    "local twice = cjson.decode(cjson.encode(once)) "
    "assert(same(once, twice), 'not stable') "
    "if options % 2 == 1 then assert(#cjson.encode(once) == #encoded, 'not as long') end "
    /* Settings for what is written. */
    "cjson.encode_sparse_array(true, 1, 0) "
    "cjson.encode_number_precision(1 + options % 14) "
    "cjson.encode_invalid_numbers('null') "
    "cjson.decode(cjson.encode(value))";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    run_script(SCRIPT, slice_make(data + 1, size - 1), data[0]);
    return 0;
}

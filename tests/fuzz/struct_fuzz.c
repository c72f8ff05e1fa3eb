/* First byte: the length of the format that follows; the rest is data. What is unpacked ends where the
 * data does, or before; what a format without sizes in the data unpacks, it packs to bytes of which it
 * unpacks the same. */
#include "fuzz/run_script.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char SCRIPT[] =
    "local input, length = ... "
    "local format, bytes = input:sub(1, length), input:sub(length + 1) "
    "for offset = -1, 3 do pcall(struct.unpack, format, bytes, offset) end "
    "pcall(struct.pack, format, bytes, 1, bytes, 2) "
    "pcall(struct.pack, format, 1e300, -1e300, 0/0, 1/0, bytes) "
    "local known, size = pcall(struct.size, format) "
    "local first = {pcall(struct.unpack, format, bytes)} "
    "if not first[1] then return end "
    "assert(first[#first] <= #bytes + 1, 'beyond the data') "
    "if format:find('c0', 1, true) then return end "
    /* A double holds integers above 2^53 rounded, perhaps to one that does not fit into its bytes. */
    "for i = 2, #first do "
    "if type(first[i]) == 'number' and math.abs(first[i]) >= 2 ^ 53 then return end end "
    "local packed = struct.pack(format, unpack(first, 2)) "
    "assert(not known or size == #packed, 'not of this size') "
    "assert(#packed == first[#first] - 1, 'not as long') "
    "assert(same(first, {pcall(struct.unpack, format, packed)}), 'not the same')";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    run_script(SCRIPT, slice_make(data + 1, size - 1), data[0]);
    return 0;
}

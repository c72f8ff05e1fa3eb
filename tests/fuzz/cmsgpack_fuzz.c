/* The whole input is MessagePack. What can be unpacked is, when it is packed and unpacked again, the
 * same, unless it is nested too deep, which the first round cuts, and stable from then on. Read value
 * by value it is the same as at once. */
#include "fuzz/run_script.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char SCRIPT[] =
    "local bytes = ... "
    "local fits fits = function(value, levels) "
    "if type(value) ~= 'table' then return true end "
    "if levels == 0 then return false end "
    "for _, inner in pairs(value) do if not fits(inner, levels - 1) then return false end end "
    "return true end "
    "local all = {pcall(cmsgpack.unpack, bytes)} "
    "local count = table.maxn(all) "
    "local offset = 0 "
    "for i = 2, count + 1 do "
    "local result = {pcall(cmsgpack.unpack_one, bytes, offset)} "
    "if not result[1] then assert(not all[1], 'an error of one') break end "
    "if all[1] and i <= count then assert(same(result[3], all[i]), 'one is another') end "
    "offset = result[2] "
    "if offset == -1 then break end end "
    "pcall(cmsgpack.unpack_limit, bytes, 3, 1) "
    "if not all[1] then return end "
    "for i = 2, count do "
    "local ok, once = pcall(cmsgpack.unpack, (cmsgpack.pack(all[i]))) "
    "if ok then " /* a key that was too deep is nil now */
    "assert(not fits(all[i], 16) or same(all[i], once), 'not the same') "
    "local ok, twice = pcall(cmsgpack.unpack, (cmsgpack.pack(once))) "
    "assert(ok and same(once, twice), 'not stable') end end";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run_script(SCRIPT, slice_make(data, size), 0);
    return 0;
}

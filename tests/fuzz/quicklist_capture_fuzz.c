/* quicklist_capture: whatever edits lists go through, their captures keep the contents of the
 * moment of the capture. The input is two bytes of limits, then edits of six bytes each. */
#include "unit/quicklist_edits.h"

enum { LISTS = 2, EDITS_MAX = 50, CHECKED = 25 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    struct quicklist_edit first = {.at = data[0], .size = data[1]};
    struct list_pair pairs[LISTS];
    size_t used = mem_used();
    for (int i = 0; i < LISTS; i++) pair_begin(&pairs[i], edit_limits(&first));
    size_t edits = (size - 2) / EDIT_SIZE;
    if (edits > EDITS_MAX) edits = EDITS_MAX;
    for (size_t i = 0; i < edits; i++) {
        struct quicklist_edit edit = edit_of_bytes(data + 2 + i * EDIT_SIZE);
        struct list_pair *pair = &pairs[edit.kind / EDIT_KINDS % LISTS];
        if (edit.kind % EDIT_KINDS == EDIT_RELEASE) pair_check(pair);
        pair_edit(pair, &edit);
        if (i % CHECKED == 0) pair_check(pair);
    }
    for (int i = 0; i < LISTS; i++) pair_check(&pairs[i]);
    for (int i = 0; i < LISTS; i++) pair_end(&pairs[i], i % 2);
    edits_require(mem_used() == used);
    return 0;
}

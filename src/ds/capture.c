#include "ds/capture.h"

#include "base/alloc.h"
#include "base/checked.h"

void *capture_begin(const struct capture_functions *functions, size_t size, struct capture **place,
                    size_t *left) {
    CHECKED_ASSERT(!place || !*place);
    struct capture *capture = mem_alloc(size);
    *capture = (struct capture){.functions = functions,
                                .place = place,
                                .allocated = mem_good_size(size),
                                .left = {.bytes_of_all = left}};
    if (place) *place = capture;
    return capture;
}

void capture_drop(struct capture *capture, void *memory, size_t size) {
    if (capture)
        leftovers_add(&capture->left, memory, size);
    else
        mem_free_sized(memory, size);
}

bool capture_adopts(struct capture **place, void *structure, size_t allocated) {
    struct capture *capture = *place;
    if (!capture) return false;
    leftovers_count(&capture->left, allocated);
    capture->orphan = structure;
    capture->place = NULL;
    *place = NULL;
    return true;
}

/* `left` is read last: until the release another thread may free a text, which counts bytes. */
size_t capture_release(struct capture *capture) {
    if (capture->functions->release) capture->functions->release(capture);
    if (capture->place) *capture->place = NULL;
    capture->place = NULL;
    size_t left = capture->left.bytes;
    if (capture->left.bytes_of_all) *capture->left.bytes_of_all -= left;
    return left;
}

void capture_free(struct capture *capture) {
    CHECKED_ASSERT(!capture->place);
    if (capture->functions->free) capture->functions->free(capture);
    leftovers_free(&capture->left);
    mem_free(capture);
}

void capture_end(struct capture *capture) {
    capture_release(capture);
    capture_free(capture);
}

#include "ds/pieces.h"

#include "base/checked.h"
#include "base/memory/relocate.h"

#include <string.h>

void *piece_enter(const struct piece_visitor *visitor, void *piece, size_t size) {
    (void)visitor, (void)size;
    return piece;
}

static void leave_as_it_is(const struct piece_visitor *visitor, void *piece, size_t size,
                           uint32_t *epoch) {
    (void)visitor, (void)piece, (void)size, (void)epoch;
}

/* --- Dropping --- */

static void drop_piece(const struct piece_visitor *visitor, void *piece, size_t size,
                       uint32_t *epoch) {
    pieces_drop(((const struct piece_dropper *)visitor)->pieces, epoch ? *epoch : PIECES_UNREAD,
                piece, size);
}

struct piece_dropper pieces_dropper(struct pieces *pieces) {
    return (struct piece_dropper){{piece_enter, drop_piece}, pieces};
}

/* --- Copying --- */

static void *copy_piece(const struct piece_visitor *visitor, void *piece, size_t size) {
    return memcpy(pieces_alloc(((const struct piece_copier *)visitor)->pieces, size), piece, size);
}

struct piece_copier pieces_copier(struct pieces *pieces) {
    return (struct piece_copier){{copy_piece, leave_as_it_is}, pieces};
}

/* --- Relocating --- */

static void *relocate_piece(const struct piece_visitor *visitor, void *piece, size_t size) {
    return relocate(((const struct piece_relocator *)visitor)->relocator, piece, size);
}

struct piece_relocator pieces_relocator(struct relocator *relocator) {
    return (struct piece_relocator){{relocate_piece, leave_as_it_is}, relocator};
}

/* --- Counting --- */

static void *count_piece(const struct piece_visitor *visitor, void *piece, size_t size) {
    pieces_count(((const struct piece_counter *)visitor)->totals, size);
    return piece;
}

static void note_epoch(const struct piece_visitor *visitor, void *piece, size_t size,
                       uint32_t *epoch) {
    uint32_t *latest = &((const struct piece_counter *)visitor)->totals->captures.epoch;
    (void)piece, (void)size;
    if (epoch && *epoch > *latest) *latest = *epoch;
}

struct piece_counter pieces_counter(struct pieces *totals) {
    return (struct piece_counter){{count_piece, note_epoch}, totals};
}

/* --- Renewing --- */

static void set_least_epoch(const struct piece_visitor *visitor, void *piece, size_t size,
                            uint32_t *epoch) {
    (void)visitor, (void)piece, (void)size;
    if (epoch) *epoch = 0;
}

const struct piece_visitor *pieces_renew(struct pieces *pieces) {
    static const struct piece_visitor visitor = {piece_enter, set_least_epoch};
    CHECKED_ASSERT(!pieces_are_captured(pieces));
    pieces->captures.epoch = 1;
    return &visitor;
}

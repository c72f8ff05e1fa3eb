#include "ds/pieces.h"

#include "base/relocate.h"

#include <string.h>

static void leave_as_it_is(const struct piece_visitor *visitor, void *piece, size_t size) {
    (void)visitor, (void)piece, (void)size;
}

/* --- Freeing --- */

static void *enter_as_it_is(const struct piece_visitor *visitor, void *piece, size_t size) {
    (void)visitor, (void)size;
    return piece;
}

static void free_piece(const struct piece_visitor *visitor, void *piece, size_t size) {
    (void)visitor;
    mem_free_sized(piece, size);
}

const struct piece_visitor pieces_free = {enter_as_it_is, free_piece};

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

struct piece_counter pieces_counter(struct pieces *totals) {
    return (struct piece_counter){{count_piece, leave_as_it_is}, totals};
}

/* lolwut: LOLWUT draws lists as this server stores them: packed side by side, without gaps.
 *
 *      +-----+--+--------+
 *      |     |::|########|
 *      +--+--+--+-----+--+
 *      |//|     |.....|  |
 *      +--+-----+-----+--+
 *
 * Each row is a list and each box an element. Where boxes end and how they are shaded is random. */
#include "admin/admin_commands.h"
#include "base/version.h"
#include "engine/engine.h"

enum {
    COLUMNS_DEFAULT = 66,
    COLUMNS_MAX = 200,
    ROWS_DEFAULT = 5,
    ROWS_MAX = 50,
    BOX_MIN = 3, /* columns with one edge */
    BOX_MAX = 14
};

/* Whether a box ends at a column. The first and the last column always are edges. */
typedef bool edges[COLUMNS_MAX + 1];

static unsigned chance(struct engine *engine, unsigned below) {
    return (unsigned)random_below(&engine->random, below);
}

static void pack(struct engine *engine, edges row, unsigned columns) {
    for (unsigned i = 0; i <= columns; i++) row[i] = false;
    row[0] = row[columns - 1] = true;
    unsigned at = BOX_MIN + chance(engine, BOX_MAX - BOX_MIN);
    for (; at + BOX_MIN < columns; at += BOX_MIN + chance(engine, BOX_MAX - BOX_MIN))
        row[at] = true;
}

/* Appends the border between two rows; NULL is outside. */
static sds append_border(sds out, const bool *above, const bool *below, unsigned columns) {
    for (unsigned i = 0; i < columns; i++) {
        bool corner = (above && above[i]) || (below && below[i]);
        out = sds_append_cstr(out, corner ? "+" : "-");
    }
    return sds_append_cstr(out, "\n");
}

static sds append_boxes(struct engine *engine, sds out, const bool *row, unsigned columns) {
    static const char shades[] = "   .:#/";
    char shade = ' ';
    for (unsigned i = 0; i < columns; i++) {
        if (row[i]) shade = shades[chance(engine, sizeof(shades) - 1)];
        out = sds_append(out, slice_make(row[i] ? "|" : &shade, 1));
    }
    return sds_append_cstr(out, "\n");
}

static sds append_drawing(struct engine *engine, sds out, unsigned columns, unsigned rows) {
    edges lists[2];
    const bool *above = NULL;
    for (unsigned i = 0; i < rows; i++) {
        bool *row = lists[i % 2];
        pack(engine, row, columns);
        out = append_border(out, above, row, columns);
        out = append_boxes(engine, out, row, columns);
        above = row;
    }
    return append_border(out, above, NULL, columns);
}

/* Reads the number at argv[index], if there is one, and limits it to [min, max]. Returns false when
 * it is not a number. */
static bool read_size(struct call *call, size_t index, unsigned min, unsigned max, unsigned *size) {
    int64_t number;
    if (index >= call->argc) return true;
    if (!call_integer(call, index, &number)) return false;
    *size = number < min ? min : number > max ? max : (unsigned)number;
    return true;
}

/* LOLWUT [VERSION version [columns [rows]]]: the same drawing for all versions. */
void lolwut_command(struct call *call) {
    unsigned version = 0, columns = COLUMNS_DEFAULT, rows = ROWS_DEFAULT;
    if (call->argc >= 3 && slice_is(call->argv[1], "version") &&
        (!read_size(call, 2, 0, UINT32_MAX, &version) ||
         !read_size(call, 3, 2 * BOX_MIN, COLUMNS_MAX, &columns) ||
         !read_size(call, 4, 1, ROWS_MAX, &rows)))
        return;
    sds out = append_drawing(call->engine, sds_new(SLICE("")), columns, rows);
    out = sds_append_cstr(out, "\nLists, packed. Packlist " PACKLIST_VERSION
                               ", as Redis ver. " PACKLIST_REDIS_VERSION "\n");
    call_answer_text(call, out);
}

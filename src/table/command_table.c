/* command_table: the families of commands, joined.
 *
 *      lists … | strings … | keys … | …
 *
 * The rows are copied into one array at start, so that a command's index is the difference of two
 * pointers. */
#include "table/command_table.h"

#include <assert.h>
#include <string.h>

static const struct command_family *const families[] = {
    &command_family_lists,        &command_family_strings,    &command_family_keys,
    &command_family_transactions, &command_family_pubsub,     &command_family_connection,
    &command_family_admin,        &command_family_standalone,
};

static struct command table[COMMANDS_MAX];
static size_t table_count;

void command_table_join(void) {
    table_count = 0;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        const struct command_family *family = families[i];
        assert(family->count <= COMMANDS_MAX - table_count);
        memcpy(table + table_count, family->rows, family->count * sizeof(table[0]));
        table_count += family->count;
    }
}

const struct command *command_all(size_t *count) {
    *count = table_count;
    return table;
}

size_t command_index(const struct command *command) {
    return (size_t)(command - table);
}

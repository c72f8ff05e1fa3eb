/* A configuration file is read or refused, whatever its bytes; a rewrite of one that was read gives
 * the same values when it is read again. */
#include "config/config_table.h"

#include <stdlib.h>

/* Their lines take the place of all others. */
static const char users[] = "user  off\nuser \"a' on ~\\ (+get ~*)\nuser b nopass\n";

static void check_rewrite(const struct config *config, struct slice text) {
    struct config again;
    struct config_source source = {0};
    sds error = NULL;
    sds rewritten = config_rewrite_text(config, slice_of_cstr(users), text, text.len & 1);
    config_init(&again);
    if (!config_load_text(&again, &source, "rewritten", sds_slice(rewritten), &error)) abort();
    if (source.user_count != 3) abort();
    for (size_t i = 0; i < config_table_count; i++)
        if (!config_same_value(config, &again, &config_table[i])) abort();
    log_set_level(LOG_NOTHING);
    config_log_notes(&source);
    config_forget_users(&source);
    config_free(&again);
    sds_free(rewritten);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config config;
    struct config_source source = {0};
    struct slice text = slice_make(data, size);
    sds error = NULL;
    config_init(&config);
    bool done = config_load_text(&config, &source, "file", text, &error);
    if (done != (error == NULL)) abort();
    if (done) check_rewrite(&config, text);
    sds_free(error);
    log_set_level(LOG_NOTHING);
    config_log_notes(&source);
    config_forget_users(&source);
    config_free(&config);
    return 0;
}

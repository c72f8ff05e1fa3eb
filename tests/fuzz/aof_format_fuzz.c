/* Whatever the bytes, commands of a file are found whole or refused, in the same way when the file
 * comes in pieces; a manifest is read or refused, and one that was read is the same when it is
 * written and read again. */
#include "persist/aof_manifest.h"
#include "persist/command_reader.h"

#include <stdlib.h>

static void check_item(const struct command_parser *parser, const char *bytes, size_t len) {
    if (parser->consumed == 0 || parser->consumed > len || parser->argc == 0) abort();
    for (size_t i = 0; i < parser->argc; i++) {
        struct slice argument = parser->argv[i];
        if (argument.ptr < bytes || slice_end(argument) > bytes + parser->consumed) abort();
    }
    struct command_parser shorter = {0};
    if (command_parse(&shorter, bytes, parser->consumed - 1) != COMMAND_ITEM_MORE) abort();
    command_parser_free(&shorter);
}

static void check_commands(const char *bytes, size_t len) {
    struct command_parser parser = {0};
    enum command_item item;
    while ((item = command_parse(&parser, bytes, len)) <= COMMAND_ITEM_ANNOTATION) {
        check_item(&parser, bytes, len);
        bytes += parser.consumed;
        len -= parser.consumed;
    }
    if (item == COMMAND_ITEM_BAD && (parser.error == NULL || parser.error_at > len)) abort();
    command_parser_free(&parser);
}

static void check_manifest(struct slice text) {
    struct aof_manifest manifest = {0}, again = {0};
    sds error = NULL;
    if (aof_manifest_parse(&manifest, text, &error)) {
        sds written = aof_manifest_format(&manifest);
        if (!aof_manifest_parse(&again, sds_slice(written), &error)) abort();
        sds twice = aof_manifest_format(&again);
        if (!slice_equal(sds_slice(written), sds_slice(twice))) abort();
        sds_free(twice);
        sds_free(written);
    }
    sds_free(error);
    aof_manifest_free(&manifest);
    aof_manifest_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    if (*data == 'f' || *data == '\n')
        check_manifest(slice_make(data, size));
    else
        check_commands((const char *)data, size);
    return 0;
}

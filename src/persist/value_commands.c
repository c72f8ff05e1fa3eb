#include "persist/value_commands.h"

void value_commands_begin(struct value_commands *commands, const char *name, struct slice key,
                          size_t arguments) {
    reply_array(&commands->bytes, 2 + arguments);
    reply_bulk_cstr(&commands->bytes, name);
    reply_bulk(&commands->bytes, key);
}

bool value_commands_end(struct value_commands *commands) {
    return commands->ended(commands);
}

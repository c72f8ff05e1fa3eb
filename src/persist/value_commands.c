#include "persist/value_commands.h"

#include "persist/type_format.h"

void value_commands_begin(struct value_commands *commands, const char *name, struct slice key,
                          size_t arguments) {
    reply_array(&commands->bytes, 2 + arguments);
    reply_bulk_cstr(&commands->bytes, name);
    reply_bulk(&commands->bytes, key);
}

bool value_commands_end(struct value_commands *commands) {
    return commands->ended(commands);
}

bool value_commands_write(struct value_commands *commands, const struct entry *entry) {
    if (!type_format_of_entry(entry)->write_commands(commands, entry)) return false;
    if (entry_expiry(entry) < 0) return true;
    value_commands_begin(commands, "PEXPIREAT", entry_key(entry), 1);
    reply_bulk_integer(&commands->bytes, entry_expiry(entry));
    return value_commands_end(commands);
}

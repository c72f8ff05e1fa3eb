/* made_commands: commands for the command log (journal/command_log.h) that another thread makes, in
 * the bytes in which they stand there. */
#ifndef PACKLIST_RESP_MADE_COMMANDS_H
#define PACKLIST_RESP_MADE_COMMANDS_H

#include "resp/made_reply.h"

#include <stdint.h>

/* Zeroed, there are none, and it may be freed. */
struct made_commands {
    struct made_reply bytes; /* in pieces of whole commands, once it was ended */
    uint64_t count;
};

/* Begins without commands. In any thread, as the next two. */
static inline void made_commands_begin(struct made_commands *made) {
    *made = (struct made_commands){.count = 0};
    made_reply_begin(&made->bytes, 2);
}

/* Adds a command, whose arguments are copied. O(bytes). */
static inline void made_commands_add(struct made_commands *made, const struct slice *argv,
                                     size_t argc) {
    made->count++;
    reply_request(&made->bytes.reply, argv, argc);
    made_reply_grow(&made->bytes);
}

/* To be called after the last one. */
static inline void made_commands_end(struct made_commands *made) {
    made_reply_end(&made->bytes);
}

static inline void made_commands_free(struct made_commands *made) {
    made_reply_free(&made->bytes);
}

#endif

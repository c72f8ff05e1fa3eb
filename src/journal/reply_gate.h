/* reply_gate: holds replies back until the changes that they confirm are safe (docs/durability.md,
 * section 5).
 *
 * The append-only file sets the offset of the command log up to which replies may leave. While the
 * log is longer than that, session/outbox.c holds all output, until session_release_replies
 * (requests/session_input.c) at the end of the loop iteration at the latest. When the gate denies,
 * the server disconnects the clients whose output is held. */
#ifndef PACKLIST_JOURNAL_REPLY_GATE_H
#define PACKLIST_JOURNAL_REPLY_GATE_H

#include "journal/command_log.h"

#include <stdbool.h>
#include <stdint.h>

/* `released` of a gate that holds nothing back. */
#define REPLY_GATE_OPEN UINT64_MAX

struct reply_gate {
    const struct command_log *log;
    uint64_t released; /* replies to changes up to this offset may leave, or REPLY_GATE_OPEN */
    bool denies;
    /* Makes the changes safe now, as far as possible. Set by aof_init. */
    void (*flush)(void *arg);
    void *arg;
};

/* Returns whether output must wait for the end of the loop iteration. O(1). */
static inline bool reply_gate_holds(const struct reply_gate *gate) {
    return command_log_end(gate->log) > gate->released || gate->denies;
}

#endif

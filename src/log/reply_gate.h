/* reply_gate: holds replies back until the changes that they confirm are safe (docs/durability.md,
 * section 5).
 *
 * The append-only file says up to which offset of the command log replies may leave. While the log
 * goes beyond that offset all output is held. It leaves at the end of the iteration of the event
 * loop at the latest. A gate that denies lets nothing out: the clients whose output is held are
 * disconnected, as their changes may not survive. */
#ifndef PACKLIST_LOG_REPLY_GATE_H
#define PACKLIST_LOG_REPLY_GATE_H

#include "log/command_log.h"

#include <stdbool.h>
#include <stdint.h>

/* The offset of a gate that holds nothing back. */
#define REPLY_GATE_OPEN UINT64_MAX

struct reply_gate {
    const struct command_log *log;
    uint64_t released; /* replies to changes up to this offset may leave */
    bool denies;
    /* Makes the changes safe now, as far as that is possible; NULL: the gate is open. */
    void (*flush)(void *arg);
    void *arg;
};

/* Must output wait for the end of the iteration? */
static inline bool reply_gate_holds(const struct reply_gate *gate) {
    return command_log_end(gate->log) > gate->released || gate->denies;
}

#endif

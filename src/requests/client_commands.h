/* client_commands: the commands of connections and of channels. Each is called as engine/call.h
 * says. */
#ifndef PACKLIST_REQUESTS_CLIENT_COMMANDS_H
#define PACKLIST_REQUESTS_CLIENT_COMMANDS_H

#include "engine/call.h"
#include "table/command_body.h"

/* clang-format off */

#define CLIENT_COMMANDS(BODY)                                  \
    BODY("asking", asking_command)                             \
    BODY("auth", auth_command)                                 \
    BODY("echo", echo_command)                                 \
    BODY("hello", hello_command)                               \
    BODY("himport|discard", himport_discard_command)           \
    BODY("himport|discardall", himport_discardall_command)     \
    BODY("himport|help", himport_help_command)                 \
    BODY("himport|prepare", himport_prepare_command)           \
    BODY("himport|set", himport_set_command)                   \
    BODY("ping", ping_command)                                 \
    BODY("psubscribe", psubscribe_command)                     \
    BODY("publish", publish_command)                           \
    BODY("pubsub|channels", pubsub_channels_command)           \
    BODY("pubsub|help", pubsub_help_command)                   \
    BODY("pubsub|numpat", pubsub_numpat_command)               \
    BODY("pubsub|numsub", pubsub_numsub_command)               \
    BODY("pubsub|shardchannels", pubsub_shardchannels_command) \
    BODY("pubsub|shardnumsub", pubsub_shardnumsub_command)     \
    BODY("punsubscribe", punsubscribe_command)                 \
    BODY("quit", quit_command)                                 \
    BODY("readonly", readonly_command)                         \
    BODY("readwrite", readwrite_command)                       \
    BODY("reset", reset_command)                               \
    BODY("select", select_command)                             \
    BODY("spublish", spublish_command)                         \
    BODY("ssubscribe", ssubscribe_command)                     \
    BODY("subscribe", subscribe_command)                       \
    BODY("sunsubscribe", sunsubscribe_command)                 \
    BODY("unsubscribe", unsubscribe_command)

/* clang-format on */

CLIENT_COMMANDS(COMMAND_BODY_DECLARED)

/* Forgets what the session's client has prepared with HIMPORT PREPARE. O(names). */
void client_import_end(struct session *session);

#endif

/* client_commands: the commands of connections and of channels. Each is called as engine/call.h
 * says. */
#ifndef PACKLIST_CLIENT_CLIENT_COMMANDS_H
#define PACKLIST_CLIENT_CLIENT_COMMANDS_H

#include "engine/call.h"

void auth_command(struct call *call);
void echo_command(struct call *call);
void hello_command(struct call *call);
void ping_command(struct call *call);
void psubscribe_command(struct call *call);
void publish_command(struct call *call);
void pubsub_channels_command(struct call *call);
void pubsub_help_command(struct call *call);
void pubsub_numpat_command(struct call *call);
void pubsub_numsub_command(struct call *call);
void pubsub_shardchannels_command(struct call *call);
void pubsub_shardnumsub_command(struct call *call);
void punsubscribe_command(struct call *call);
void quit_command(struct call *call);
void reset_command(struct call *call);
void select_command(struct call *call);
void spublish_command(struct call *call);
void ssubscribe_command(struct call *call);
void subscribe_command(struct call *call);
void sunsubscribe_command(struct call *call);
void unsubscribe_command(struct call *call);

#endif

/* pause: CLIENT PAUSE holds commands back until a time. */
#ifndef PACKLIST_SERVER_PAUSE_H
#define PACKLIST_SERVER_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* Holds back all commands, or those that write, until `until_ms`. A running pause is only
 * prolonged, and only made stricter. */
void pause_start(int64_t until_ms, bool writes_only);

/* Ends the pause: held-back sessions go on. */
void pause_end(void);

/* Must a command with these flags (enum command_flag) wait? Ends the pause when its time is
 * over. */
bool pause_holds(uint32_t command_flags);

/* Ends a pause whose time is over; the server's clock tick. */
void pause_tick(void);

#endif

/* family_connection: what clients say of themselves and their connections. */
#include "admin/admin_commands.h"
#include "server/server_commands.h"
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{"auth", auth_command, -2, L|S|N|F|U|Y, NO_KEYS, "connection", "1.0.0",
 "O(N), N being the length of the password",
 "Proves who the client is.",
 "[username@6.0.0] password"
 "\n@6.0.0 Takes a user name."},
{"client", NULL, -2, C, NO_KEYS, "connection", "2.4.0",
 "Depends on the subcommand",
 "Looks at client connections and governs them.",
 ""},
{"client|caching", client_caching_command, 3, P|N, NO_KEYS, "connection", "6.0.0",
 "O(1)",
 "Says whether the keys of the next command are tracked.",
 "<YES | NO>:mode"},
{"client|getname", client_getname_command, 2, P|N, NO_KEYS, "connection", "2.6.9",
 "O(1)",
 "Reads the name of this connection.",
 ""},
{"client|getredir", client_getredir_command, 2, P|N, NO_KEYS, "connection", "6.0.0",
 "O(1)",
 "Tells where invalidation messages of this connection go.",
 ""},
{"client|help", client_help_command, 2, P, NO_KEYS, "connection", "5.0.0",
 "O(1)",
 "Explains the subcommands.",
 ""},
{"client|id", client_id_command, 2, P|N, NO_KEYS, "connection", "5.0.0",
 "O(1)",
 "Tells the number of this connection.",
 ""},
{"client|info", client_info_command, 2, P|N|VARIES, NO_KEYS, "connection", "6.2.0",
 "O(1)",
 "Describes this connection.",
 ""},
{"client|kill", client_kill_command, -3, P|N|A, NO_KEYS, "connection", "2.4.0",
 "O(N), N being the connections",
 "Closes connections.",
 "<old-format=ip:port~2.8.12 | <[ID client-id:integer@2.8.12] | "
 "[TYPE <NORMAL | MASTER@3.2.0 | SLAVE | REPLICA@5.0.0 | PUBSUB>:client-type@2.8.12] | "
 "[USER username] | [ADDR addr=ip:port] | [LADDR laddr=ip:port@6.2.0] | "
 "[SKIPME <YES | NO>:skipme] | [MAXAGE maxage:integer@7.4.0]>:new-format ...>:filter"
 "\n@2.8.12 Takes filters."
 "\n@2.8.12 Takes ID."
 "\n@3.2.0 TYPE may be MASTER."
 "\n@5.0.0 TYPE may be REPLICA, of which SLAVE is the old name."
 "\n@6.2.0 Takes LADDR."
 "\n@7.4.0 Takes MAXAGE."},
{"client|list", client_list_command, -2, P|N|A|VARIES, NO_KEYS, "connection", "2.4.0",
 "O(N), N being the connections",
 "Describes the open connections.",
 "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>:client-type@5.0.0] [ID client-id:integer@6.2.0 ...]"
 "\n@2.8.12 Shows `id`."
 "\n@5.0.0 Takes TYPE."
 "\n@6.0.0 Shows `user`."
 "\n@6.2.0 Takes ID. Shows `argv-mem`, `tot-mem`, `laddr` and `redir`."
 "\n@7.0.0 Shows `resp`, `multi-mem`, `rbs` and `rbp`."
 "\n@7.0.3 Shows `ssub`."
 "\n@7.2.0 Shows `lib-name` and `lib-ver`."
 "\n@7.4.0 Shows `watch`."},
{"client|no-evict", client_no_evict_command, 3, P|N|A, NO_KEYS, "connection", "7.0.0",
 "O(1)",
 "Exempts this connection from being closed for its memory.",
 "<ON | OFF>:enabled"},
{"client|no-touch", client_no_touch_command, 3, P|N, NO_KEYS, "connection", "7.2.0",
 "O(1)",
 "Lets this connection read keys without marking them as used.",
 "<ON | OFF>:enabled"},
{"client|pause", client_pause_command, -3, P|N|A, NO_KEYS, "connection", "3.0.0",
 "O(1)",
 "Holds commands back for a time.",
 "timeout:integer [<WRITE | ALL>:mode@6.2.0]"
 "\n@6.2.0 Takes a mode."},
{"client|reply", client_reply_command, 3, P|N, NO_KEYS, "connection", "3.2.0",
 "O(1)",
 "Chooses whether commands of this connection are answered.",
 "<ON | OFF | SKIP>:action"},
{"client|setinfo", client_setinfo_command, 4, P|N|NODES_OK, NO_KEYS, "connection", "7.2.0",
 "O(1)",
 "Stores the name or version of the client library.",
 "<LIB-NAME libname | LIB-VER libver>:attr"},
{"client|setname", client_setname_command, 3, P|N|NODES_OK, NO_KEYS, "connection", "2.6.9",
 "O(1)",
 "Names this connection.",
 "connection-name"},
{"client|tracking", client_tracking_command, -3, P|N, NO_KEYS, "connection", "6.0.0",
 "O(1)",
 "Turns the tracking of keys off; it cannot be turned on.",
 "<ON | OFF>:status [REDIRECT client-id:integer] [PREFIX prefix [PREFIX prefix ...]] [BCAST] "
 "[OPTIN] [OPTOUT] [NOLOOP]"},
{"client|trackinginfo", client_trackinginfo_command, 2, P|N, NO_KEYS, "connection", "6.2.0",
 "O(1)",
 "Describes the key tracking of this connection.",
 ""},
{"client|unblock", client_unblock_command, -3, P|N|A, NO_KEYS, "connection", "5.0.0",
 "O(1) for each key that the client waits for",
 "Wakes a connection that waits for a key.",
 "client-id:integer [<TIMEOUT | ERROR>:unblock-type]"},
{"client|unpause", client_unpause_command, 2, P|N|A, NO_KEYS, "connection", "6.2.0",
 "O(N), N being the connections",
 "Lets commands that are held back go on.",
 ""},
{"echo", echo_command, 2, L|S|F, NO_KEYS, "connection", "1.0.0",
 "O(1)",
 "Answers with its argument.",
 "message"},
{"hello", hello_command, -1, L|S|N|F|U|Y, NO_KEYS, "connection", "6.0.0",
 "O(1)",
 "Opens the conversation: chooses the protocol, authenticates, names the connection.",
 "[(protover:integer [AUTH (username password):auth] [SETNAME clientname]):arguments]"
 "\n@6.2.0 Without arguments it only describes the server and the connection."},
{"ping", ping_command, -1, 
 F|SHARDS_OK|COMMAND_FOR_SUBSCRIBERS|COMMAND_TELLS_HEALTH,
 NO_KEYS, "connection", "1.0.0",
 "O(1)",
 "Answers PONG, or with its argument.",
 "[message]"},
{"quit", quit_command, -1, 
 L|S|N|F|U|Y|COMMAND_NOT_QUEUED|COMMAND_FOR_SUBSCRIBERS,
 NO_KEYS, "connection", "1.0.0",
 "O(1)",
 "Closes this connection.",
 ""
 "\n~7.2.0 closing the connection"},
{"reset", reset_command, 1, 
 L|S|N|F|U|Y|COMMAND_NOT_QUEUED|COMMAND_FOR_SUBSCRIBERS,
 NO_KEYS, "connection", "6.2.0",
 "O(1)",
 "Brings this connection back to the state of a new one.",
 ""},
{"select", select_command, 2, L|S|F|COMMAND_FOR_FILES, NO_KEYS, "connection", "1.0.0",
 "O(1)",
 "Chooses the database.",
 "index:integer"},
};

/* clang-format on */

const struct command_family command_family_connection = FAMILY_OF(rows);

/* family_connection: commands that concern the client's own connection. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{ROW("auth", -2, "connection", "1.0.0", NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY,
     "O(N), N being the length of the password", "Proves who the client is."),
 .secrets = SECRETS_OF_AUTH,
 .syntax = "[username@6.0.0] password"
           "\n@6.0.0 Takes a user name."},
{CONTAINER_ROW("client", "connection", "2.4.0", "Looks at client connections and governs them.")},
{ROW("client|caching", 3, "connection", "6.0.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Says whether the keys of the next command are tracked."),
 .syntax = "<YES | NO>:mode"},
{ROW("client|capa", -3, "connection", "8.0.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE | ALLOW_BUSY,
     "O(1)", "Tells what this client can do."),
 .syntax = "capability ..."},
{ROW("client|getname", 2, "connection", "2.6.9", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Reads the name of this connection.")},
{ROW("client|getredir", 2, "connection", "6.0.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Tells where invalidation messages of this connection go.")},
{HELP_ROW("client", "connection", "5.0.0")},
{ROW("client|id", 2, "connection", "5.0.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Tells the number of this connection.")},
{ROW("client|import-source", 3, "connection", "8.1.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Lets this connection find and change expired keys while import-mode is on."),
 .syntax = "<ON | OFF>:enabled"},
{ROW("client|info", 2, "connection", "6.2.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Describes this connection."),
 .tips = TIP_NONDETERMINISTIC},
{ROW("client|kill", -3, "connection", "2.4.0", SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE,
     "O(N), N being the connections", "Closes connections."),
 .syntax = "<old-format=ip:port~2.8.12 | <[ID client-id:integer@2.8.12 ...] | "
           "[TYPE <NORMAL | MASTER@3.2.0 | SLAVE | REPLICA@5.0.0 | PUBSUB>:client-type@2.8.12] | "
           "[USER username] | [ADDR addr=ip:port] | [LADDR laddr=ip:port@6.2.0] | "
           "[SKIPME <YES | NO>:skipme] | [MAXAGE maxage:integer@7.4.0] | [NAME name@9.0.0] | "
           "[IDLE idle:integer@9.0.0] | [FLAGS flags@9.0.0] | [LIB-NAME lib-name@9.0.0] | "
           "[LIB-VER lib-ver@9.0.0] | [DB db:integer@9.0.0] | [CAPA capa@9.0.0] | [IP ip@9.0.0] | "
           "[NOT-TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB>:not-client-type@9.0.0] | "
           "[NOT-ID not-client-id:integer@9.0.0 ...] | [NOT-USER not-username@9.0.0] | "
           "[NOT-ADDR not-addr=ip:port@9.0.0] | [NOT-LADDR not-laddr=ip:port@9.0.0] | "
           "[NOT-NAME not-name@9.0.0] | [NOT-FLAGS not-flags@9.0.0] | "
           "[NOT-LIB-NAME not-lib-name@9.0.0] | [NOT-LIB-VER not-lib-ver@9.0.0] | "
           "[NOT-DB not-db:integer@9.0.0] | [NOT-CAPA not-capa@9.0.0] | "
           "[NOT-IP not-ip@9.0.0]>:new-format ...>:filter"
           "\n@2.8.12 Takes filters."
           "\n@2.8.12 Takes ID."
           "\n@3.2.0 TYPE may be MASTER."
           "\n@5.0.0 TYPE may be REPLICA, of which SLAVE is the old name."
           "\n@6.2.0 Takes LADDR."
           "\n@7.4.0 Takes MAXAGE."
           "\n@8.1.0 ID takes several."
           "\n@9.0.0 Takes NAME, IDLE, FLAGS, LIB-NAME, LIB-VER, DB, CAPA, IP, and NOT- before "
           "options."},
{ROW("client|list", -2, "connection", "2.4.0", SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE,
     "O(N), N being the connections", "Describes the open connections."),
 .tips = TIP_NONDETERMINISTIC,
 .syntax = "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>:client-type@5.0.0] "
           "[ID client-id:integer@6.2.0 ...] [USER username@8.1.0] [ADDR addr=ip:port@8.1.0] "
           "[LADDR laddr=ip:port@8.1.0] [SKIPME <YES | NO>:skipme@8.1.0] "
           "[MAXAGE maxage:integer@8.1.0] [NAME name@9.0.0] [IDLE idle:integer@9.0.0] "
           "[FLAGS flags@9.0.0] [LIB-NAME lib-name@9.0.0] [LIB-VER lib-ver@9.0.0] "
           "[DB db:integer@9.0.0] [CAPA capa@9.0.0] [IP ip@9.0.0] [NOT-TYPE "
           "<NORMAL | MASTER | REPLICA | PUBSUB>:not-client-type@9.0.0] "
           "[NOT-ID not-client-id:integer@9.0.0 ...] [NOT-USER not-username@9.0.0] "
           "[NOT-ADDR not-addr=ip:port@9.0.0] [NOT-LADDR not-laddr=ip:port@9.0.0] "
           "[NOT-NAME not-name@9.0.0] [NOT-FLAGS not-flags@9.0.0] [NOT-LIB-NAME "
           "not-lib-name@9.0.0] [NOT-LIB-VER not-lib-ver@9.0.0] [NOT-DB not-db:integer@9.0.0] "
           "[NOT-CAPA not-capa@9.0.0] [NOT-IP not-ip@9.0.0]"
           "\n@2.8.12 Shows `id`."
           "\n@5.0.0 Takes TYPE."
           "\n@6.0.0 Shows `user`."
           "\n@6.2.0 Takes ID. Shows `argv-mem`, `tot-mem`, `laddr` and `redir`."
           "\n@7.0.0 Shows `resp`, `multi-mem`, `rbs` and `rbp`."
           "\n@7.0.3 Shows `ssub`."
           "\n@7.2.0 Shows `lib-name` and `lib-ver`."
           "\n@7.4.0 Shows `watch`."
           "\n@8.1.0 Takes USER, ADDR, LADDR, SKIPME and MAXAGE."
           "\n@9.0.0 Takes NAME, IDLE, FLAGS, LIB-NAME, LIB-VER, DB, CAPA, IP, and NOT- before "
           "options."},
{ROW("client|no-evict", 3, "connection", "7.0.0", SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE,
     "O(1)", "Exempts this connection from being closed for its memory."),
 .syntax = "<ON | OFF>:enabled"},
{ROW("client|no-touch", 3, "connection", "7.2.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Lets this connection read keys without marking them as used."),
 .syntax = "<ON | OFF>:enabled"},
{ROW("client|pause", -3, "connection", "3.0.0", SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE,
     "O(1)", "Holds commands back for a time."),
 .syntax = "timeout:integer [<WRITE | ALL>:mode@6.2.0]"
           "\n@6.2.0 Takes a mode."},
{ROW("client|reply", 3, "connection", "3.2.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Chooses whether commands of this connection are answered."),
 .syntax = "<ON | OFF | SKIP>:action"},
{ROW("client|setinfo", 4, "connection", "7.2.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Stores the name or version of the client library."),
 .tips = TIP_ALL_NODES | TIP_ALL_SUCCEEDED, .syntax = "<LIB-NAME libname | LIB-VER libver>:attr"},
{ROW("client|setname", 3, "connection", "2.6.9", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Names this connection."),
 .tips = TIP_ALL_NODES | TIP_ALL_SUCCEEDED, .syntax = "connection-name"},
{ROW("client|tracking", -3, "connection", "6.0.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Tells this connection when keys change that it has read."),
 .syntax = "<ON | OFF>:status [REDIRECT client-id:integer] [PREFIX prefix [PREFIX prefix ...]] "
           "[BCAST] [OPTIN] [OPTOUT] [NOLOOP]"},
{ROW("client|trackinginfo", 2, "connection", "6.2.0", SUBCOMMAND | NOSCRIPT | LOADING | STALE,
     "O(1)", "Describes the key tracking of this connection.")},
{ROW("client|unblock", -3, "connection", "5.0.0", SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE,
     "O(1) for each key that the client waits for", "Wakes a connection that waits for a key."),
 .syntax = "client-id:integer [<TIMEOUT | ERROR>:unblock-type]"},
{ROW("client|unpause", 2, "connection", "6.2.0", SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE,
     "O(N), N being the connections", "Lets commands that are held back go on.")},
{ROW("echo", 2, "connection", "1.0.0", LOADING | STALE | FAST,
     "O(1)", "Answers with its argument."),
 .syntax = "message"},
{ROW("hello", -1, "connection", "6.0.0", NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY,
     "O(1)", "Opens the conversation: chooses the protocol, authenticates, names the connection."),
 .secrets = SECRETS_OF_HELLO,
 .syntax = "[(protover:integer [AUTH (username password):auth] [SETNAME clientname]):arguments]"
           "\n@6.2.0 Without arguments it only describes the server and the connection."},
{ROW("ping", -1, "connection", "1.0.0", FAST | FOR_SUBSCRIBERS | TELLS_HEALTH,
     "O(1)", "Answers PONG, or with its argument."),
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED, .syntax = "[message]"},
{ROW("quit", -1, "connection", "1.0.0", NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY |
     NOT_QUEUED | FOR_SUBSCRIBERS,
     "O(1)", "Closes this connection."),
 .syntax = "\n~7.2.0 closing the connection"},
{ROW("reset", 1, "connection", "6.2.0", NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY |
     NOT_QUEUED | FOR_SUBSCRIBERS,
     "O(1)", "Brings this connection back to the state of a new one.")},
{ROW("select", 2, "connection", "1.0.0", LOADING | STALE | FAST | FOR_FILES,
     "O(1)", "Chooses the database."),
 .databases = DATABASE_OF_SELECT, .syntax = "index:integer"},
};

/* clang-format on */

const struct command_family command_family_connection = FAMILY_OF(rows);

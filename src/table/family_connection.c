/* family_connection: commands that concern the client's own connection. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{.name = "auth", .arity = -2, .group = "connection", .since = "1.0.0",
 .flags = NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY,
 .categories = CATEGORY_CONNECTION,
 .secrets = SECRETS_OF_AUTH,
 .complexity = "O(N), N being the length of the password",
 .summary = "Proves who the client is.",
 .syntax = "[username@6.0.0] password"
           "\n@6.0.0 Takes a user name."},
{CONTAINER_ROW("client", "connection", "2.4.0",
               "Looks at client connections and governs them.")},
{.name = "client|caching", .arity = 3,
 .group = "connection", .since = "6.0.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Says whether the keys of the next command are tracked.",
 .syntax = "<YES | NO>:mode"},
{.name = "client|capa", .arity = -3,
 .group = "connection", .since = "8.0.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE | ALLOW_BUSY,
 .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Tells what this client can do.",
 .syntax = "capability ..."},
{.name = "client|getname", .arity = 2,
 .group = "connection", .since = "2.6.9",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Reads the name of this connection."},
{.name = "client|getredir", .arity = 2,
 .group = "connection", .since = "6.0.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Tells where invalidation messages of this connection go."},
{HELP_ROW("client", "connection", "5.0.0", CATEGORY_CONNECTION)},
{.name = "client|id", .arity = 2, .group = "connection", .since = "5.0.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Tells the number of this connection."},
{.name = "client|import-source", .arity = 3,
 .group = "connection", .since = "8.1.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Lets this connection find and change expired keys while import-mode is on.",
 .syntax = "<ON | OFF>:enabled"},
{.name = "client|info", .arity = 2,
 .group = "connection", .since = "6.2.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .tips = TIP_NONDETERMINISTIC,
 .complexity = "O(1)",
 .summary = "Describes this connection."},
{.name = "client|kill", .arity = -3,
 .group = "connection", .since = "2.4.0",
 .flags = SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(N), N being the connections",
 .summary = "Closes connections.",
 .syntax =
     "<old-format=ip:port~2.8.12 | <[ID client-id:integer@2.8.12 ...] | [TYPE <NORMAL | "
     "MASTER@3.2.0 | SLAVE | REPLICA@5.0.0 | PUBSUB>:client-type@2.8.12] | [USER username] | "
     "[ADDR addr=ip:port] | [LADDR laddr=ip:port@6.2.0] | [SKIPME <YES | NO>:skipme] | "
     "[MAXAGE maxage:integer@7.4.0] | "
     "[NAME name@9.0.0] | [IDLE idle:integer@9.0.0] | [FLAGS flags@9.0.0] | "
     "[LIB-NAME lib-name@9.0.0] | [LIB-VER lib-ver@9.0.0] | [DB db:integer@9.0.0] | "
     "[CAPA capa@9.0.0] | [IP ip@9.0.0] | "
     "[NOT-TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB>:not-client-type@9.0.0] | "
     "[NOT-ID not-client-id:integer@9.0.0 ...] | [NOT-USER not-username@9.0.0] | "
     "[NOT-ADDR not-addr=ip:port@9.0.0] | [NOT-LADDR not-laddr=ip:port@9.0.0] | "
     "[NOT-NAME not-name@9.0.0] | [NOT-FLAGS not-flags@9.0.0] | "
     "[NOT-LIB-NAME not-lib-name@9.0.0] | [NOT-LIB-VER not-lib-ver@9.0.0] | "
     "[NOT-DB not-db:integer@9.0.0] | [NOT-CAPA not-capa@9.0.0] | [NOT-IP not-ip@9.0.0]"
     ">:new-format ...>:filter"
     "\n@2.8.12 Takes filters."
     "\n@2.8.12 Takes ID."
     "\n@3.2.0 TYPE may be MASTER."
     "\n@5.0.0 TYPE may be REPLICA, of which SLAVE is the old name."
     "\n@6.2.0 Takes LADDR."
     "\n@7.4.0 Takes MAXAGE."
     "\n@8.1.0 ID takes several."
     "\n@9.0.0 Takes NAME, IDLE, FLAGS, LIB-NAME, LIB-VER, DB, CAPA, IP, and NOT- before options."},
{.name = "client|list", .arity = -2,
 .group = "connection", .since = "2.4.0",
 .flags = SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .tips = TIP_NONDETERMINISTIC,
 .complexity = "O(N), N being the connections",
 .summary = "Describes the open connections.",
 .syntax =
     "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>:client-type@5.0.0] "
     "[ID client-id:integer@6.2.0 ...] "
     "[USER username@8.1.0] [ADDR addr=ip:port@8.1.0] [LADDR laddr=ip:port@8.1.0] "
     "[SKIPME <YES | NO>:skipme@8.1.0] [MAXAGE maxage:integer@8.1.0] [NAME name@9.0.0] "
     "[IDLE idle:integer@9.0.0] [FLAGS flags@9.0.0] [LIB-NAME lib-name@9.0.0] "
     "[LIB-VER lib-ver@9.0.0] [DB db:integer@9.0.0] [CAPA capa@9.0.0] [IP ip@9.0.0] "
     "[NOT-TYPE <NORMAL | MASTER | REPLICA | PUBSUB>:not-client-type@9.0.0] "
     "[NOT-ID not-client-id:integer@9.0.0 ...] [NOT-USER not-username@9.0.0] "
     "[NOT-ADDR not-addr=ip:port@9.0.0] [NOT-LADDR not-laddr=ip:port@9.0.0] "
     "[NOT-NAME not-name@9.0.0] [NOT-FLAGS not-flags@9.0.0] [NOT-LIB-NAME not-lib-name@9.0.0] "
     "[NOT-LIB-VER not-lib-ver@9.0.0] [NOT-DB not-db:integer@9.0.0] [NOT-CAPA not-capa@9.0.0] "
     "[NOT-IP not-ip@9.0.0]"
     "\n@2.8.12 Shows `id`."
     "\n@5.0.0 Takes TYPE."
     "\n@6.0.0 Shows `user`."
     "\n@6.2.0 Takes ID. Shows `argv-mem`, `tot-mem`, `laddr` and `redir`."
     "\n@7.0.0 Shows `resp`, `multi-mem`, `rbs` and `rbp`."
     "\n@7.0.3 Shows `ssub`."
     "\n@7.2.0 Shows `lib-name` and `lib-ver`."
     "\n@7.4.0 Shows `watch`."
     "\n@8.1.0 Takes USER, ADDR, LADDR, SKIPME and MAXAGE."
     "\n@9.0.0 Takes NAME, IDLE, FLAGS, LIB-NAME, LIB-VER, DB, CAPA, IP, and NOT- before options."},
{.name = "client|no-evict", .arity = 3,
 .group = "connection", .since = "7.0.0",
 .flags = SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Exempts this connection from being closed for its memory.",
 .syntax = "<ON | OFF>:enabled"},
{.name = "client|no-touch", .arity = 3,
 .group = "connection", .since = "7.2.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Lets this connection read keys without marking them as used.",
 .syntax = "<ON | OFF>:enabled"},
{.name = "client|pause", .arity = -3,
 .group = "connection", .since = "3.0.0",
 .flags = SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Holds commands back for a time.",
 .syntax = "timeout:integer [<WRITE | ALL>:mode@6.2.0]"
           "\n@6.2.0 Takes a mode."},
{.name = "client|reply", .arity = 3,
 .group = "connection", .since = "3.2.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Chooses whether commands of this connection are answered.",
 .syntax = "<ON | OFF | SKIP>:action"},
{.name = "client|setinfo", .arity = 4,
 .group = "connection", .since = "7.2.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .tips = TIP_ALL_NODES | TIP_ALL_SUCCEEDED,
 .complexity = "O(1)",
 .summary = "Stores the name or version of the client library.",
 .syntax = "<LIB-NAME libname | LIB-VER libver>:attr"},
{.name = "client|setname", .arity = 3,
 .group = "connection", .since = "2.6.9",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .tips = TIP_ALL_NODES | TIP_ALL_SUCCEEDED,
 .complexity = "O(1)",
 .summary = "Names this connection.",
 .syntax = "connection-name"},
{.name = "client|tracking", .arity = -3,
 .group = "connection", .since = "6.0.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Tells this connection when keys change that it has read.",
 .syntax =
     "<ON | OFF>:status [REDIRECT client-id:integer] [PREFIX prefix [PREFIX prefix ...]] [BCAST] "
     "[OPTIN] [OPTOUT] [NOLOOP]"},
{.name = "client|trackinginfo", .arity = 2,
 .group = "connection", .since = "6.2.0",
 .flags = SUBCOMMAND | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Describes the key tracking of this connection."},
{.name = "client|unblock", .arity = -3,
 .group = "connection", .since = "5.0.0",
 .flags = SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1) for each key that the client waits for",
 .summary = "Wakes a connection that waits for a key.",
 .syntax = "client-id:integer [<TIMEOUT | ERROR>:unblock-type]"},
{.name = "client|unpause", .arity = 2,
 .group = "connection", .since = "6.2.0",
 .flags = SUBCOMMAND | ADMIN | NOSCRIPT | LOADING | STALE, .categories = CATEGORY_CONNECTION,
 .complexity = "O(N), N being the connections",
 .summary = "Lets commands that are held back go on."},
{.name = "echo", .arity = 2, .group = "connection", .since = "1.0.0",
 .flags = LOADING | STALE | FAST, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Answers with its argument.",
 .syntax = "message"},
{.name = "hello", .arity = -1, .group = "connection", .since = "6.0.0",
 .flags = NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY,
 .categories = CATEGORY_CONNECTION,
 .secrets = SECRETS_OF_HELLO,
 .complexity = "O(1)",
 .summary = "Opens the conversation: chooses the protocol, authenticates, names the connection.",
 .syntax = "[(protover:integer [AUTH (username password):auth] [SETNAME clientname]):arguments]"
           "\n@6.2.0 Without arguments it only describes the server and the connection."},
{.name = "ping", .arity = -1, .group = "connection", .since = "1.0.0",
 .flags = FAST | FOR_SUBSCRIBERS | TELLS_HEALTH, .categories = CATEGORY_CONNECTION,
 .tips = TIP_ALL_SHARDS | TIP_ALL_SUCCEEDED,
 .complexity = "O(1)",
 .summary = "Answers PONG, or with its argument.",
 .syntax = "[message]"},
{.name = "quit", .arity = -1, .group = "connection", .since = "1.0.0",
 .flags = NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY | NOT_QUEUED | FOR_SUBSCRIBERS,
 .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Closes this connection.",
 .syntax = "\n~7.2.0 closing the connection"},
{.name = "reset", .arity = 1, .group = "connection", .since = "6.2.0",
 .flags = NOSCRIPT | LOADING | STALE | FAST | NO_AUTH | ALLOW_BUSY | NOT_QUEUED | FOR_SUBSCRIBERS,
 .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Brings this connection back to the state of a new one."},
{.name = "select", .arity = 2, .group = "connection", .since = "1.0.0",
 .flags = LOADING | STALE | FAST | FOR_FILES, .categories = CATEGORY_CONNECTION,
 .databases = DATABASE_OF_SELECT,
 .complexity = "O(1)",
 .summary = "Chooses the database.",
 .syntax = "index:integer"},
};

/* clang-format on */

const struct command_family command_family_connection = FAMILY_OF(rows);

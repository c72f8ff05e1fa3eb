/* A replica and what its primary sends: answers of the handshake, payloads, the stream. Whatever the
 * bytes, the link ends with them, the backlog holds what was done with of the stream, and the server
 * can follow the next primary.
 *
 * The server and the primary run in this thread: the primary sends a piece of the input before each
 * iteration of the server's event loop, and at the end closes the connection. Input: a byte of
 * settings (the bits below), a byte for the length of the pieces, then the bytes. */
#include "base/clock.h"
#include "base/hash/hash.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "execute/execute.h"
#include "fuzz/rdb_digest.h"
#include "main/command_bodies.h"
#include "net/net.h"
#include "replication/link/link.h"
#include "replication/replication.h"
#include "server/parts.h"
#include "server/server_state.h"
#include "server/settings/config_apply.h"
#include "table/command.h"
#include "table/families.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FOLDER_SIZE = 64, LOAD_BITS = 3, WRITABLE_BIT = 4, START_SHIFT = 3, START_BITS = 3 };

/* What precedes the input's bytes. */
#define HANDSHAKE  "+PONG\r\n+OK\r\n+OK\r\n"
#define FULL       HANDSHAKE "+FULLRESYNC 0123456789012345678901234567890123456789 100\r\n"
#define EMPTY_FILE "REDIS0011\xff\0\0\0\0\0\0\0\0"
#define MULTI      "*1\r\n$5\r\nMULTI\r\n"
#define BYTES(text)                                                                                \
    { (text), sizeof(text) - 1 }

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct target {
    struct engine *engine;
    struct command_log_reader reader; /* without one nothing is logged, and no unit ever open */
    int listener;
    int port;
    char folder[FOLDER_SIZE];
};

static struct target *target_of_process(void) {
    static struct target target;
    return &target;
}

/* --- The server --- */

static struct engine *make_engine(void) {
    static struct server_state state;
    return server_state_init(&state);
}

/* In memory, where that is possible: each payload that goes to a file is brought to the disk. */
static void make_folder(struct target *target) {
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(target->folder, sizeof(target->folder), "%s/packlist-fuzz.XXXXXX", base);
    require(mkdtemp(target->folder) != NULL, "a folder");
}

static void remove_folder(void) {
    const struct target *target = target_of_process();
    DIR *dir = opendir(target->folder);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(target->folder);
}

/* The server must listen somewhere. */
static void start(struct target *target) {
    char socket_path[FOLDER_SIZE + 16];
    snprintf(socket_path, sizeof(socket_path), "%s/socket", target->folder);
    char *words[] = {"--port",
                     "0",
                     "--save",
                     "",
                     "--dir",
                     target->folder,
                     "--logfile",
                     "/dev/null",
                     "--proto-max-bulk-len",
                     "1mb",
                     "--databases",
                     "4",
                     "--unixsocket",
                     socket_path};
    struct engine *engine = target->engine = make_engine();
    sds reason = NULL;
    clock_init();
    hash_init();
    command_table_init(command_families, command_bodies);
    config_init(&engine->config);
    require(config_load(&engine->config, &engine->config_source,
                        (int)(sizeof(words) / sizeof(words[0])), words, &reason),
            "the configuration is good");
    require(config_apply_at_start(engine, &reason), "it can be applied");
    require(parts_start(engine, &reason), reason ? reason : "the server starts");
    target->reader.kind = COMMAND_LOG_FILE;
    command_log_add_reader(&engine->command_log, &target->reader);
}

static void listen_here(struct target *target) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    target->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(bind(target->listener, (struct sockaddr *)&address, len) == 0, "bind");
    require(listen(target->listener, 1) == 0, "listen");
    require(getsockname(target->listener, (struct sockaddr *)&address, &len) == 0, "a port");
    target->port = ntohs(address.sin_port);
}

/* The server changes the working directory, and the fuzzer takes its folders relative to that. */
static void make_absolute(char **arg) {
    static const char prefix[] = "-artifact_prefix=";
    bool is_prefix = !strncmp(*arg, prefix, sizeof(prefix) - 1);
    if (**arg == '-' && !is_prefix) return;
    char *path = realpath(is_prefix ? *arg + sizeof(prefix) - 1 : *arg, NULL);
    if (!path) return;
    size_t size = strlen(path) + sizeof(prefix) + 1;
    char *made = malloc(size);
    require(made && snprintf(made, size, "%s%s%s", is_prefix ? prefix : "", path,
                             is_prefix ? "/" : "") > 0,
            "memory for a path");
    free(path);
    *arg = made; /* kept as long as the process */
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    for (int i = 1; i < *argc; i++) make_absolute(&(*argv)[i]);
    struct target *target = target_of_process();
    make_folder(target);
    atexit(remove_folder);
    start(target);
    listen_here(target);
    return 0;
}

/* --- The primary --- */

struct primary {
    int listener;
    int fd;                /* -1 until the replica has connected */
    struct slice parts[2]; /* the first one is sent as a whole */
    size_t piece;          /* length of the pieces of the second one */
    bool has_ended;
};

static void send_piece(struct primary *primary, struct slice *bytes, size_t len) {
    if (len > bytes->len) len = bytes->len;
    ssize_t sent = send(primary->fd, bytes->ptr, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) return;
    size_t taken = sent < 0 ? bytes->len : (size_t)sent; /* the replica may have closed */
    *bytes = slice_make(bytes->ptr + taken, bytes->len - taken);
}

/* Sends the next piece, and at the end closes. What the replica says is dropped. */
static void primary_step(struct primary *primary) {
    struct pollfd waiting = {.fd = primary->listener, .events = POLLIN};
    char heard[4096];
    if (primary->fd < 0 && poll(&waiting, 1, 0) == 1)
        primary->fd = accept(primary->listener, NULL, NULL);
    if (primary->fd < 0 || primary->has_ended) return;
    while (recv(primary->fd, heard, sizeof(heard), MSG_DONTWAIT) > 0) continue;
    if (primary->parts[0].len > 0) {
        send_piece(primary, &primary->parts[0], SIZE_MAX);
    } else if (primary->parts[1].len > 0) {
        send_piece(primary, &primary->parts[1], primary->piece);
    } else {
        shutdown(primary->fd, SHUT_WR);
        primary->has_ended = true;
    }
}

/* The link may have tried again before it was ended. */
static void drop_waiting(int listener) {
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    while (poll(&waiting, 1, 0) == 1) close(accept(listener, NULL, NULL));
}

/* --- One input --- */

static struct slice start_of(uint8_t settings) {
    static const struct slice starts[] = {
        BYTES(""),
        BYTES("+PONG\r\n"),
        BYTES(HANDSHAKE),
        BYTES(FULL),
        BYTES(FULL "$EOF:0123456789012345678901234567890123456789\r\n"),
        BYTES(FULL "$18\r\n" EMPTY_FILE),
        BYTES(FULL "$18\r\n" EMPTY_FILE MULTI),
        BYTES(FULL "$EOF:0123456789012345678901234567890123456789\r\n" EMPTY_FILE
                   "0123456789012345678901234567890123456789"),
    };
    return starts[settings >> START_SHIFT & ((1 << START_BITS) - 1)];
}

/* Runs the loop until the link has ended, which then waits before it tries again. Data is loaded
 * inside of link_work, so the primary has sent everything before. */
static void follow(struct target *target, struct primary *primary) {
    struct engine *engine = target->engine;
    engine_update_clock(engine);
    replication_follow(engine, SLICE("127.0.0.1"), target->port);
    const struct link *link = engine->link;
    while (link->state != LINK_WAITS) {
        primary_step(primary);
        net_wait(engine->net);
        if (!link_has_work(engine)) continue;
        primary->piece = SIZE_MAX;
        while (!primary->has_ended) primary_step(primary);
        link_work(engine);
    }
    /* Whoever writes next would add to that unit; a change of the role ends it. */
    require(!command_log_is_inside_unit(&engine->command_log), "units have ended");
}

/* Where the start ends with the payload, or with MULTI behind it, the rest of the input is the stream:
 * the backlog, which is new if the payload was loaded, must hold the bytes that were done with. */
static void check_backlog(const struct engine *engine, const struct backlog *old, uint8_t settings,
                          struct slice rest) {
    enum { START_STREAM = 5, START_UNIT = 6, START_MARKED_STREAM = 7, OFFSET = 100 };
    int start = settings >> START_SHIFT & ((1 << START_BITS) - 1);
    const struct backlog *backlog = engine->history->backlog;
    struct slice multi = start == START_UNIT ? SLICE(MULTI) : SLICE("");
    if (start < START_STREAM || !backlog || backlog == old) return;
    require(backlog->begin == OFFSET && backlog_len(backlog) <= multi.len + rest.len,
            "no more than was sent");
    if (backlog_len(backlog) == 0) return;
    struct slice held = slice_make(backlog->first->bytes, (size_t)backlog_len(backlog));
    require(!backlog->first->next && slice_begins(held, multi), "a unit is passed on as a whole");
    held = slice_make(held.ptr + multi.len, held.len - multi.len);
    require(memcmp(held.ptr, rest.ptr, held.len) == 0, "what was sent is passed on");
}

static void run_words(struct engine *engine, const struct slice *words, size_t count) {
    struct requester requester = {.engine = engine};
    struct reply reply;
    reply_init(&reply, 0);
    require(execute_from_primary(&requester, &reply, words, count) == EXECUTION_DONE, "it runs");
    execute_end_unit(engine);
    reply_free(&reply);
}

/* libFuzzer looks for leaks after an input. A thread that is freeing data holds the only pointers to
 * it, some of them where the search does not look. */
static void await_freed(struct engine *engine) {
    while (lazyfree_pending_objects(engine->lazyfree) > 0) net_wait(engine->net);
}

static void check_and_clear(struct target *target) {
    struct engine *engine = target->engine;
    const struct history *history = engine->history;
    require(strspn(history->id, "0123456789abcdefABCDEF") == HISTORY_ID_LEN, "an id");
    require(!(engine->restrictions & (RESTRICTED_LOADING | RESTRICTED_LOADING_BESIDE)),
            "loading has ended");
    for (int i = 0; i < engine->databases; i++)
        require(keyspace_check(engine->keyspaces[i]), "a whole keyspace");
    run_words(engine, (const struct slice[]){SLICE("FLUSHALL"), SLICE("SYNC")}, 2);
    run_words(engine, (const struct slice[]){SLICE("FUNCTION"), SLICE("FLUSH"), SLICE("SYNC")}, 3);
    struct reply logged;
    reply_init(&logged, 0);
    command_log_read(&engine->command_log, &target->reader, &logged);
    reply_free(&logged);
    await_freed(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    struct target *target = target_of_process();
    struct engine *engine = target->engine;
    struct primary primary = {
        .listener = target->listener,
        .fd = -1,
        .parts = {start_of(data[0]), slice_make(data + 2, size - 2)},
        .piece = data[1] ? data[1] : SIZE_MAX,
    };
    engine->config.repl_diskless_load = data[0] & LOAD_BITS;
    engine->config.replica_read_only = !(data[0] & WRITABLE_BIT);
    const struct backlog *old = engine->history->backlog;
    follow(target, &primary);
    check_backlog(engine, old, data[0], slice_make(data + 2, size - 2));
    replication_unfollow(engine);
    if (primary.fd >= 0) close(primary.fd);
    drop_waiting(target->listener);
    check_and_clear(target);
    return 0;
}

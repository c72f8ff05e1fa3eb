/* debug_commands: DEBUG: internals of the server, for tests. Off unless enable-debug-command allows
 * it. */
#define _GNU_SOURCE /* for MAP_ANONYMOUS */
#include "admin/admin_commands.h"
#include "admin/debug.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "base/text/glob.h"
#include "base/text/number.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/steps.h"
#include "engine/work.h"
#include "reclaim/expire.h"
#include "replication/history/history.h"
#include "resp/reply.h"
#include "server/parts.h"
#include "server/settings/user_files.h"
#include "session/session.h"
#include "store/entry.h"
#include "types/string.h"
#include "types/value.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* --- Ending as a bug would ---
 *
 * None of these returns: the process ends by a signal, after the report of
 * server/process/crash_report.h. */

/* Writes to memory that is read-only. */
static void debug_segfault(struct call *call) {
    (void)call;
    volatile char *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 'x';
}

static void debug_assert(struct call *call) {
    assert(call->argc == 1);
}

static void debug_panic(struct call *call) {
    (void)call;
    log_warning("!!! Software Failure. Press left mouse button to continue");
    log_warning("Guru Meditation: DEBUG PANIC called");
    abort();
}

/* Asks for more memory than there is. */
static void debug_oom(struct call *call) {
    (void)call;
    mem_free(mem_alloc(PTRDIFF_MAX));
}

/* --- The allocator, and sizes of structures --- */

/* Reads or writes a number of jemalloc, which has 8, 4 or 1 bytes: jemalloc does not say how many,
 * but refuses other sizes with EINVAL. A setting that can only be written has no old value to
 * reply. */
static int control_number(struct call *call, const char *name, int64_t value, size_t size) {
    bool writes = call->argc > 3;
    int64_t old = 0;
    size_t old_size = size;
    int error = mem_control(name, &old, &old_size, writes ? &value : NULL, writes ? size : 0);
    if (error == 0) {
        reply_integer(call->reply, old);
    } else if (error == EPERM && writes) {
        error = mem_control(name, NULL, NULL, &value, size);
        if (error == 0) reply_ok(call->reply);
    }
    return error;
}

static void debug_mallctl(struct call *call) {
    int64_t value = 0;
    if (call->argc > 3 && !call_integer(call, 3, &value)) return;
    sds name = sds_new(call->argv[2]);
    int error = EINVAL;
    for (size_t size = sizeof(int64_t); size > 0 && error == EINVAL; size /= 2)
        error = control_number(call, name, value, size);
    if (error) reply_error_format(call->reply, "ERR %s", strerror(error));
    sds_free(name);
}

static void debug_mallctl_str(struct call *call) {
    const char *old = NULL;
    size_t size = sizeof(old);
    bool writes = call->argc > 3;
    sds name = sds_new(call->argv[2]);
    sds value = writes ? sds_new(call->argv[3]) : NULL;
    int error = mem_control(name, &old, &size, writes ? (const void *)&value : NULL,
                            writes ? sizeof(value) : 0);
    bool write_only = error == EPERM && writes;
    if (write_only) error = mem_control(name, NULL, NULL, &value, sizeof(value));
    if (error)
        reply_error_format(call->reply, "ERR %s", strerror(error));
    else if (write_only)
        reply_ok(call->reply);
    else if (old)
        reply_bulk_cstr(call->reply, old);
    else
        reply_null(call->reply);
    sds_free(value);
    sds_free(name);
}

static void debug_structsize(struct call *call) {
    sds text = sds_format("bits:%zu entry:%zu session:%zu slice:%zu", sizeof(void *) * 8,
                          sizeof(struct entry), sizeof(struct session), sizeof(struct slice));
    reply_status(call->reply, sds_slice(text));
    sds_free(text);
}

/* --- Creating keys --- */

/* Keys created together, so that the cache misses of their lookups overlap. */
enum { POPULATE_BATCH = 16 };

struct populate {
    struct keyspace *keyspace;
    char *keys; /* POPULATE_BATCH keys of `key_size` bytes each, with prefix and colon written */
    size_t key_size;
    size_t prefix_len; /* with the colon */
    char *value;
    size_t value_size; /* 0 = the length of the text */
};

/* Returns "value:<number>", cut or filled up with zero bytes to the size asked for. */
static struct slice populate_value(struct populate *populate, uint64_t number) {
    const struct slice word = SLICE("value:");
    memcpy(populate->value, word.ptr, word.len);
    size_t len = word.len + number_format_uint64(populate->value + word.len, number);
    size_t size = populate->value_size;
    if (size > len) memset(populate->value + len, 0, size - len);
    return slice_make(populate->value, size ? size : len);
}

static void populate_batch(struct engine *engine, struct populate *populate, uint64_t first,
                           size_t count) {
    struct slice keys[POPULATE_BATCH];
    uint64_t hashes[POPULATE_BATCH];
    for (size_t i = 0; i < count; i++) {
        char *key = populate->keys + i * populate->key_size;
        size_t digits = number_format_uint64(key + populate->prefix_len, first + i);
        keys[i] = slice_make(key, populate->prefix_len + digits);
        hashes[i] = keyspace_prefetch(populate->keyspace, keys[i]).hash;
    }
    for (size_t i = 0; i < count; i++) {
        struct keyref ref = keyspace_find_hashed(populate->keyspace, keys[i], hashes[i]);
        if (ref.entry) continue;
        string_set(&ref, keys[i], populate_value(populate, first + i));
        entry_set_clock(ref.entry, eviction_fresh_bits(&engine->eviction));
    }
}

/* Adds the keys that are missing. No client can wait for a string, so no key is reported as
 * ready. */
static void populate_run(struct engine *engine, struct populate *populate, struct slice prefix,
                         uint64_t count) {
    for (size_t i = 0; i < POPULATE_BATCH; i++) {
        char *key = populate->keys + i * populate->key_size;
        memcpy(key, prefix.ptr, prefix.len);
        key[prefix.len] = ':';
    }
    for (uint64_t done = 0; done < count;) {
        uint64_t left = count - done;
        size_t batch = left < POPULATE_BATCH ? (size_t)left : POPULATE_BATCH;
        populate_batch(engine, populate, done, batch);
        done += batch;
    }
}

static void debug_populate(struct call *call) {
    struct engine *engine = call->engine;
    static const char error[] = "ERR value is out of range, must be positive";
    int64_t keys, size = 0;
    if (!call_integer_in(call, 2, 0, INT64_MAX, &keys, error)) return;
    if (call->argc == 5 &&
        !call_integer_in(call, 4, 0, engine->config.proto_max_bulk_len, &size, error))
        return;
    struct slice prefix = call->argc > 3 ? call->argv[3] : SLICE("key");
    struct populate populate = {
        .keyspace = call->keyspace,
        .key_size = prefix.len + 1 + INT64_TEXT_MAX,
        .prefix_len = prefix.len + 1,
        .value_size = (size_t)size,
    };
    populate.keys = mem_alloc(POPULATE_BATCH * populate.key_size);
    populate.value = mem_alloc(sizeof("value:") + INT64_TEXT_MAX + populate.value_size);
    populate_run(engine, &populate, prefix, (uint64_t)keys);
    mem_free(populate.keys);
    mem_free(populate.value);
    reply_ok(call->reply);
}

/* --- Time, log, errors --- */

static void debug_sleep(struct call *call) {
    double seconds = 0;
    if (!number_parse_double(call->argv[2], &seconds) || !(seconds > 0)) seconds = 0;
    if (seconds > INT32_MAX) seconds = INT32_MAX;
    struct timespec duration = {.tv_sec = (time_t)seconds};
    duration.tv_nsec = (long)((seconds - (double)duration.tv_sec) * 1e9);
    nanosleep(&duration, NULL);
    if (call_may_block(call))
        engine_update_clock(call->engine); /* the clock does not advance in EXEC */
    reply_ok(call->reply);
}

static void debug_error(struct call *call) {
    sds text = sds_new(call->argv[2]);
    reply_error(call->reply, text);
    sds_free(text);
}

static void debug_log(struct call *call) {
    log_warning("DEBUG LOG: %.*s", slice_precision(call->argv[2]), call->argv[2].ptr);
    reply_ok(call->reply);
}

/* --- Replies of each type --- */

static void protocol_members(struct reply *reply) {
    for (int i = 0; i < 3; i++) reply_integer(reply, i);
}

static void protocol_map(struct reply *reply) {
    reply_map(reply, 3);
    for (int i = 0; i < 3; i++) {
        reply_integer(reply, i);
        reply_bool(reply, i == 1);
    }
}

static void protocol_attribute(struct reply *reply) {
    if (reply->protocol > 2) {
        reply_attribute(reply, 1);
        reply_bulk_cstr(reply, "key-popularity");
        reply_array(reply, 2);
        reply_bulk_cstr(reply, "key:123");
        reply_integer(reply, 90);
    }
    reply_bulk_cstr(reply, "Some real reply following the attribute");
}

static void protocol_push(struct reply *reply) {
    if (reply->protocol < 3) {
        reply_error(reply, "ERR RESP2 is not supported by this command");
        return;
    }
    reply_bulk_cstr(reply, "Some real reply following the push reply");
    reply_push(reply, 2);
    reply_bulk_cstr(reply, "server-cpu-usage");
    reply_integer(reply, 42);
}

static void debug_protocol(struct call *call) {
    struct slice type = call->argv[2];
    struct reply *reply = call->reply;
    bool is_push = slice_is(type, "push"), is_attribute = slice_is(type, "attrib");
    if (call->origin == ORIGIN_SCRIPT && (is_push || is_attribute)) {
        reply_error(reply, "ERR Scripts have no values of this type");
    } else if (is_push) {
        protocol_push(reply);
    } else if (is_attribute) {
        protocol_attribute(reply);
    } else if (slice_is(type, "string")) {
        reply_bulk_cstr(reply, "Hello World");
    } else if (slice_is(type, "integer")) {
        reply_integer(reply, 12345);
    } else if (slice_is(type, "double")) {
        reply_double(reply, 3.141);
    } else if (slice_is(type, "bignum")) {
        reply_big_number(reply, SLICE("1234567999999999999999999999999999999"));
    } else if (slice_is(type, "null")) {
        reply_null(reply);
    } else if (slice_is(type, "array")) {
        reply_array(reply, 3);
        protocol_members(reply);
    } else if (slice_is(type, "set")) {
        reply_set(reply, 3);
        protocol_members(reply);
    } else if (slice_is(type, "map")) {
        protocol_map(reply);
    } else if (slice_is(type, "verbatim")) {
        reply_verbatim(reply, SLICE("This is a verbatim\nstring"), "txt");
    } else if (slice_is(type, "true") || slice_is(type, "false")) {
        reply_bool(reply, slice_is(type, "true"));
    } else {
        reply_error(reply, "ERR Wrong protocol type name. Please use one of the following: "
                           "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|"
                           "true|false");
    }
}

/* --- Tables --- */

static void debug_htstats(struct call *call) {
    struct engine *engine = call->engine;
    int64_t database;
    if (!call_integer(call, 2, &database)) return;
    if (database < 0 || database >= engine->databases) {
        reply_error(call->reply, "ERR Out of range database");
        return;
    }
    bool full = call->argc > 3 && slice_is(call->argv[3], "full");
    const struct keyspace *keyspace = engine->keyspaces[database];
    sds out = table_group_describe(keyspace_tables(keyspace, ALL_KEYS),
                                   sds_new(SLICE("[Dictionary HT]\n")), full);
    out = sds_append_cstr(out, "[Expires HT]\n");
    out = table_group_describe(keyspace_tables(keyspace, EXPIRING_KEYS), out, full);
    call_answer_text(call, out);
}

/* --- Settings and the rest --- */

/* A text that is not a number is 0, as in Redis. */
static void set_switch(struct call *call, bool *place) {
    int64_t on = 0;
    *place = number_parse_int64(call->argv[2], &on) && on != 0;
    reply_ok(call->reply);
}

static void debug_set_active_expire(struct call *call) {
    set_switch(call, &call->engine->expire->is_active);
}

static void debug_pause_cron(struct call *call) {
    set_switch(call, &call->engine->cron->is_paused);
}

static void debug_pause_threads(struct call *call) {
    bool is_paused = false;
    set_switch(call, &is_paused);
    works_pause(call->engine, is_paused);
    call->engine->steps->is_paused = is_paused;
}

static void debug_skip_checksums(struct call *call) {
    set_switch(call, &call->engine->skip_checksums);
}

static void debug_allow_in_scripts(struct call *call) {
    set_switch(call, &call->engine->debug_in_scripts);
}

static void debug_replicate(struct call *call) {
    history_append(call->engine, call->argv + 2, call->argc - 2);
    reply_ok(call->reply);
}

/* Here the payload of a replica goes through its one connection, so nothing is left to free. Valkey
 * runs it with an s at the end, and helps with the name without it. */
static void debug_delay_free(struct call *call) {
    int64_t seconds;
    if (call_integer_in(call, 2, 0, INT32_MAX, &seconds, "ERR value is out of range"))
        reply_ok(call->reply);
}

static void debug_rewrite_config(struct call *call) {
    struct engine *engine = call->engine;
    const char *path = engine->config_source.path;
    if (sds_len(path) == 0)
        reply_error(call->reply, "ERR The server is running without a config file");
    else if (user_files_rewrite_config(engine, path, true))
        reply_ok(call->reply);
    else
        reply_error_format(call->reply, "ERR CONFIG-REWRITE-FORCE-ALL failed: %s", strerror(errno));
}

static void debug_change_repl_id(struct call *call) {
    struct engine *engine = call->engine;
    history_draw_id(engine);
    log_notice("Changing replication IDs after receiving DEBUG change-repl-id");
    reply_ok(call->reply);
}

/* All clients share one reply buffer, so none shrinks after a peak: the arguments are checked and
 * have no effect. */
static void debug_replybuffer(struct call *call) {
    struct slice setting = call->argv[2], value = call->argv[3];
    bool is_peak = slice_is(setting, "peak-reset-time");
    int64_t ignored;
    if (!is_peak && !slice_is(setting, "resizing")) {
        call_bad_subcommand(call);
        return;
    }
    if (is_peak && !slice_is(value, "never") && !slice_is(value, "reset") &&
        !call_integer(call, 3, &ignored))
        return;
    reply_ok(call->reply);
}

/* Measures a pattern: matches it against as many letters "a" as the argument says. */
static void debug_stringmatch_len(struct call *call) {
    int64_t len;
    if (!call_integer_in(call, 2, 0, call->engine->config.proto_max_bulk_len, &len, NULL)) return;
    char *text = mem_alloc((size_t)len);
    memset(text, 'a', (size_t)len);
    reply_integer(call->reply, glob_match(call->argv[3], slice_make(text, (size_t)len), false));
    mem_free(text);
}

/* Dumps the heap of servers written in Java; it has no effect here. */
static void debug_jmap(struct call *call) {
    reply_ok(call->reply);
}

static const char help_text[] =
    "ASSERT\n"
    "    Crash by an assertion that fails.\n"
    "CHANGE-REPL-ID\n"
    "    Draw a new replication id.\n"
    "CONFIG-REWRITE-FORCE-ALL\n"
    "    CONFIG REWRITE that writes every directive, also those with default values.\n"
    "DELAY-RDB-CLIENT-FREE-SECONDS <seconds>\n"
    "    Accepted; a payload has no connection of its own.\n"
    "DIGEST\n"
    "    What all databases hold, in 40 hexadecimal digits.\n"
    "DIGEST-VALUE [<key> ...]\n"
    "    The same for the value of each key.\n"
    "ERROR <text>\n"
    "    Answer with that error.\n"
    "HTSTATS <database> [full]\n"
    "    The table of a database's keys: items, buckets, load.\n"
    "HTSTATS-KEY <key> [full]\n"
    "    The same for a value that is kept in a table.\n"
    "JMAP\n"
    "    Do nothing.\n"
    "LISTPACK <key>\n"
    "    The elements of a value in listpack encoding, as they are stored.\n"
    "LOADAOF\n"
    "    Load the append-only file again, in place of the keys in memory.\n"
    "LOG <text>\n"
    "    Write a line to the server's log.\n"
    "MALLCTL <name> [<value>]\n"
    "    Read, or set, a setting of jemalloc that is a number.\n"
    "MALLCTL-STR <name> [<value>]\n"
    "    The same for one that is a text.\n"
    "OBJECT <key>\n"
    "    Where and how a value is stored, and its size in an RDB file.\n"
    "OOM\n"
    "    Crash by a lack of memory.\n"
    "PANIC\n"
    "    Crash as the server does when it finds an error in itself.\n"
    "PAUSE-CRON <0|1>\n"
    "    Whether periodic work rests.\n"
    "PAUSE-THREADS <0|1>\n"
    "    Whether commands that take long wait for their turn in another thread, or for\n"
    "    their second step.\n"
    "POPULATE <count> [<prefix>] [<size>]\n"
    "    Create strings under the keys <prefix>:0 and on, 'key' if there is no prefix;\n"
    "    each holds value:<number>, cut or filled up with zeros to <size> bytes.\n"
    "PROTOCOL <type>\n"
    "    Answer with a value of the type string, integer, double, bignum, null, array,\n"
    "    set, map, attrib, push, verbatim, true or false.\n"
    "QUICKLIST <key> [full]\n"
    "    The nodes of a list in quicklist encoding: elements, bytes, compression; with\n"
    "    full every element too.\n"
    "QUICKLIST-PACKED-THRESHOLD <size>\n"
    "    Store elements of at least that many bytes in a node of their own; 0 leaves it\n"
    "    to list-max-listpack-size.\n"
    "RELOAD [MERGE] [NOFLUSH] [NOSAVE]\n"
    "    Save everything and load it again. NOSAVE takes the file that is there, NOFLUSH keeps\n"
    "    the keys in memory, MERGE lets those of the file replace them.\n"
    "REPLICATE <command> [<argument> ...]\n"
    "    Send a command to the replicas alone; their data then differs.\n"
    "REPLYBUFFER PEAK-RESET-TIME <never|reset|milliseconds>\n"
    "REPLYBUFFER RESIZING <0|1>\n"
    "    Accepted; clients have no reply buffers of their own.\n"
    "SEGFAULT\n"
    "    Crash by SIGSEGV.\n"
    "SET-ACTIVE-EXPIRE <0|1>\n"
    "    Whether expired keys are removed before a client looks for them.\n"
    "SET-DISABLE-DENY-SCRIPTS <0|1>\n"
    "    Whether scripts may run DEBUG PROTOCOL.\n"
    "SET-SKIP-CHECKSUM-VALIDATION <0|1>\n"
    "    Whether checksums of RDB files and of RESTORE's payloads are ignored.\n"
    "SLEEP <seconds>\n"
    "    Stop serving for that time.\n"
    "STRINGMATCH-LEN <length> <pattern>\n"
    "    Match a pattern against a text of that many letters a.\n"
    "STRUCTSIZE\n"
    "    The sizes of some structures, in bytes.\n";

static void debug_help(struct call *call) {
    call_help(call, help_text);
}

/* --- The command --- */

static const struct debug_subcommand {
    const char *name;
    size_t argc_min;
    size_t argc_max;
    void (*run)(struct call *call);
} subcommands[] = {
    {"assert", 2, 2, debug_assert},
    {"change-repl-id", 2, 2, debug_change_repl_id},
    {"config-rewrite-force-all", 2, 2, debug_rewrite_config},
    {"delay-rdb-client-free-second", 3, 3, debug_delay_free},
    {"delay-rdb-client-free-seconds", 3, 3, debug_delay_free},
    {"digest", 2, 2, debug_digest},
    {"digest-value", 2, SIZE_MAX, debug_digest_value},
    {"error", 3, 3, debug_error},
    {"help", 2, 2, debug_help},
    {"htstats", 3, 4, debug_htstats},
    {"htstats-key", 3, 4, debug_htstats_key},
    {"jmap", 2, 2, debug_jmap},
    {"listpack", 3, 3, debug_listpack},
    {"loadaof", 2, 2, debug_loadaof},
    {"log", 3, 3, debug_log},
    {"mallctl", 3, 4, debug_mallctl},
    {"mallctl-str", 3, 4, debug_mallctl_str},
    {"object", 3, 3, debug_object},
    {"oom", 2, 2, debug_oom},
    {"panic", 2, 2, debug_panic},
    {"pause-cron", 3, 3, debug_pause_cron},
    {"pause-threads", 3, 3, debug_pause_threads},
    {"populate", 3, 5, debug_populate},
    {"protocol", 3, 3, debug_protocol},
    {"quicklist", 3, 4, debug_quicklist},
    {"quicklist-packed-threshold", 3, 3, debug_packed_threshold},
    {"reload", 2, 5, debug_reload},
    {"replicate", 3, SIZE_MAX, debug_replicate},
    {"replybuffer", 4, 4, debug_replybuffer},
    {"segfault", 2, 2, debug_segfault},
    {"set-active-expire", 3, 3, debug_set_active_expire},
    {"set-disable-deny-scripts", 3, 3, debug_allow_in_scripts},
    {"set-skip-checksum-validation", 3, 3, debug_skip_checksums},
    {"sleep", 3, 3, debug_sleep},
    {"stringmatch-len", 4, 4, debug_stringmatch_len},
    {"structsize", 2, 2, debug_structsize},
};

void debug_command(struct call *call) {
    if (!session_has_access(call_session(call), call->engine->config.enable_debug_command)) {
        reply_error(call->reply,
                    "ERR DEBUG command not allowed. If the enable-debug-command option is set to "
                    "\"local\", you can run it from a local connection, otherwise you need to set "
                    "this option in the configuration file, and then restart the server.");
        return;
    }
    for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
        const struct debug_subcommand *sub = &subcommands[i];
        if (!slice_is(call->argv[1], sub->name)) continue;
        if (call->argc < sub->argc_min || call->argc > sub->argc_max) break;
        if (!slice_is(call->argv[1], "pause-threads")) claims_end_all(call->engine);
        if (call->origin == ORIGIN_SCRIPT && !slice_is(call->argv[1], "protocol"))
            reply_error(call->reply, "ERR Scripts may run only DEBUG PROTOCOL");
        else
            sub->run(call);
        return;
    }
    call_bad_subcommand(call);
}

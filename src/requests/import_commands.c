/* import_commands: HIMPORT PREPARE SET DISCARD DISCARDALL (of Redis 8.10): a client names the
 * fields of hashes once, and then sends only their values.
 *
 *      HIMPORT PREPARE user name age          HIMPORT SET key user Ann 40
 *
 * makes what HSET key name Ann age 40 makes, in place of a hash that exists. The append-only file
 * and replicas get HSET, after a DEL if there was one. */
#include "base/memory/alloc.h"
#include "engine/args.h"
#include "engine/call.h"
#include "engine/client.h"
#include "engine/engine.h"
#include "requests/client_commands.h"
#include "table/command.h"

#include <stdlib.h>

/* Under one name at argv[NAME], the fields from argv[FIELDS] on: the arguments of PREPARE. */
enum { NAME = 2, FIELDS = 3, PREPARED_MAX = 1024 };

struct prepared {
    size_t count;
    struct args *of[PREPARED_MAX];
};

/* Returns the index of what is prepared under the name; the count if nothing is. */
static size_t find(const struct prepared *prepared, struct slice name) {
    size_t i = 0;
    while (i < prepared->count && !slice_equal(prepared->of[i]->argv[NAME], name)) i++;
    return i;
}

static void discard(struct session *session, size_t index) {
    struct prepared *prepared = session->prepared;
    session->prepared_bytes -= prepared->of[index]->allocated;
    args_free(prepared->of[index]);
    prepared->of[index] = prepared->of[--prepared->count];
}

void client_import_end(struct session *session) {
    struct prepared *prepared = session->prepared;
    if (!prepared) return;
    while (prepared->count) discard(session, prepared->count - 1);
    mem_free(prepared);
    session->prepared = NULL;
    session->prepared_bytes = 0;
}

/* --- PREPARE name field … --- */

static int by_bytes(const void *a, const void *b) {
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* O(fields * log(fields)). */
static bool has_duplicate(const struct slice *fields, size_t count) {
    struct slice *sorted = mem_alloc(count * sizeof(*sorted));
    bool found = false;
    memcpy(sorted, fields, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_bytes);
    for (size_t i = 1; i < count && !found; i++) found = slice_equal(sorted[i - 1], sorted[i]);
    mem_free(sorted);
    return found;
}

/* What a client keeps here is bounded as its queries are. */
static bool has_room(const struct session *session, size_t count, size_t bytes) {
    const struct config *config = &session->requester.engine->config;
    return count < PREPARED_MAX && bytes < (size_t)config->client_query_buffer_limit;
}

void himport_prepare_command(struct call *call) {
    struct session *session = call_session(call);
    if (has_duplicate(call->argv + FIELDS, call->argc - FIELDS)) {
        reply_error(call->reply, "ERR duplicate field name");
        return;
    }
    if (!session->prepared) {
        session->prepared = mem_alloc(sizeof(*session->prepared));
        session->prepared->count = 0;
        session->prepared_bytes = sizeof(*session->prepared);
    }
    size_t index = find(session->prepared, call->argv[NAME]);
    bool replaces = index < session->prepared->count;
    size_t replaced_bytes = replaces ? session->prepared->of[index]->allocated : 0;
    if (!has_room(session, session->prepared->count - replaces,
                  session->prepared_bytes - replaced_bytes)) {
        reply_error(call->reply, "ERR this client has prepared too many fields");
        return;
    }
    if (replaces) discard(session, index);
    struct args *args = args_copy(call->argv, call->argc);
    session->prepared->of[session->prepared->count++] = args;
    session->prepared_bytes += args->allocated;
    reply_ok(call->reply);
}

/* --- DISCARD name, DISCARDALL --- */

void himport_discard_command(struct call *call) {
    struct session *session = call_session(call);
    struct prepared *prepared = session->prepared;
    size_t index = prepared ? find(prepared, call->argv[NAME]) : 0;
    bool exists = prepared && index < prepared->count;
    if (exists) discard(session, index);
    reply_integer(call->reply, exists);
}

void himport_discardall_command(struct call *call) {
    struct session *session = call_session(call);
    reply_integer(call->reply, session->prepared ? (int64_t)session->prepared->count : 0);
    client_import_end(session);
}

/* --- SET key name value … --- */

/* A hash of the key gives way to the one that HMSET makes. */
static void set(struct call *call, const struct slice *argv, size_t argc) {
    struct keyref ref;
    if (!call_find_typed_write(call, argv[1], VALUE_HASH, &ref)) return;
    bool exists = ref.entry != NULL;
    call_remove(call, &ref, argv[1], REMOVAL_DELETED);
    struct call hmset = *call;
    hmset.command = command_find(SLICE("hmset"));
    hmset.argv = argv;
    hmset.argc = argc;
    hmset.command->run(&hmset);
    if (exists) CALL_PROPAGATE(call, SLICE("DEL"), argv[1]);
    if (call->propagates) call_propagate_as(call, argv, argc);
}

void himport_set_command(struct call *call) {
    enum { KEY = 2, TEMPLATE = 3, VALUES = 4 };
    struct session *session = call_session(call);
    const struct prepared *prepared = session ? session->prepared : NULL;
    size_t index = prepared ? find(prepared, call->argv[TEMPLATE]) : 0;
    if (!prepared || index == prepared->count) {
        reply_error(call->reply, "ERR no such fieldset");
        return;
    }
    const struct args *args = prepared->of[index];
    size_t count = args->argc - FIELDS;
    if (call->argc - VALUES != count) {
        reply_error(call->reply, "ERR value count does not match the number of fields");
        return;
    }
    size_t argc = 2 + 2 * count;
    struct slice *argv = mem_alloc(argc * sizeof(*argv));
    argv[0] = SLICE("HSET");
    argv[1] = call->argv[KEY];
    for (size_t i = 0; i < count; i++) {
        argv[2 + 2 * i] = args->argv[FIELDS + i];
        argv[3 + 2 * i] = call->argv[VALUES + i];
    }
    set(call, argv, argc);
    mem_free(argv);
}

COMMAND_FORM(himport_help_command, call_help,
             "DISCARD <name>\n"
             "    Forget the fields that are prepared under the name.\n"
             "DISCARDALL\n"
             "    Forget all prepared fields.\n"
             "PREPARE <name> <field> [<field> ...]\n"
             "    Give fields a name, for this connection.\n"
             "SET <key> <name> <value> [<value> ...]\n"
             "    Store a hash of the prepared fields with these values.\n")

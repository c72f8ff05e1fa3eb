/* KEYS pattern. In a large keyspace it runs in steps (engine/steps.h), which collect the names. */
#include "base/text/glob.h"
#include "commands/commands.h"
#include "commands/text_queue.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "engine/steps.h"
#include "engine/work.h"
#include "resp/reply_source.h"
#include "types/value.h"

static bool is_shown(const struct call *call, struct slice key, bool all) {
    return (all || glob_match(call->argv[1], key, false)) && !call_hides_key(call, key);
}

struct listing {
    struct call *call;
    bool all;
    size_t count; /* of the keys that were replied */
};

static void reply_shown(struct slice key, void *arg) {
    struct listing *listing = arg;
    if (!is_shown(listing->call, key, listing->all)) return;
    reply_bulk(listing->call->reply, key);
    listing->count++;
}

/* The key of a value that a claim has taken is there for all clients. */
static void reply_now(struct call *call) {
    struct listing listing = {call, glob_is_match_all(call->argv[1]), 0};
    size_t mark = reply_begin(call->reply);
    struct keyspace_iter iter;
    const struct entry *entry;
    keyspace_iter_start(&iter, call->keyspace);
    while ((entry = keyspace_iter_next(&iter)) != NULL)
        if (!call_is_expired(call, entry)) reply_shown(entry_key(entry), &listing);
    claims_visit_taken(call, reply_shown, &listing);
    reply_array_end(call->reply, mark, listing.count);
}

/* --- In steps --- */

struct key_walk {
    struct stepped stepped; /* the first member */
    uint64_t cursor;        /* keyspace_walk */
    struct text_queue names;
    uint64_t visited; /* keys */
    bool all;
    const struct call *call; /* of the current step */
    uint64_t from;           /* the cursor when it began */
};

static void collect(struct key_walk *walk, struct slice key) {
    if (is_shown(walk->call, key, walk->all)) text_queue_add(&walk->names, key);
}

/* Reads the clock now and then: that takes as long as to look at a key. */
static bool visit(struct entry *entry, void *arg) {
    enum { CLOCK_EVERY = 8 };
    struct key_walk *walk = arg;
    if (!call_is_expired(walk->call, entry)) collect(walk, entry_key(entry));
    return ++walk->visited % CLOCK_EVERY != 0 || !steps_is_late(&walk->stepped);
}

static void collect_taken(struct slice key, void *arg) {
    struct key_walk *walk = arg;
    const struct keyspace *keyspace = walk->call->keyspace;
    if (keyspace_walk_passes(keyspace, key, walk->from, walk->cursor)) collect(walk, key);
}

static bool walk_on(struct call *call, struct stepped *stepped) {
    struct key_walk *walk = (struct key_walk *)stepped;
    walk->call = call;
    walk->from = walk->cursor;
    do walk->cursor = keyspace_walk(call->keyspace, walk->cursor, visit, walk);
    while (walk->cursor != 0 && !steps_is_late(stepped));
    claims_visit_taken(call, collect_taken, walk);
    stepped->allocated = walk->names.allocated;
    return walk->cursor != 0;
}

static void free_walk(struct stepped *stepped) {
    text_queue_free(&((struct key_walk *)stepped)->names);
}

/* --- The names --- */

enum { NAMES_AT_ONCE = 64 };

struct name_source {
    struct reply_source source;
    struct text_queue names;
    struct slice read[NAMES_AT_ONCE];
};

static void next_names(struct reply_source *source, struct reply *reply) {
    struct name_source *names = (struct name_source *)source;
    (void)reply;
    source->texts = names->read;
    source->text_count = text_queue_read(&names->names, names->read, NAMES_AT_ONCE);
}

static void end_names(struct reply_source *source) {
    text_queue_free(&((struct name_source *)source)->names);
}

/* The reply takes over the names. */
static void reply_later(struct reply *reply, struct text_queue *names, size_t expected) {
    static const struct reply_source_functions functions = {next_names, end_names};
    struct name_source *source =
        reply_source_new(reply, &functions, sizeof(*source), NULL, names->count, expected);
    source->source.allocated += names->allocated;
    source->names = *names;
    *names = (struct text_queue){0};
    reply_defer(reply, &source->source);
}

static void reply_names(struct call *call, struct stepped *stepped) {
    struct text_queue *names = &((struct key_walk *)stepped)->names;
    size_t expected = names->bytes + names->count * REPLY_BULK_FRAME, count;
    reply_array(call->reply, names->count);
    if (reply_may_defer(call->reply, expected)) {
        reply_later(call->reply, names, expected);
        return;
    }
    struct slice texts[NAMES_AT_ONCE];
    while ((count = text_queue_read(names, texts, NAMES_AT_ONCE)) > 0)
        reply_bulks(call->reply, texts, count);
}

void keys_command(struct call *call) {
    static const struct stepped_kind kind = {walk_on, reply_names, free_walk};
    if (!work_pays(call, keyspace_count(call->keyspace))) {
        reply_now(call);
        return;
    }
    struct key_walk *walk = stepped_new(&kind, sizeof(*walk));
    walk->all = glob_is_match_all(call->argv[1]);
    steps_begin(call, &walk->stepped);
}

/* claim: a work (engine/work.h) that is going to store or change a value owns the key until it has
 * ended. The value is out of the keyspace until then, so nothing that walks over keys can read,
 * change, evict or expire it.
 *
 *      command   work_begin_storing, work_begin_changing …: takes the value, claims the key
 *      others    whoever needs the key, or all keys, ends the work first, and waits for it
 *      loop      put the value back, then kind->answer, which writes as commands that run at once
 *
 * A command that stores goes to the command log when it comes, since its sources may change from
 * then on. One that changes a value takes effect, and goes there, when the work has ended. So does
 * one that stores and may fail: it claims its source, too.
 *
 * Clients' commands are asked for the keys that they name before they run (execute/admission.h).
 * What has to do with all keys asks for all: scripts, transactions, commands about databases,
 * snapshots, the end of the server, a change of its role, a pause of writes. But what only counts
 * or lists keys looks at the claimed ones, too, and does not wait. */
#ifndef PACKLIST_ENGINE_CLAIM_H
#define PACKLIST_ENGINE_CLAIM_H

#include "base/slice.h"
#include "engine/args.h"
#include "engine/keytable.h"
#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct command;
struct engine;
struct work;

/* An item of works->claims, by its name alone: the same name in another database waits, too. */
struct claim {
    struct keytable_key key;
    struct claim *prev;
    struct claim *next;
    struct work *work;
    struct claim *other;       /* the next one of the same work; or NULL */
    struct keyspace *keyspace; /* holds the value meanwhile; NULL: it was put back */
    bool has_value;
    bool fields_expire;            /* of the value when it was taken, */
    int64_t expiry;                /* and the expiry of the key then; -1: none */
    int database;                  /* of the key */
    int selected;                  /* the database of the client, */
    const struct command *command; /* whose command, when it has gone, */
    struct args *args;             /* has these arguments; owned */
    bool changes;                  /* the value, else it stores another one */
};

/* Claims a key of this database for the work of this call, which changes its value or else stores
 * another one, and takes the value. No claim of its name may exist: the call was asked
 * (claims_end_for). work->claim becomes the new claim, with the others of the work behind it.
 * O(arguments). */
void claim_make(const struct call *call, struct work *work, int database, struct slice key,
                bool changes);

/* Returns the arguments of the command, which live as long as the claim. O(1). */
const struct slice *claim_argv(const struct claim *claim);

/* Returns the value that the work changes: in its thread, and in the loop when it answers. O(1). */
struct keyref claim_value(const struct claim *claim);

/* The work has ended: its keys get back the values that were taken. */
void claim_put_back(struct claim *claim);

/* Prepares the call with which the work writes: a command that stores is in the command log
 * already, and what it replaces is freed in another thread. */
void claim_prepare(const struct claim *claim, struct call *call);

/* Has the work write its result, though its client has gone and nobody gets the reply. */
void claim_answer_alone(struct claim *claim);

/* All claims of the work are over. Frees them. */
void claim_free(struct claim *claim);

/* Visits the keys of the values that claims have taken out of the call's database, unless they have
 * expired since. O(claims). */
void claims_visit_taken(const struct call *call, void (*visit)(struct slice key, void *arg),
                        void *arg);

/* Returns how many such keys a database has (keyspace_count_of), with those that claims have taken
 * out of it. O(claims). */
size_t claims_count_keys(const struct engine *engine, int database, enum keyspace_keys which);

/* Returns whether a claim has taken the value of this key out of the database. O(claims). */
bool claims_have_taken(const struct engine *engine, int database, struct slice key);

/* Ends the works that have claimed a key which the command may use with these arguments, but not
 * those that it sees as they are (command->sees_claimed). Returns whether there were any: their
 * replies were written, and sessions may have been closed.
 * O(keys of the command), and the time of these works. */
bool claims_end_for(struct engine *engine, const struct command *command, const struct slice *argv,
                    size_t argc);

/* Ends all works that have claimed a key. O(1) if there is none. */
void claims_end_all(struct engine *engine);

#endif

/* claim: a work (engine/work.h) that is going to store a value owns the key until it has ended. The
 * old value is out of the keyspace until then, so nothing that walks over keys can read, change,
 * evict or expire it.
 *
 *      command   work_begin_storing: takes the value, claims the key
 *      others    whoever needs the key, or all keys, ends the work first, and waits for it
 *      loop      put the value back, then kind->answer, which writes as commands that run at once
 *
 * The command goes to the command log when it comes, since its sources may change from then on.
 *
 * Clients' commands are asked for the keys that they name before they run (execute/admission.h).
 * What has to do with all keys asks for all: scripts, transactions, commands about databases,
 * snapshots, the end of the server, a change of its role, a pause of writes. */
#ifndef PACKLIST_ENGINE_CLAIM_H
#define PACKLIST_ENGINE_CLAIM_H

#include "base/slice.h"
#include "engine/args.h"
#include "engine/keytable.h"

#include <stdbool.h>
#include <stddef.h>

struct call;
struct command;
struct engine;
struct entry;
struct work;

/* An item of works->claims, by its name alone: the same name in another database waits, too. */
struct claim {
    struct keytable_key key;
    struct claim *prev;
    struct claim *next;
    struct work *work;
    struct entry *taken; /* owned; NULL: there is no value */
    int database;
    const struct command *command; /* which, when its client has gone, */
    struct args *args;             /* has these arguments; owned */
};

/* Claims the key for the work of this call, and takes its value. No claim of its name may exist:
 * the call was asked (claims_end_for). O(arguments). */
void claim_make(struct call *call, struct work *work, struct slice key);

/* The work has ended: its key gets back the value that was taken. */
void claim_put_back(struct claim *claim);

/* Prepares the call with which the work stores its result: the command is in the command log
 * already, and what the result replaces is freed in another thread. */
void claim_prepare(struct call *call);

/* Has the work store its result, though its client has gone and nobody gets the reply. */
void claim_answer_alone(struct claim *claim);

/* The claim is over. Frees it. */
void claim_free(struct claim *claim);

/* Ends the works that have claimed a key which the command may use with these arguments, and
 * returns whether there were any: their replies were written, and sessions may have been closed.
 * O(keys of the command), and the time of these works. */
bool claims_end_for(struct engine *engine, const struct command *command, const struct slice *argv,
                    size_t argc);

/* Ends all works that have claimed a key. O(1) if there is none. */
void claims_end_all(struct engine *engine);

#endif

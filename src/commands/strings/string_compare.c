/* DELEX DELIFEQ DIGEST: strings that are compared before they are deleted, and what they are
 * compared by. */
#include "commands/commands.h"
#include "commands/strings/string_common.h"

/* Deletes the key that `ref` names and propagates that without the condition, which was met. */
static void delete_one(struct call *call, struct keyref *ref) {
    reply_integer(call->reply, ref->entry != NULL);
    if (ref->entry == NULL) return;
    call_remove(call, ref, call->argv[1], REMOVAL_DELETED);
    CALL_PROPAGATE(call, SLICE("DEL"), call->argv[1]);
}

/* Deletes a string for which the condition holds. A command that repeats a change has met it where
 * it was first run, so that the key is deleted whatever it holds. */
static void delete_if(struct call *call, struct keyref *ref, enum condition condition,
                      struct slice operand) {
    if (call_is_repeated(call) || string_meets(ref->entry, condition, operand))
        delete_one(call, ref);
    else
        reply_integer(call->reply, 0);
}

/* DELEX key [IFEQ value | IFNE value | IFDEQ digest | IFDNE digest] */
void delex_command(struct call *call) {
    struct keyref ref;
    if (call->argc == 2) {
        call_find(call, call->argv[1], 0, &ref);
        delete_one(call, &ref);
        return;
    }
    if (call->argc != 4) {
        call_wrong_arity(call);
        return;
    }
    enum condition condition = string_condition(call->argv[2]);
    call_find_read(call, call->argv[1], &ref);
    if (ref.entry == NULL)
        reply_integer(call->reply, 0);
    else if (entry_type(ref.entry) != VALUE_STRING && !call_is_repeated(call))
        reply_error(call->reply, "ERR Key should be of string type if conditions are specified");
    else if (condition == CONDITION_NONE)
        reply_error(call->reply, "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
    else if (string_check_condition(call, condition, call->argv[3]))
        delete_if(call, &ref, condition, call->argv[3]);
}

/* DELIFEQ key value (of Valkey) */
void delifeq_command(struct call *call) {
    struct keyref ref;
    call_find_write(call, call->argv[1], &ref);
    if (ref.entry == NULL)
        reply_integer(call->reply, 0);
    else if (call_is_repeated(call) || call_check_type(call, ref.entry, VALUE_STRING))
        delete_if(call, &ref, CONDITION_IFEQ, call->argv[2]);
}

void digest_command(struct call *call) {
    char buffer[INT64_TEXT_MAX], digest[STRING_DIGEST_LENGTH + 1];
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], VALUE_STRING, &ref)) return;
    if (ref.entry == NULL)
        reply_null(call->reply);
    else
        reply_bulk(call->reply, string_digest(string_text(ref.entry, buffer), digest));
}

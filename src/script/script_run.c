#include "script/script_run.h"

#include "cluster/route.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "execute/admission.h"
#include "lua/machine.h"
#include "reclaim/evict.h"
#include "script/script_busy.h"
#include "script/script_machine.h"
#include "script/shebang.h"
#include "script/value_reply.h"
#include "session/clients.h"
#include "session/session.h"
#include "table/command.h"

/* --- Arguments --- */

static int prepare(lua_State *L, void *arg) {
    const struct script_run *run = arg;
    const struct call *call = run->call;
    const struct scripts *scripts = run->scripts;
    enum { FIRST_KEY = 3 };
    const struct slice *keys = call->argv + FIRST_KEY, *others = keys + run->key_count;
    size_t key_count = run->key_count, other_count = call->argc - FIRST_KEY - key_count;
    if (run->program->is_function) {
        machine_push_strings(L, keys, key_count);
        machine_push_strings(L, others, other_count);
        return 2;
    }
    machine_fill_run_table(scripts->machine, scripts->keys_table, keys, key_count);
    machine_fill_run_table(scripts->machine, scripts->argv_table, others, other_count);
    return 0;
}

/* --- Rights --- */

/* Returns the flags that the script or function declares; SCRIPT_IS_UNDECLARED: it declares none,
 * or there is no such script. */
static uint32_t declared_flags(const struct engine *engine, const struct command *command,
                               struct slice name) {
    struct script_cache *cache = &engine->scripts->cache;
    if (command->flags & COMMAND_BY_NAME) {
        const struct function *function = function_set_function(engine->functions->set, name);
        return function ? function->flags : SCRIPT_IS_UNDECLARED;
    }
    if (command->flags & COMMAND_BY_SHA) {
        const struct script *script = script_cache_find_sha(cache, name);
        return script ? script->flags : SCRIPT_IS_UNDECLARED;
    }
    struct shebang shebang = {.flags = SCRIPT_IS_UNDECLARED};
    sds error = shebang_read(name, &shebang);
    if (!error) return shebang.flags;
    sds_free(error); /* EVAL itself replies it */
    return SCRIPT_IS_UNDECLARED;
}

uint32_t script_command_flags(const struct engine *engine, const struct command *command,
                              const struct slice *argv) {
    const uint32_t depending =
        COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_STALE | COMMAND_MAY_REPLICATE;
    uint32_t declared = declared_flags(engine, command, argv[1]), flags = command->flags;
    if (declared & SCRIPT_IS_UNDECLARED) return flags;
    flags &= ~depending;
    if (!(declared & SCRIPT_NO_WRITES)) flags |= COMMAND_WRITE;
    if (!(declared & (SCRIPT_NO_WRITES | SCRIPT_ALLOW_OOM))) flags |= COMMAND_DENYOOM;
    if (declared & SCRIPT_ALLOW_STALE) flags |= COMMAND_STALE;
    return flags;
}

/* Returns the error for a script whose flags do not allow it to run now; NULL: it may. A script
 * that declares nothing may always run, but not on a stale replica; its commands are refused
 * instead. */
static const char *refusal(const struct script_run *run) {
    uint32_t flags = run->program->flags;
    uint32_t restrictions = run->call->engine->restrictions;
    bool declares_writes = !(flags & (SCRIPT_NO_WRITES | SCRIPT_IS_UNDECLARED));
    if (restrictions & RESTRICTED_CLUSTER && flags & SCRIPT_NO_CLUSTER)
        return "ERR Can not run script on cluster, 'no-cluster' flag is set.";
    if (restrictions & RESTRICTED_READONLY && declares_writes) return READONLY_REFUSAL;
    if (restrictions & RESTRICTED_STALE && !(flags & SCRIPT_ALLOW_STALE)) return MASTERDOWN_REFUSAL;
    if (declares_writes) {
        if (run->scope.lacks_memory && !(flags & SCRIPT_ALLOW_OOM)) return EVICT_REFUSAL;
        if (run->call->command->flags & COMMAND_READONLY) /* EVAL_RO and the like */
            return "ERR Can not execute a script with write flag using *_ro command.";
    }
    return NULL;
}

static struct script_scope scope_of(const struct call *call, const struct script_program *program) {
    struct script_scope scope = {.requester = *call->requester, .audience = COMMAND_LOG_ALL};
    scope.requester.last_command = call->engine->scripts->last_command;
    scope.is_readonly =
        call->command->flags & COMMAND_READONLY || program->flags & SCRIPT_NO_WRITES;
    scope.lacks_memory = call->engine->config.maxmemory && !evict_make_room(call->engine);
    scope.may_cross_slots = program->flags & (SCRIPT_ALLOW_CROSS_SLOT_KEYS | SCRIPT_IS_UNDECLARED);
    scope.slot = call->engine->cluster && !scope.may_cross_slots ? route_first_slot(call) : -1;
    return scope;
}

/* --- Results --- */

static void reply_place(const struct script_run *run, sds text) {
    struct machine_place place = machine_error_place(run->program->machine);
    text = sds_append_format(text, " script: %s", run->program->name);
    if (place.source && place.line > 0)
        text = sds_append_format(text, ", on %s:%d.", place.source, place.line);
    reply_error_text(run->call->reply, sds_slice(text));
    sds_free(text);
}

/* What a script holds in its memory always makes a smaller reply, if nothing stands in it several
 * times. */
static size_t reply_max(const struct scripts *scripts) {
    size_t memory = (size_t)scripts->engine->config.lua_memory_limit;
    size_t bulk = (size_t)scripts->engine->config.proto_max_bulk_len;
    return memory < bulk / 2 ? 2 * memory : bulk;
}

static void reply_end(const struct script_run *run) {
    const char *text = machine_end_text(run->program->machine);
    reply_place(run, sds_append_cstr(sds_new(SLICE("ERR ")), text));
}

/* The script may still be ended while its result is written, and other clients may be served. */
static void reply_result(struct script_run *run, enum machine_result result) {
    lua_State *L = machine_state(run->program->machine);
    bool is_counted = false;
    machine_suspend_limit(run->program->machine);
    switch (result) {
    case MACHINE_DONE:
        lua_settop(L, 1); /* the first result, or nil */
        if (!value_reply(L, 1, run->call->reply, run->protocol, reply_max(run->scripts),
                         &is_counted))
            reply_end(run);
        break;
    case MACHINE_FAILED: reply_place(run, value_reply_error_text(L, 1, &is_counted)); break;
    case MACHINE_ENDED: reply_end(run); break;
    }
    run->call->error_is_counted = is_counted;
    machine_resume_limit(run->program->machine);
}

/* --- Running --- */

void script_run_program(struct call *call, const struct script_program *program, size_t key_count) {
    struct scripts *scripts = call->engine->scripts;
    struct script_run run = {.scripts = scripts,
                             .call = call,
                             .program = program,
                             .key_count = key_count,
                             .scope = scope_of(call, program),
                             .protocol = 2};
    const char *error = refusal(&run);
    if (error) {
        reply_error(call->reply, error);
        return;
    }
    run.scope.lacks_memory = run.scope.lacks_memory && !(program->flags & SCRIPT_ALLOW_OOM);
    call->engine->clients->batch_marks |= BATCH_RAN_SCRIPT;
    scripts->run = &run;
    script_busy_begin(&run);
    enum machine_result result =
        script_machine_run(scripts, program->machine, program->function, prepare, &run);
    reply_result(&run, result);
    script_busy_end(&run);
    scripts->run = NULL;
    scripts->last_command = run.scope.requester.last_command;
    call->requester->commands = run.scope.requester.commands;
    machine_finish(program->machine);
}

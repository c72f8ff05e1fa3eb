#include "script/function_language.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "lua/machine.h"
#include "net/loop/pool.h"
#include "script/redis_library.h"
#include "script/script.h"
#include "script/script_run.h"

/* The time that the code of a library may take when a client loads it; and the processor time when
 * it was accepted before (FUNCTION_ACCEPTED). */
enum { LOAD_MS_MAX = 500, ACCEPTED_MS_MAX = 2000 };

/* --- Loading --- */

static int64_t time_us(const struct function_runner *runner) {
    return runner->is_accepted ? clock_thread_us() : clock_monotonic_us();
}

static const char *watch_load(void *arg) {
    const struct function_runner *runner = arg;
    return time_us(runner) > runner->deadline_us ? "FUNCTION LOAD timeout" : NULL;
}

/* Prefixes the error of the machine's last run, which is on its stack. */
static sds run_error(const struct function_runner *runner, enum machine_result result) {
    struct machine *machine = runner->machine;
    bool is_counted;
    sds text = sds_new(SLICE("Error registering functions: "));
    if (result == MACHINE_ENDED && runner->is_accepted)
        return sds_append_format(text, "ERR the code of the library '%s' has not ended in %d ms",
                                 runner->loading->name, ACCEPTED_MS_MAX);
    if (result == MACHINE_ENDED)
        return sds_append_format(text, "ERR %s", machine_end_text(machine));
    machine_suspend_limit(machine);
    sds error = script_error_text(machine_state(machine), 1, &is_counted);
    machine_resume_limit(machine);
    text = sds_append(text, sds_slice(error));
    sds_free(error);
    return text;
}

/* Runs the code of a library. */
static bool run_code(struct function_runner *runner, struct function_library *library, int code,
                     unsigned flags, sds *error) {
    struct machine *machine = runner->machine;
    runner->is_accepted = flags & FUNCTION_ACCEPTED;
    runner->loading = library;
    runner->deadline_us =
        time_us(runner) + (runner->is_accepted ? ACCEPTED_MS_MAX : LOAD_MS_MAX) * 1000;
    machine_set_watch(machine, watch_load, runner);
    machine_choose_view(machine, runner->loading_view);
    enum machine_result result = scripts_run_machine(runner->scripts, machine, code, NULL, NULL);
    machine_choose_view(machine, MACHINE_VIEW_LIBRARIES);
    machine_set_watch(machine, NULL, NULL);
    if (result != MACHINE_DONE) *error = run_error(runner, result);
    runner->loading = NULL;
    machine_finish(machine);
    return result == MACHINE_DONE;
}

static bool compile(void *arg, struct function_library *library, struct slice body, unsigned flags,
                    sds *error) {
    struct function_runner *runner = arg;
    int code = machine_compile(runner->machine, "@user_function", body);
    if (code == LUA_NOREF) {
        const char *text = lua_tostring(machine_state(runner->machine), -1);
        *error =
            sds_append_format(sds_new(SLICE("")), "Error compiling function: %s", text ? text : "");
        machine_finish(runner->machine);
        return false;
    }
    bool done = run_code(runner, library, code, flags, error);
    for (size_t i = 0; done && i < library->function_count; i++)
        machine_shorten_globals(runner->machine, library->functions[i]->reference);
    machine_release(runner->machine, code);
    return done;
}

static void release(void *arg, const struct function *function) {
    const struct function_runner *runner = arg;
    machine_release(runner->machine, function->reference);
}

/* --- The machine --- */

static void make_machine(struct function_runner *runner) {
    struct machine *machine = scripts_new_machine(runner->scripts);
    runner->loading_view = machine_add_view(machine, redis_library_open_for_loading);
    machine_seal(machine);
    runner->machine = machine;
}

struct function_runner *function_runner_new(struct scripts *scripts) {
    struct function_runner *runner = mem_alloc_zeroed(sizeof(*runner));
    runner->scripts = scripts;
    runner->language = (struct function_language){
        .name = "LUA", .arg = runner, .compile = compile, .release = release};
    make_machine(runner);
    scripts->engine->functions->language = &runner->language;
    return runner;
}

void function_runner_free(struct function_runner *runner) {
    runner->scripts->engine->functions->language = NULL;
    machine_free(runner->machine);
    mem_free(runner);
}

static void free_machine(void *arg) {
    machine_free(arg);
}

static void forget(void *arg) {
    (void)arg;
}

void function_runner_flush(struct function_runner *runner, bool in_pool) {
    struct machine *flushed = runner->machine;
    make_machine(runner);
    if (in_pool)
        net_pool_run(runner->scripts->engine->net, free_machine, forget, flushed);
    else
        machine_free(flushed);
}

#include "net/loop/loop.h"

#include "base/alloc.h"

int loop_begin(struct loop *loop) {
    int status = uv_loop_init(&loop->uv);
    if (status != 0) return status;
    loop->uv.data = loop;
    uv_idle_init(&loop->uv, &loop->idle);
    return 0;
}

/* While this idle handle is active, libuv does not let the loop sleep. It has nothing else to
 * do. */
static void on_idle(uv_idle_t *idle) {
    (void)idle;
}

void loop_stay_awake(struct loop *loop, bool on) {
    if (on)
        uv_idle_start(&loop->idle, on_idle);
    else
        uv_idle_stop(&loop->idle);
}

void loop_free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

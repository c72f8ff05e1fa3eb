#include "net/loop/loop.h"

#include "base/memory/alloc.h"
#include "base/threads/bell.h"

int loop_begin(struct loop *loop, uv_prepare_cb prepare) {
    int status = uv_loop_init(&loop->uv);
    if (status != 0) return status;
    loop->uv.data = loop;
    uv_idle_init(&loop->uv, &loop->idle);
    uv_prepare_init(&loop->uv, &loop->prepare);
    uv_prepare_start(&loop->prepare, prepare);
    return 0;
}

void loop_end(struct loop *loop) {
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    uv_close((uv_handle_t *)&loop->idle, NULL);
}

static void on_bell(uv_poll_t *poll, int status, int events) {
    (void)status, (void)events;
    bell_clear(poll->data);
}

int loop_watch_bell(struct loop *loop, uv_poll_t *poll, struct bell *bell) {
    int status = uv_poll_init(&loop->uv, poll, bell->fd);
    if (status != 0) return status;
    poll->data = bell;
    uv_poll_start(poll, UV_READABLE, on_bell); /* which does not fail here */
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

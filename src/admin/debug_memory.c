#include "admin/debug_memory.h"

#include "base/alloc.h"
#include "session/session.h"
#include "store/entry.h"

#include <errno.h>
#include <string.h>

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

void debug_mallctl(struct call *call) {
    int64_t value = 0;
    if (call->argc > 3 && !call_integer(call, 3, &value)) return;
    sds name = sds_new(call->argv[2]);
    int error = EINVAL;
    for (size_t size = sizeof(int64_t); size > 0 && error == EINVAL; size /= 2)
        error = control_number(call, name, value, size);
    if (error) reply_error_format(call->reply, "ERR %s", strerror(error));
    sds_free(name);
}

void debug_mallctl_str(struct call *call) {
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

void debug_structsize(struct call *call) {
    sds text = sds_append_format(sds_new(SLICE("")), "bits:%zu entry:%zu session:%zu slice:%zu",
                                 sizeof(void *) * 8, sizeof(struct entry), sizeof(struct session),
                                 sizeof(struct slice));
    reply_status(call->reply, sds_slice(text));
    sds_free(text);
}

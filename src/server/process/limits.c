#include "server/process/limits.h"

#include <sys/resource.h>

/* Files of the server's own: listening sockets, log, pid file, event loop, files being written. */
enum { OWN_FILES = 32 };

bool limits_raise_files(int64_t *clients, sds *why) {
    rlim_t wanted = (rlim_t)*clients + OWN_FILES;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true; /* the limit is unknown */
    if (limit.rlim_cur >= wanted) return true;
    rlim_t hard = limit.rlim_max > wanted ? limit.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){wanted, hard}) == 0) return true;
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){limit.rlim_max, limit.rlim_max}) == 0)
        limit.rlim_cur = limit.rlim_max;
    *why = sds_append_format(
        sds_new(SLICE("")),
        "maxclients %lld needs %llu open files, but the system allows %llu: only %lld clients can "
        "be served. Raise the limit ('ulimit -n') to serve more.",
        (long long)*clients, (unsigned long long)wanted, (unsigned long long)limit.rlim_cur,
        (long long)(limit.rlim_cur > OWN_FILES ? limit.rlim_cur - OWN_FILES : 1));
    *clients = limit.rlim_cur > OWN_FILES ? (int64_t)(limit.rlim_cur - OWN_FILES) : 1;
    return false;
}

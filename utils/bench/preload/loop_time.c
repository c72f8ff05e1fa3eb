/* loop_time: a library that is loaded before a server (LD_PRELOAD) and measures its event loop: the
 * CPU time of the longest iteration, from the end of one wait for events to the next wait. Other
 * programs on the machine can delay an iteration, but add nearly nothing to its CPU time. So this
 * says what the server does, where the time that a client waits also says what else runs.
 *
 *      cc -O2 -shared -fPIC -o loop_time.so loop_time.c
 *      LD_PRELOAD=./loop_time.so LOOP_TIME_FILE=longest packlist-server
 *
 * LOOP_TIME_FILE has 8 bytes: the nanoseconds, a number in the machine's order of bytes. Whoever
 * writes zero there begins anew. A program that waits in several threads reports the longest
 * iteration of any. Page faults and system calls of the thread count; what its other threads do
 * does not. It knows epoll only, and costs a microsecond an iteration. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t *longest; /* NULL: nothing is measured */
static __thread uint64_t begin_ns;

__attribute__((constructor)) static void map_file(void) {
    const char *path = getenv("LOOP_TIME_FILE");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return;
    if (ftruncate(fd, sizeof(*longest)) == 0) {
        void *bytes = mmap(NULL, sizeof(*longest), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (bytes != MAP_FAILED) longest = bytes;
    }
    close(fd);
}

static uint64_t thread_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void end_iteration(void) {
    if (!longest || begin_ns == 0) return;
    uint64_t ns = thread_ns() - begin_ns, before = atomic_load(longest);
    while (ns > before && !atomic_compare_exchange_weak(longest, &before, ns)) {
    }
}

static void begin_iteration(void) {
    if (longest) begin_ns = thread_ns();
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout,
                const sigset_t *mask) {
    int (*next)(int, struct epoll_event *, int, int, const sigset_t *) =
        (int (*)(int, struct epoll_event *, int, int, const sigset_t *))dlsym(RTLD_NEXT,
                                                                              "epoll_pwait");
    end_iteration();
    int count = next(epoll, events, most, timeout, mask);
    begin_iteration();
    return count;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
    return epoll_pwait(epoll, events, most, timeout, NULL);
}

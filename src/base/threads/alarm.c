#define _GNU_SOURCE /* gettid */
#include "base/threads/alarm.h"

#include "base/memory/alloc.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* the C library has the field, but not its name */
#define sigev_notify_thread_id _sigev_un._tid
#endif

struct alarm {
    timer_t timer;
    void (*ring)(void *arg);
    void *arg;
};

static void on_signal(int signum, siginfo_t *info, void *context) {
    (void)signum;
    (void)context;
    if (info->si_code != SI_TIMER) return; /* another process has sent it */
    int saved_errno = errno;
    const struct alarm *alarm = info->si_value.sival_ptr;
    alarm->ring(alarm->arg);
    errno = saved_errno;
}

static void ignore_signal(void) {
    sigaction(SIGVTALRM, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
}

struct alarm *alarm_start(void (*ring)(void *arg), void *arg) {
    struct alarm *alarm = mem_alloc(sizeof(*alarm));
    *alarm = (struct alarm){.ring = ring, .arg = arg};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_sigaction = on_signal;
    sigaction(SIGVTALRM, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
    event.sigev_value.sival_ptr = alarm;
    event.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &alarm->timer) != 0) {
        int saved_errno = errno;
        ignore_signal();
        mem_free(alarm);
        errno = saved_errno;
        return NULL;
    }
    struct timespec interval = {.tv_nsec = ALARM_MS * 1000000};
    timer_settime(alarm->timer, 0, &(struct itimerspec){interval, interval}, NULL);
    return alarm;
}

/* A signal that the timer has sent already must not find the alarm freed: ignoring it first drops
 * it. */
void alarm_stop(struct alarm *alarm) {
    if (!alarm) return;
    ignore_signal();
    timer_delete(alarm->timer);
    mem_free(alarm);
}

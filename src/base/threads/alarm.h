/* alarm: calls a function again and again while a thread works, even in the middle of a function
 * of a library that takes long.
 *
 * It is a timer of the system (timer_create) that counts the processor time of the thread that
 * started it, and a handler of SIGVTALRM, which runs in this thread. So a thread that waits is not
 * interrupted, and an idle process does not wake up. A process has one alarm. */
#ifndef PACKLIST_BASE_THREADS_ALARM_H
#define PACKLIST_BASE_THREADS_ALARM_H

struct alarm;

/* Processor time between two calls. */
enum { ALARM_MS = 50 };

/* Starts it. `ring` is called in the handler of a signal: it may call only functions that are safe
 * there. Returns NULL, with errno set, if the system has no such timer. */
struct alarm *alarm_start(void (*ring)(void *arg), void *arg);

/* Stops and frees it. Called by the thread that started it. NULL: does nothing. */
void alarm_stop(struct alarm *alarm);

#endif

/* alarm: calls a function again and again while a thread works, even inside of a library: a timer
 * (timer_create) counts the processor time of the thread that started it, and the handler of
 * SIGVTALRM runs there. A thread that waits is not interrupted. A process has one alarm. */
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

/* process_title: the title that ps and top show for the process (set-proc-title,
 * proc-title-template).
 *
 * The system shows the memory that held the arguments, and after them the environment, when the
 * process started. Both are copied elsewhere, and the title is written there. */
#ifndef PACKLIST_SERVER_PROCESS_PROCESS_TITLE_H
#define PACKLIST_SERVER_PROCESS_PROCESS_TITLE_H

#include <stddef.h>

struct engine;

/* The system shows `memory` up to the end of the arguments or, when a title has overwritten that
 * end, up to the next NUL. */
struct process_title {
    char *memory;
    size_t size;            /* bytes up to the end of the environment */
    size_t used;            /* bytes that the arguments, or the longest title, took */
    const char *started_as; /* argv[0]; NULL: there were no arguments */
};

/* Copies main's arguments and the environment, and points `argv` and `environ` to the copies, which
 * are never freed. Call it once, before any code keeps a pointer to them. */
void process_title_init(struct process_title *title, int argc, char **argv);

/* Sets the title if set-proc-title is on: call it at the start, and after a change of the
 * directives. A title that is longer than the arguments and the environment were is cut off. */
void process_title_set(struct engine *engine);

#endif

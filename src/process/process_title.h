/* process_title: what ps and top show of the process (set-proc-title, proc-title-template).
 *
 * The system shows the memory in which the arguments lay when the process was started, so the title
 * is written there. Behind it lay the environment: both are moved away first. */
#ifndef PACKLIST_PROCESS_PROCESS_TITLE_H
#define PACKLIST_PROCESS_PROCESS_TITLE_H

struct engine;

/* Once, with main's arguments, before anything keeps a pointer into them or the environment: copies
 * both, and puts the copies into `argv` and `environ`. They are never freed. */
void process_title_init(int argc, char **argv);

/* Sets the title as the configuration says, if it says so: at the start, and after a change. A
 * title that is longer than the arguments and the environment were is cut off. */
void process_title_set(struct engine *engine);

/* The same in a forked child, whose {title} is this one. */
void process_title_set_child(struct engine *engine, const char *title);

#endif

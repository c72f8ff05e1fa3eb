/* processor: whether code for one kind of processor may be compiled. Each such piece of code has a
 * plain version in C for all others. PACKLIST_PLAIN (make PLAIN=1) leaves every special piece out,
 * so that the plain ones are tested on any machine. */
#ifndef PACKLIST_BASE_PROCESSOR_H
#define PACKLIST_BASE_PROCESSOR_H

#if defined(__x86_64__) && !defined(PACKLIST_PLAIN)
#define PROCESSOR_X86_64 /* SSE2 is there always; more must be asked for when it runs */
#endif

#endif

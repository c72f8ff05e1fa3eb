/* sample_rates: reads counters regularly, for the rates and the peak of memory in INFO. */
#ifndef PACKLIST_SERVER_SAMPLE_RATES_H
#define PACKLIST_SERVER_SAMPLE_RATES_H

struct engine;

/* To be called often: notes the memory in use, and every 100 ms the counters. O(1). */
void sample_rates(struct engine *engine);

#endif

/* The checks of net_test.c with connections that are given to I/O threads. */
#define NET_FIXTURE_THREADS 2
#include "unit/net_test.c"

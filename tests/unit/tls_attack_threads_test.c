/* The checks of tls_attack_test.c with connections that are with I/O threads. */
#define NET_FIXTURE_THREADS 2
#include "unit/tls_attack_test.c"

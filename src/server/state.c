/* state: the state of the process, apart from the code that builds it: whoever uses it depends on
 * no more than this. */
#include "server/server.h"

struct server server;

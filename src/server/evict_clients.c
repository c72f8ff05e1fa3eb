/* evict_clients: maxmemory-clients. Only when the sum that client_memory.h knows is over the limit
 * are all clients asked. */
#include "server/evict_clients.h"

#include "base/log.h"
#include "server/client_memory.h"
#include "server/server.h"

/* In bytes; 0 = no limit. */
static size_t limit(void) {
    int64_t limit = server.config.maxmemory_clients;
    if (limit >= 0) return (size_t)limit;
    return (size_t)((unsigned __int128)server.config.maxmemory * (uint64_t)-limit / 100);
}

/* So many clients are closed in one loop iteration. */
enum { CLOSED_AT_ONCE = 32 };

/* Finds the largest clients, in descending order; returns how many. O(clients). */
static size_t find_largest(struct session *largest[CLOSED_AT_ONCE]) {
    size_t count = 0;
    for (struct session *session = server.sessions.first; session; session = session->next) {
        if (!(session->marks & SESSION_LIMITED)) continue;
        bool is_full = count == CLOSED_AT_ONCE;
        if (is_full && largest[count - 1]->accounted >= session->accounted) continue;
        size_t at = is_full ? count - 1 : count++;
        for (; at > 0 && largest[at - 1]->accounted < session->accounted; at--)
            largest[at] = largest[at - 1];
        largest[at] = session;
    }
    return count;
}

static void close_client(struct session *session) {
    char peer[CONN_NAME_MAX];
    log_notice("Evicting client id=%llu addr=%s: it takes %zu bytes",
               (unsigned long long)session->id, conn_peer_name(conn_of_session(session), peer),
               session->accounted);
    server.stats.evicted_clients++;
    session_close(session);
}

bool evict_clients(void) {
    size_t allowed = limit();
    if (allowed == 0 || server.clients_memory <= allowed) return false;
    client_memory_note_all();
    if (server.clients_memory <= allowed) return false;
    struct session *largest[CLOSED_AT_ONCE];
    size_t count = find_largest(largest);
    for (size_t i = 0; i < count && server.clients_memory > allowed; i++) close_client(largest[i]);
    return server.clients_memory > allowed;
}

#include "users/failed_logins.h"

#include <stddef.h>

static struct failed_address *set_of(const struct failed_logins *logins, uint64_t hash) {
    return (struct failed_address *)logins->sets[hash % FAILED_LOGINS_SETS];
}

/* Returns the address, or NULL. */
static struct failed_address *find(const struct failed_logins *logins, uint64_t hash) {
    struct failed_address *set = set_of(logins, hash);
    for (size_t i = 0; i < FAILED_LOGINS_WAYS; i++)
        if (set[i].count > 0 && set[i].hash == hash) return &set[i];
    return NULL;
}

static bool is_forgotten(const struct failed_address *address, int64_t now_ms) {
    return now_ms - address->last_ms >= FAILED_LOGINS_FORGET_MS;
}

/* Returns a free place, or the one whose last failure is oldest. */
static struct failed_address *place_for(struct failed_logins *logins, uint64_t hash) {
    struct failed_address *set = set_of(logins, hash), *place = &set[0];
    for (size_t i = 1; i < FAILED_LOGINS_WAYS && place->count > 0; i++)
        if (set[i].count == 0 || set[i].last_ms < place->last_ms) place = &set[i];
    return place;
}

int64_t failed_logins_delay(const struct failed_logins *logins, uint64_t hash, int64_t now_ms) {
    const struct failed_address *address = find(logins, hash);
    if (!address || address->count < FAILED_LOGINS_FREE || is_forgotten(address, now_ms)) return 0;
    int64_t delay = FAILED_LOGINS_FIRST_MS;
    for (uint32_t i = FAILED_LOGINS_FREE; i < address->count && delay < FAILED_LOGINS_LAST_MS; i++)
        delay *= 2;
    return delay < FAILED_LOGINS_LAST_MS ? delay : FAILED_LOGINS_LAST_MS;
}

void failed_logins_add(struct failed_logins *logins, uint64_t hash, int64_t now_ms) {
    struct failed_address *address = find(logins, hash);
    uint32_t count = address && !is_forgotten(address, now_ms) ? address->count : 0;
    if (!address) address = place_for(logins, hash);
    *address = (struct failed_address){hash, now_ms, count < UINT32_MAX ? count + 1 : count};
    logins->is_used = true;
}

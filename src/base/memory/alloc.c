/* How mem_used() counts without work per allocation
 *
 *      thread 1 (thread-local)          thread 2                      process
 *      ┌───────────────────────┐        ┌───────────────────────┐
 *      │ allocated ─┐ freed ─┐ │◄──────►│ allocated   freed     │◄─── ledger.threads
 *      │ settled    │        │ │        │ settled               │     ledger.settled
 *      └────────────┼────────┼─┘        └───────────────────────┘
 *                   ▼        ▼
 *            jemalloc's own counters of this thread, which only grow
 *
 * Invariant: used = ledger.settled + Σ over ledger.threads of (*allocated - *freed - settled).
 *
 * A thread is linked in by its first call of this module; its counters reach back to its start.
 * When it ends, a destructor adds its balance (negative, if it has freed what others allocated) to
 * ledger.settled and unlinks it; if another destructor allocates after that, it is linked in again,
 * and `settled` holds the bytes already added. A process forks only while it has one thread. */
#include "base/memory/alloc.h"

#include "base/chain.h"
#include "base/checked.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef PACKLIST_LIBC_MALLOC
#include <malloc.h>
#else
#include <jemalloc/jemalloc.h>
#endif

/* --- Running out --- */

static void (*out_of_memory_report)(size_t size);

void mem_on_out_of_memory(void (*report)(size_t size)) {
    out_of_memory_report = report;
}

/* Decimal digits by hand: printf might allocate. */
static void report_to_stderr(size_t size) {
    char line[64] = "out of memory: could not get ";
    size_t len = strlen(line), digits = 1;
    for (size_t rest = size; rest >= 10; rest /= 10) digits++;
    for (size_t i = digits; i > 0; i--, size /= 10) line[len + i - 1] = (char)('0' + size % 10);
    len += digits;
    memcpy(line + len, " bytes\n", 7);
    if (write(STDERR_FILENO, line, len + 7) < 0) return; /* nowhere left to complain */
}

static _Noreturn __attribute__((cold, noinline)) void out_of_memory(size_t size) {
    void (*report)(size_t) = out_of_memory_report;
    out_of_memory_report = NULL; /* one that runs out of memory itself is not called again */
    (report != NULL ? report : report_to_stderr)(size);
    abort();
}

#ifdef PACKLIST_LIBC_MALLOC
/* --- The C library's malloc, for sanitizer builds --- */

static size_t used;

/* Sanitizers abort by themselves on a size they can't serve, unless told to return NULL as malloc
 * does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

static void *counted(void *ptr) {
    if (ptr) __atomic_add_fetch(&used, mem_good_size(malloc_usable_size(ptr)), __ATOMIC_RELAXED);
    return ptr;
}

static void uncount(void *ptr) {
    if (ptr) __atomic_sub_fetch(&used, mem_good_size(malloc_usable_size(ptr)), __ATOMIC_RELAXED);
}

static void *raw_alloc(size_t size) {
    return counted(malloc(size));
}

static void *raw_alloc_zeroed(size_t size) {
    return counted(calloc(1, size));
}

static void *raw_alloc_aligned(size_t alignment, size_t size) {
    void *ptr = NULL;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    return posix_memalign(&ptr, alignment, size) == 0 ? counted(ptr) : NULL;
}

static void *raw_realloc(void *ptr, size_t size) {
    uncount(ptr);
    void *moved = realloc(ptr, size);
    if (moved == NULL) counted(ptr);
    return counted(moved);
}

void mem_free(void *ptr) {
    uncount(ptr);
    free(ptr);
}

void mem_free_sized(void *ptr, size_t size) {
    (void)size;
    mem_free(ptr);
}

size_t mem_used(void) {
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

int64_t mem_thread_balance(void) {
    return (int64_t)mem_used();
}

void mem_stats_read(struct mem_stats *stats) {
    *stats = (struct mem_stats){.allocated = mem_used()};
}

bool mem_counts_pages(void) {
    return false;
}

const char *mem_allocator_name(void) {
    return "libc";
}

bool mem_decay_in_background(bool on) {
    (void)on;
    return true;
}

void mem_keep_freed(bool on) {
    (void)on;
}

bool mem_has_freed_large(void) {
    return false;
}

void mem_return_large(void) {}

void mem_decay(void) {}

void mem_purge(void) {
    malloc_trim(0);
}

void mem_print_stats(void (*write)(void *arg, const char *text), void *arg) {
    write(arg, "The C library's allocator, which has no report.\n");
}

int mem_control(const char *name, void *old, size_t *old_size, const void *new, size_t new_size) {
    (void)name, (void)old, (void)old_size, (void)new, (void)new_size;
    return ENOTSUP;
}

#else
/* --- jemalloc --- */

/* Read by jemalloc before main.
 * narenas: one thread does nearly all the work; a second arena would only spread memory thinner.
 * Memory allocated by one thread and freed by another then comes back to where it is wanted.
 * background_thread: comes later (mem_decay_in_background), as it would not survive daemonizing.
 * lg_extent_max_active_fit: what was freed is used again whatever has become of it. By itself
 * jemalloc leaves freed memory that has grown together to more than 64 times of what is wanted, and
 * takes new memory, each page of which costs a fault: as where a keyspace takes another's place.
 * slab_sizes: jemalloc keeps 128 bytes about each slab for ever, and its slabs of 256 bytes (say)
 * have one page: 3 % of the memory at its peak. Slabs of up to 16 pages take 0.2 %. Their pages are
 * multiples of its own choice, so that no place is left over at the end of a slab.
 * disable_large_size_classes: since 5.3.1 the classes from 16 KB on are whole pages, unless told
 * otherwise; mem_good_size() computes those of all versions before. An older jemalloc would
 * complain of an option that it does not know. */
#if JEMALLOC_VERSION_MAJOR * 10000 + JEMALLOC_VERSION_MINOR * 100 + JEMALLOC_VERSION_BUGFIX >= 50301
#define SIZE_CLASSES ",disable_large_size_classes:false"
#else
#define SIZE_CLASSES ""
#endif
#define SLABS                                                                                      \
    "64-64:8|80-80:10|96-96:12|112-112:14|128-128:16|160-160:15|192-192:15|224-224:14|256-256:16|" \
    "320-320:15|384-384:15|512-512:8|1024-1024:8|2048-2048:8"
const char *malloc_conf = "narenas:1,background_thread:false,dirty_decay_ms:10000,muzzy_decay_ms:0,"
                          "lg_extent_max_active_fit:32,slab_sizes:" SLABS SIZE_CLASSES;

struct thread_balance {
    const uint64_t *allocated, *freed; /* jemalloc's, thread-local like this struct */
    uint64_t settled;
    struct thread_balance *prev, *next;
    bool counted;
};

static _Thread_local struct thread_balance self;

static struct {
    pthread_mutex_t mutex;
    pthread_key_t thread_exit;
    struct thread_balance *threads, *last;
    uint64_t settled; /* wraps below zero and back: all of this is modulo 2^64 */
} ledger = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static uint64_t balance_of(const struct thread_balance *thread) {
    return __atomic_load_n(thread->allocated, __ATOMIC_RELAXED) -
           __atomic_load_n(thread->freed, __ATOMIC_RELAXED) - thread->settled;
}

static void ledger_add_ended_thread(void *arg) {
    struct thread_balance *thread = arg;
    pthread_mutex_lock(&ledger.mutex);
    uint64_t balance = balance_of(thread);
    ledger.settled += balance;
    thread->settled += balance;
    CHAIN_REMOVE(ledger.threads, ledger.last, thread, prev, next);
    thread->counted = false;
    pthread_mutex_unlock(&ledger.mutex);
}

static void read_pointer(const char *name, const uint64_t **pointer) {
    size_t size = sizeof(*pointer);
    if (mallctl(name, pointer, &size, NULL, 0) != 0) abort(); /* a jemalloc without statistics */
}

static __attribute__((cold, noinline)) void ledger_add_thread(void) {
    read_pointer("thread.allocatedp", &self.allocated);
    read_pointer("thread.deallocatedp", &self.freed);
    pthread_mutex_lock(&ledger.mutex);
    CHAIN_APPEND(ledger.threads, ledger.last, &self, prev, next);
    self.counted = true;
    pthread_mutex_unlock(&ledger.mutex);
    pthread_setspecific(ledger.thread_exit, &self);
}

/* First in every function that allocates, frees or asks. */
static inline void count_this_thread(void) {
    if (__builtin_expect(!self.counted, 0)) ledger_add_thread();
}

/* If the library's classes differ from those of mem_good_size, it would be given wrong sizes when
 * memory is freed. */
static void check_size_classes(void) {
    for (size_t size = 1; size <= (size_t)1 << 26; size += 1 + size / 5) {
        size_t class = nallocx(size, 0);
        if (mem_good_size(size) == class && mem_good_size(class) == class) continue;
        static const char text[] =
            "this jemalloc has other size classes than the one that Packlist was built with: "
            "build Packlist again, and unset MALLOC_CONF\n";
        if (write(STDERR_FILENO, text, sizeof(text) - 1) >= 0) abort();
        abort();
    }
}

static __attribute__((constructor)) void mem_start(void) {
    check_size_classes();
    if (pthread_key_create(&ledger.thread_exit, ledger_add_ended_thread) != 0) abort();
}

static inline void *raw_alloc(size_t size) {
    count_this_thread();
    return malloc(size);
}

static inline void *raw_alloc_zeroed(size_t size) {
    count_this_thread();
    return calloc(1, size);
}

static inline void *raw_alloc_aligned(size_t alignment, size_t size) {
    count_this_thread();
    return mallocx(size == 0 ? 1 : size, MALLOCX_ALIGN(alignment));
}

static inline void *raw_realloc(void *ptr, size_t size) {
    count_this_thread();
    return realloc(ptr, size);
}

void mem_free(void *ptr) {
    count_this_thread();
    free(ptr);
}

void mem_free_sized(void *ptr, size_t size) {
    CHECKED_ASSERT(sallocx(ptr, 0) == mem_good_size(size));
    count_this_thread();
    sdallocx(ptr, size, 0);
}

size_t mem_used(void) {
    count_this_thread();
    pthread_mutex_lock(&ledger.mutex);
    uint64_t sum = ledger.settled;
    for (struct thread_balance *t = ledger.threads; t != NULL; t = t->next) sum += balance_of(t);
    pthread_mutex_unlock(&ledger.mutex);
    return sum;
}

int64_t mem_thread_balance(void) {
    count_this_thread();
    return (int64_t)balance_of(&self);
}

#define STRINGIZE_TOKEN(x) #x
#define STRINGIZE(x)       STRINGIZE_TOKEN(x)
#define OF_ALL_ARENAS(x)   "stats.arenas." STRINGIZE(MALLCTL_ARENAS_ALL) "." x

static size_t read_size(const char *name) {
    size_t value = 0, size = sizeof(value);
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : 0;
}

void mem_stats_read(struct mem_stats *stats) {
    uint64_t epoch = 1;
    size_t size = sizeof(epoch);
    mallctl("epoch", &epoch, &size, &epoch, size);
    *stats = (struct mem_stats){
        .allocated = read_size("stats.allocated"),
        .active = read_size("stats.active"),
        .resident = read_size("stats.resident"),
        .muzzy = read_size(OF_ALL_ARENAS("pmuzzy")) * (size_t)sysconf(_SC_PAGESIZE),
        .retained = read_size("stats.retained"),
        .metadata = read_size("stats.metadata"),
    };
}

bool mem_counts_pages(void) {
    return true;
}

#define VERSION_TEXT(major, minor, bugfix)                                                         \
    "jemalloc-" STRINGIZE(major) "." STRINGIZE(minor) "." STRINGIZE(bugfix)

const char *mem_allocator_name(void) {
    return VERSION_TEXT(JEMALLOC_VERSION_MAJOR, JEMALLOC_VERSION_MINOR, JEMALLOC_VERSION_BUGFIX);
}

/* The mallctl names take the arena's index as text; this one stands for all of them. */
#define ALL_ARENAS "4096"
_Static_assert(MALLCTL_ARENAS_ALL == 4096, "ALL_ARENAS spells MALLCTL_ARENAS_ALL");

/* Blocks of this size (opt.oversize_threshold) and larger ones have an arena of their own. Unless
 * its pages never decay, jemalloc 5.3.0 returns such a block in the thread that frees it: some 20
 * ms for 500 MB. */
enum { LARGE_BLOCK = 8 * 1024 * 1024 };

static struct {
    unsigned index;
    bool is_known;
} large_arena;

/* Finds the arena of large blocks once, as its index never changes: the block that this takes
 * counts as memory in use while it is there. Returns false when the arena cannot be made. */
static bool find_large_arena(void) {
    if (large_arena.is_known) return true;
    void *block = malloc(LARGE_BLOCK); /* makes the arena if it is not there yet */
    size_t size = sizeof(large_arena.index);
    large_arena.is_known =
        block && mallctl("arenas.lookup", &large_arena.index, &size, &block, sizeof(block)) == 0;
    free(block);
    return large_arena.is_known;
}

/* Writes the name of a setting of that arena. */
static void name_of_large(char *name, size_t size, const char *setting) {
    snprintf(name, size, "arena.%u.%s", large_arena.index, setting);
}

bool mem_decay_in_background(bool on) {
    char name[64];
    ssize_t large_decay_ms = on ? -1 : 0;
    if (!find_large_arena()) return false;
    name_of_large(name, sizeof(name), "dirty_decay_ms");
    return mallctl("background_thread", NULL, NULL, &on, sizeof(on)) == 0 &&
           mallctl(name, NULL, NULL, &large_decay_ms, sizeof(large_decay_ms)) == 0;
}

bool mem_has_freed_large(void) {
    static uint64_t before;
    uint64_t freed = 0;
    pthread_mutex_lock(&ledger.mutex);
    for (struct thread_balance *t = ledger.threads; t != NULL; t = t->next)
        freed += __atomic_load_n(t->freed, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&ledger.mutex);
    bool may_have = freed - before >= LARGE_BLOCK;
    before = freed;
    return may_have;
}

void mem_return_large(void) {
    char name[64];
    if (!large_arena.is_known) return;
    name_of_large(name, sizeof(name), "purge");
    mallctl(name, NULL, NULL, NULL, 0);
}

#define DIRTY_DECAY "arena.0.dirty_decay_ms" /* of all blocks but the large ones */

void mem_keep_freed(bool on) {
    static ssize_t usual_ms = -1; /* while it is not in force */
    ssize_t never_ms = -1;
    size_t size = sizeof(usual_ms);
    if (on == (usual_ms != never_ms)) return;
    if (on) {
        mallctl(DIRTY_DECAY, &usual_ms, &size, &never_ms, sizeof(never_ms));
    } else {
        mallctl(DIRTY_DECAY, NULL, NULL, &usual_ms, sizeof(usual_ms));
        usual_ms = never_ms;
    }
}

void mem_decay(void) {
    mallctl("arena." ALL_ARENAS ".decay", NULL, NULL, NULL, 0);
}

void mem_purge(void) {
    mallctl("arena." ALL_ARENAS ".purge", NULL, NULL, NULL, 0);
}

void mem_print_stats(void (*write)(void *arg, const char *text), void *arg) {
    malloc_stats_print(write, arg, NULL);
}

int mem_control(const char *name, void *old, size_t *old_size, const void *new, size_t new_size) {
    return mallctl(name, old, old_size, (void *)(uintptr_t) new, new_size);
}

#endif

/* --- For both --- */

static inline void *or_abort(void *ptr, size_t size) {
    if (__builtin_expect(ptr == NULL, 0)) out_of_memory(size);
    return ptr;
}

void *mem_alloc(size_t size) {
    return or_abort(raw_alloc(size), size);
}

void *mem_alloc_zeroed(size_t size) {
    return or_abort(raw_alloc_zeroed(size), size);
}

void *mem_alloc_aligned(size_t alignment, size_t size) {
    return or_abort(raw_alloc_aligned(alignment, size), size);
}

void *mem_realloc(void *ptr, size_t size) {
    return or_abort(raw_realloc(ptr, size), size);
}

void *mem_resize(void *ptr, size_t old_size, size_t size) {
    /* jemalloc's largest small class: blocks of these classes move whenever their class changes. */
    enum { SMALL_MAX = 14 << 10 };
    if (ptr == NULL || old_size > SMALL_MAX || size > SMALL_MAX) return mem_realloc(ptr, size);
    if (old_size == size) return ptr;
    void *moved = mem_alloc(size);
    memcpy(moved, ptr, old_size < size ? old_size : size);
    mem_free_sized(ptr, old_size);
    return moved;
}

void *mem_try_alloc(size_t size) {
    return raw_alloc(size);
}

void *mem_try_realloc(void *ptr, size_t size) {
    return raw_realloc(ptr, size);
}

void *mem_try_grow(void *array, size_t *capacity, size_t wanted, size_t item_size) {
    enum { LEAST = 4 };
    size_t items = wanted > LEAST ? wanted : LEAST, size;
    if (*capacity > items / 2) items = *capacity > SIZE_MAX / 2 ? SIZE_MAX : *capacity * 2;
    if (__builtin_mul_overflow(items, item_size, &size) || size > PTRDIFF_MAX) return NULL;
    size = mem_good_size(size);
    void *larger = raw_realloc(array, size);
    if (larger) *capacity = size / item_size;
    return larger;
}

void *mem_grow(void *array, size_t *capacity, size_t wanted, size_t item_size) {
    return or_abort(mem_try_grow(array, capacity, wanted, item_size), wanted * item_size);
}

/* command: joins the families of commands in one array, and finds a command by its name.
 *
 * The lookup table is open-addressed over the first eight bytes of the name, in lower case, as one
 * word. Then the whole names are compared, because some commands share their first eight bytes
 * ("brpoplpush", "expiretime"). */
#include "table/command.h"

#include "base/memory/alloc.h"

#include <assert.h>
#include <string.h>

enum { LOOKUP_SIZE = 1024 }; /* a power of two */
static_assert(LOOKUP_SIZE >= 2 * COMMANDS_MAX, "half of the lookup table or more stays empty");

static struct command table[COMMANDS_MAX];
static size_t table_count;
static const struct command *lookup[LOOKUP_SIZE]; /* by the names that clients use */
static const struct command *own_names[LOOKUP_SIZE];
static bool has_renames;

/* What each byte of a client's name is compared as: a capital as its lower-case letter; NUL as a
 * byte that no command's name has, so that no comparison passes the end of that name. */
static char folded[256];
enum { FOLDED_NUL = ' ' };

/* Returns the first eight bytes with ASCII capitals in lower case, and zeros after a shorter name.
 * Other bytes may be changed too (bit 5 is set in all): enough for a hash and a first comparison,
 * not for equality. */
static inline uint64_t fold_prefix(const char *name, size_t len) {
    uint64_t word = 0;
    memcpy(&word, name, len < 8 ? len : 8);
    const uint64_t small = 0x2020202020202020ull;
    return word | (len < 8 ? small & ((1ull << (8 * len)) - 1) : small);
}

static inline size_t slot_of(uint64_t prefix, size_t len) {
    uint64_t mixed = (prefix ^ len) * 0x9E3779B97F4A7C15ull;
    return (size_t)(mixed >> 54) & (LOOKUP_SIZE - 1);
}

/* The groups whose commands all have a category; containers have none. */
static const struct named_bit groups[] = {
    {CATEGORY_BITMAP, "bitmap"},
    {CATEGORY_CONNECTION, "connection"},
    {CATEGORY_GEO, "geo"},
    {CATEGORY_HASH, "hash"},
    {CATEGORY_HYPERLOGLOG, "hyperloglog"},
    {CATEGORY_LIST, "list"},
    {CATEGORY_SCRIPTING, "scripting"},
    {CATEGORY_SET, "set"},
    {CATEGORY_SORTED_SET, "sorted-set"},
    {CATEGORY_STREAM, "stream"},
    {CATEGORY_STRING, "string"},
    {CATEGORY_TRANSACTION, "transactions"},
    {0, NULL},
};

/* Returns the categories that the row states, and those that follow from its group and its
 * flags. */
static uint32_t categories_of(const struct command *row) {
    uint32_t flags = row->flags;
    uint32_t categories = row->categories;
    for (const struct named_bit *at = groups; at->name && !(flags & COMMAND_CONTAINER); at++)
        if (strcmp(at->name, row->group) == 0) categories |= at->bit;
    categories |= flags & COMMAND_FAST ? CATEGORY_FAST : CATEGORY_SLOW;
    if (flags & COMMAND_READONLY && !(categories & CATEGORY_SCRIPTING)) categories |= CATEGORY_READ;
    if (flags & COMMAND_WRITE) categories |= CATEGORY_WRITE;
    if (flags & COMMAND_PUBSUB) categories |= CATEGORY_PUBSUB;
    if (flags & COMMAND_BLOCKING) categories |= CATEGORY_BLOCKING;
    if (flags & COMMAND_ADMIN) categories |= CATEGORY_ADMIN | CATEGORY_DANGEROUS;
    return categories;
}

static void add_family(const struct command_family *family) {
    assert(family->count <= COMMANDS_MAX - table_count);
    for (size_t i = 0; i < family->count; i++) {
        struct command *command = &table[table_count];
        *command = family->rows[i];
        command->index = (uint16_t)table_count++;
        command->categories = categories_of(command);
        assert(!command->called && !command->run);
        assert(!command->secrets || command->flags & (COMMAND_SUBCOMMAND | COMMAND_FOUND_SLOWLY));
        command->called = command->name;
        if (!command->syntax) command->syntax = "";
    }
}

static void add_to_lookup(const struct command **slots, const struct command *command,
                          const char *name) {
    size_t len = strlen(name);
    assert(!strchr(name, FOLDED_NUL));
    size_t slot = slot_of(fold_prefix(name, len), len);
    while (slots[slot]) slot = (slot + 1) & (LOOKUP_SIZE - 1);
    slots[slot] = command;
}

static void fill_lookup(void) {
    memset(lookup, 0, sizeof(lookup));
    for (size_t i = 0; i < table_count; i++)
        if (command_is_top_level(&table[i]) && table[i].called)
            add_to_lookup(lookup, &table[i], table[i].called);
}

static void fill_folded(void) {
    for (int c = 0; c < 256; c++) folded[c] = ascii_lower((char)c);
    folded[0] = FOLDED_NUL;
}

static void bind(const struct command_body *bodies) {
    for (; bodies->name; bodies++) {
        struct slice name = slice_of_cstr(bodies->name);
        bool is_all = slice_ends(name, SLICE("|*"));
        if (is_all) name.len -= 2;
        struct command *command = (struct command *)command_find_full(name);
        assert(command);
        size_t count = is_all ? command_subcommand_count(command) : 1;
        for (command += is_all; count-- > 0; command++) {
            assert(!command->run);
            command->run = bodies->run;
        }
    }
    for (size_t i = 0; i < table_count; i++)
        assert(table[i].run || table[i].flags & COMMAND_CONTAINER);
}

void command_table_init(const struct command_family *const *families,
                        const struct command_body *bodies) {
    fill_folded();
    table_count = 0;
    for (; *families; families++) add_family(*families);
    has_renames = false;
    fill_lookup();
    memcpy(own_names, lookup, sizeof(own_names));
    if (bodies) bind(bodies);
}

/* A client's name may contain NULs and have any length. */
static inline bool is_named(const char *at, struct slice name) {
    for (size_t i = 0; i < name.len; i++, at++)
        if (*at != folded[(unsigned char)name.ptr[i]]) return false;
    return *at == 0;
}

const struct command *command_find(struct slice name) {
    size_t slot = slot_of(fold_prefix(name.ptr, name.len), name.len);
    for (; lookup[slot]; slot = (slot + 1) & (LOOKUP_SIZE - 1))
        if (is_named(lookup[slot]->called, name)) return lookup[slot];
    return NULL;
}

const struct command *command_find_cached(const struct command *last, struct slice name) {
    if (last && command_is_top_level(last) && is_named(last->called, name)) return last;
    return command_find(name);
}

const struct command *command_find_full(struct slice name) {
    const char *bar = memchr(name.ptr, '|', name.len);
    if (!bar) return command_find(name);
    size_t len = (size_t)(bar - name.ptr);
    const struct command *container = command_find(slice_make(name.ptr, len));
    if (!container || !(container->flags & COMMAND_CONTAINER)) return NULL;
    return command_find_subcommand(container, slice_make(bar + 1, name.len - len - 1));
}

const struct command *command_find_written(const struct command *last, struct slice name) {
    if (!has_renames) return command_find_cached(last, name);
    size_t slot = slot_of(fold_prefix(name.ptr, name.len), name.len);
    for (; own_names[slot]; slot = (slot + 1) & (LOOKUP_SIZE - 1))
        if (is_named(own_names[slot]->name, name)) return own_names[slot];
    return command_find(name);
}

/* Returns whether a subcommand stands at this place, which may be the end of the table. */
static bool is_subcommand(const struct command *at) {
    return at < table + table_count && !command_is_top_level(at);
}

/* --- Renaming --- */

/* A name must be a word of a request, and must not be one with which a request of a web page
 * begins: such requests are cut off because no command is called so. */
static bool may_be_name(struct slice name) {
    enum { NAME_MAX_LEN = 128 };
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] <= FOLDED_NUL || (unsigned char)name.ptr[i] >= 127)
            return false;
    return name.len <= NAME_MAX_LEN && !slice_is(name, "post") && !slice_is(name, "host:");
}

const char *command_rename(struct slice from, struct slice to) {
    struct command *command = (struct command *)command_find(from);
    if (!command) return "No such command in rename-command";
    if (!may_be_name(to)) return "This name is not possible for a command";
    if (to.len > 0 && command_find(to)) return "Target command name already exists";
    char *called = NULL;
    if (to.len > 0) {
        called =
            mem_alloc(to.len + 1); /* for as long as the process lives, or until renamed again */
        for (size_t i = 0; i < to.len; i++) called[i] = ascii_lower(to.ptr[i]);
        called[to.len] = 0;
    }
    if (command->called != command->name) mem_free((void *)(uintptr_t)command->called);
    command->called = called;
    for (struct command *sub = command + 1; is_subcommand(sub); sub++)
        sub->called = called ? sub->name : NULL;
    has_renames = true;
    fill_lookup();
    return NULL;
}

bool command_has_renames(void) {
    return has_renames;
}

struct slice command_own_name(const struct command *command) {
    return slice_make(command->name, strcspn(command->name, "|"));
}

const struct command *command_find_subcommand(const struct command *container, struct slice name) {
    size_t prefix = strlen(container->name);
    for (const struct command *sub = container + 1; is_subcommand(sub); sub++)
        if (slice_is(name, sub->name + prefix + 1)) return sub;
    return NULL;
}

size_t command_subcommand_count(const struct command *command) {
    size_t count = 0;
    if (!(command->flags & COMMAND_CONTAINER)) return 0;
    while (is_subcommand(command + 1 + count)) count++;
    return count;
}

const struct command *command_find_in_file(const struct slice *argv, size_t argc) {
    const struct command *command = command_find_written(NULL, argv[0]);
    if (command && command->flags & COMMAND_CONTAINER)
        command = argc > 1 ? command_find_subcommand(command, argv[1]) : NULL;
    return command && command_may_be_in_file(command) && command_accepts(command, argc) ? command
                                                                                        : NULL;
}

const struct command *command_all(size_t *count) {
    *count = table_count;
    return table;
}

/* --- Categories --- */

/* Includes categories of types that this server lacks; no command has them. */
const struct named_bit command_category_names[] = {
    {CATEGORY_KEYSPACE, "keyspace"},
    {CATEGORY_READ, "read"},
    {CATEGORY_WRITE, "write"},
    {CATEGORY_SET, "set"},
    {CATEGORY_SORTED_SET, "sortedset"},
    {CATEGORY_LIST, "list"},
    {CATEGORY_HASH, "hash"},
    {CATEGORY_STRING, "string"},
    {CATEGORY_BITMAP, "bitmap"},
    {CATEGORY_HYPERLOGLOG, "hyperloglog"},
    {CATEGORY_GEO, "geo"},
    {CATEGORY_STREAM, "stream"},
    {CATEGORY_PUBSUB, "pubsub"},
    {CATEGORY_ADMIN, "admin"},
    {CATEGORY_FAST, "fast"},
    {CATEGORY_SLOW, "slow"},
    {CATEGORY_BLOCKING, "blocking"},
    {CATEGORY_DANGEROUS, "dangerous"},
    {CATEGORY_CONNECTION, "connection"},
    {CATEGORY_TRANSACTION, "transaction"},
    {CATEGORY_SCRIPTING, "scripting"},
    {0, NULL},
};

uint32_t command_category_find(struct slice name) {
    for (const struct named_bit *at = command_category_names; at->name; at++)
        if (slice_is(name, at->name)) return at->bit;
    return 0;
}

/* family_hyperloglog: the commands of HyperLogLogs. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{.name = "pfadd", .arity = -2, .group = "hyperloglog", .since = "2.8.9",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_HYPERLOGLOG,
 .keys = ONE_KEY(KEY_RW | KEY_INSERT),
 .complexity = "O(1) for each element",
 .summary = "Adds elements to a HyperLogLog, making it if there is none.",
 .syntax = "key [element ...]"},
{.name = "pfcount", .arity = -2, .group = "hyperloglog", .since = "2.8.9",
 .flags = READONLY | MAY_REPLICATE | FOR_FILES, .categories = CATEGORY_HYPERLOGLOG,
 .keys = {.first = 1, .last = -1, .step = 1, .use = KEY_RW | KEY_ACCESS,
          .notes = "RW because it may change the internal representation of the key, and propagate "
                   "to replicas"},
 .complexity = "O(1) for one key that has not changed since it was last counted, otherwise O(keys)",
 .summary = "Estimates how many different elements were added to HyperLogLogs.",
 .syntax = "key [key ...]"},
{.name = "pfmerge", .arity = -2, .group = "hyperloglog", .since = "2.8.9",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_HYPERLOGLOG,
 .keys = {.first = 1, .last = -1, .step = 1, .use = KEY_RW | KEY_ACCESS | KEY_INSERT,
          .other_use = READ},
 .complexity = "O(keys)",
 .summary = "Merges HyperLogLogs into one.",
 .syntax = "destkey:key [sourcekey:key ...]"},
{.name = "pfdebug", .arity = 3, .group = "hyperloglog", .since = "2.8.9",
 .flags = WRITE | DENYOOM | ADMIN, .categories = CATEGORY_HYPERLOGLOG,
 .keys = KEY_AT(2, KEY_RW | KEY_ACCESS),
 .complexity = "O(1) for a dense HyperLogLog",
 .summary = "Shows the registers of a HyperLogLog and how they are stored, for tests.",
 .syntax = "subcommand key\n!"},
{.name = "pfselftest", .arity = 1, .group = "hyperloglog", .since = "2.8.9",
 .flags = ADMIN, .categories = CATEGORY_HYPERLOGLOG,
 .complexity = "O(1)",
 .summary = "Tests the code of HyperLogLogs on this machine.",
 .syntax = "\n!"},
};

/* clang-format on */

const struct command_family command_family_hyperloglog = FAMILY_OF(rows);

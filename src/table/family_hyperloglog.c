/* family_hyperloglog: the commands of HyperLogLogs. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{ROW("pfadd", -2, "hyperloglog", "2.8.9", WRITE | DENYOOM | FAST,
     "O(1) for each element", "Adds elements to a HyperLogLog, making it if there is none."),
 .keys = ONE_KEY(KEY_RW | KEY_INSERT), .syntax = "key [element ...]"},
{ROW("pfcount", -2, "hyperloglog", "2.8.9", READONLY | MAY_REPLICATE | FOR_FILES,
     "O(1) for one key that has not changed since it was last counted, otherwise O(keys)",
     "Estimates how many different elements were added to HyperLogLogs."),
 .keys = {.first = 1, .last = -1, .step = 1, .use = KEY_RW | KEY_ACCESS,
          .notes = "RW because it may change the internal representation of the key, and propagate "
                   "to replicas"},
 .syntax = "key [key ...]"},
{ROW("pfmerge", -2, "hyperloglog", "2.8.9", WRITE | DENYOOM,
     "O(keys)", "Merges HyperLogLogs into one."),
 .keys = {.first = 1, .last = -1, .step = 1, .use = KEY_RW | KEY_ACCESS | KEY_INSERT,
          .other_use = READ},
 .syntax = "destkey:key [sourcekey:key ...]"},
{ROW("pfdebug", 3, "hyperloglog", "2.8.9", WRITE | DENYOOM | ADMIN,
     "O(1) for a dense HyperLogLog",
     "Shows the registers of a HyperLogLog and how they are stored, for tests."),
 .keys = KEY_AT(2, KEY_RW | KEY_ACCESS), .syntax = "subcommand key\n!"},
{ROW("pfselftest", 1, "hyperloglog", "2.8.9", ADMIN,
     "O(1)", "Tests the code of HyperLogLogs on this machine."),
 .syntax = "\n!"},
};

/* clang-format on */

const struct command_family command_family_hyperloglog = FAMILY_OF(rows);

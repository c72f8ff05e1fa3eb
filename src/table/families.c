#include "table/families.h"

#define ADDRESS(family) &command_family_##family,
const struct command_family *const command_families[] = {COMMAND_FAMILIES(ADDRESS) NULL};

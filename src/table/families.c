#include "table/families.h"

const struct command_family *const command_families[] = {
    &command_family_lists,        &command_family_strings,    &command_family_keys,
    &command_family_zset,         &command_family_geo,        &command_family_sets,
    &command_family_hashes,       &command_family_streams,    &command_family_hyperloglog,
    &command_family_transactions, &command_family_pubsub,     &command_family_scripts,
    &command_family_functions,    &command_family_connection, &command_family_admin,
    &command_family_replication,  &command_family_standalone, NULL,
};

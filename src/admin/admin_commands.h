/* admin_commands: the commands with which operators and their tools observe and administer the
 * server, for the command table. Each is called as engine/call.h says. */
#ifndef PACKLIST_ADMIN_ADMIN_COMMANDS_H
#define PACKLIST_ADMIN_ADMIN_COMMANDS_H

#include "engine/call.h"
#include "table/command_body.h"

/* clang-format off */

#define ADMIN_COMMANDS(BODY)                                         \
    BODY("acl|cat", acl_cat_command)                                 \
    BODY("acl|deluser", acl_deluser_command)                         \
    BODY("acl|dryrun", acl_dryrun_command)                           \
    BODY("acl|genpass", acl_genpass_command)                         \
    BODY("acl|load", acl_load_command)                               \
    BODY("acl|log", acl_log_command)                                 \
    BODY("acl|save", acl_save_command)                               \
    BODY("acl|setuser", acl_setuser_command)                         \
    BODY("acl|getuser", acl_getuser_command)                         \
    BODY("acl|help", acl_help_command)                               \
    BODY("acl|list", acl_list_command)                               \
    BODY("acl|users", acl_users_command)                             \
    BODY("acl|whoami", acl_whoami_command)                           \
    BODY("bgrewriteaof", bgrewriteaof_command)                       \
    BODY("bgsave", bgsave_command)                                   \
    BODY("client|caching", client_caching_command)                   \
    BODY("client|capa", client_capa_command)                         \
    BODY("client|getname", client_getname_command)                   \
    BODY("client|getredir", client_getredir_command)                 \
    BODY("client|help", client_help_command)                         \
    BODY("client|id", client_id_command)                             \
    BODY("client|import-source", client_import_source_command)       \
    BODY("client|info", client_info_command)                         \
    BODY("client|kill", client_kill_command)                         \
    BODY("client|list", client_list_command)                         \
    BODY("client|no-evict", client_no_evict_command)                 \
    BODY("client|no-touch", client_no_touch_command)                 \
    BODY("client|pause", client_pause_command)                       \
    BODY("client|reply", client_reply_command)                       \
    BODY("client|setinfo", client_setinfo_command)                   \
    BODY("client|setname", client_setname_command)                   \
    BODY("client|tracking", client_tracking_command)                 \
    BODY("client|trackinginfo", client_trackinginfo_command)         \
    BODY("client|unblock", client_unblock_command)                   \
    BODY("client|unpause", client_unpause_command)                   \
    BODY("cluster|addslots", cluster_addslots_command) \
    BODY("cluster|addslotsrange", cluster_addslotsrange_command) \
    BODY("cluster|bumpepoch", cluster_bumpepoch_command) \
    BODY("cluster|count-failure-reports", cluster_count_failure_reports_command) \
    BODY("cluster|countkeysinslot", cluster_countkeysinslot_command) \
    BODY("cluster|delslots", cluster_delslots_command) \
    BODY("cluster|delslotsrange", cluster_delslotsrange_command) \
    BODY("cluster|failover", cluster_failover_command) \
    BODY("cluster|flushslot", cluster_flushslot_command)             \
    BODY("cluster|flushslots", cluster_flushslots_command) \
    BODY("cluster|forget", cluster_forget_command) \
    BODY("cluster|getkeysinslot", cluster_getkeysinslot_command) \
    BODY("cluster|help", cluster_help_command) \
    BODY("cluster|info", cluster_info_command) \
    BODY("cluster|keyslot", cluster_keyslot_command) \
    BODY("cluster|links", cluster_links_command) \
    BODY("cluster|meet", cluster_meet_command) \
    BODY("cluster|myid", cluster_myid_command) \
    BODY("cluster|myshardid", cluster_myshardid_command) \
    BODY("cluster|nodes", cluster_nodes_command) \
    BODY("cluster|replicas", cluster_replicas_command) \
    BODY("cluster|replicate", cluster_replicate_command) \
    BODY("cluster|reset", cluster_reset_command) \
    BODY("cluster|saveconfig", cluster_saveconfig_command) \
    BODY("cluster|set-config-epoch", cluster_set_config_epoch_command) \
    BODY("cluster|setslot", cluster_setslot_command) \
    BODY("cluster|shards", cluster_shards_command) \
    BODY("cluster|slaves", cluster_replicas_command) \
    BODY("cluster|slot-stats", cluster_slot_stats_command) \
    BODY("cluster|slots", cluster_slots_command) \
    BODY("clusterscan", clusterscan_command)                         \
    BODY("command", command_command)                                 \
    BODY("command|count", command_count_command)                     \
    BODY("command|docs", command_docs_command)                       \
    BODY("command|getkeys", command_getkeys_command)                 \
    BODY("command|getkeysandflags", command_getkeysandflags_command) \
    BODY("command|help", command_help_command)                       \
    BODY("command|info", command_info_command)                       \
    BODY("command|list", command_list_command)                       \
    BODY("commandlog|get", commandlog_get_command)                   \
    BODY("commandlog|help", commandlog_help_command)                 \
    BODY("commandlog|len", commandlog_len_command)                   \
    BODY("commandlog|reset", commandlog_reset_command)               \
    BODY("config|get", config_get_command)                           \
    BODY("config|help", config_help_command)                         \
    BODY("config|resetstat", config_resetstat_command)               \
    BODY("config|rewrite", config_rewrite_command)                   \
    BODY("config|set", config_set_command)                           \
    BODY("debug", debug_command)                                     \
    BODY("flushall", flushall_command)                               \
    BODY("flushdb", flushdb_command)                                 \
    BODY("hotkeys|get", hotkeys_get_command)                         \
    BODY("hotkeys|help", hotkeys_help_command)                       \
    BODY("hotkeys|reset", hotkeys_reset_command)                     \
    BODY("hotkeys|start", hotkeys_start_command)                     \
    BODY("hotkeys|stop", hotkeys_stop_command)                       \
    BODY("info", info_command)                                       \
    BODY("lastsave", lastsave_command)                               \
    BODY("latency|doctor", latency_doctor_command)                   \
    BODY("latency|graph", latency_graph_command)                     \
    BODY("latency|help", latency_help_command)                       \
    BODY("latency|histogram", latency_histogram_command)             \
    BODY("latency|history", latency_history_command)                 \
    BODY("latency|latest", latency_latest_command)                   \
    BODY("latency|reset", latency_reset_command)                     \
    BODY("lolwut", lolwut_command)                                   \
    BODY("memory|doctor", memory_doctor_command)                     \
    BODY("memory|help", memory_help_command)                         \
    BODY("memory|malloc-stats", memory_malloc_stats_command)         \
    BODY("memory|purge", memory_purge_command)                       \
    BODY("memory|stats", memory_stats_command)                       \
    BODY("module|help", module_help_command)                         \
    BODY("module|list", module_list_command)                         \
    BODY("monitor", monitor_command)                                 \
    BODY("save", save_command)                                       \
    BODY("shutdown", shutdown_command)                               \
    BODY("slowlog|get", slowlog_get_command)                         \
    BODY("slowlog|help", slowlog_help_command)                       \
    BODY("slowlog|len", slowlog_len_command)                         \
    BODY("slowlog|reset", slowlog_reset_command)                     \
    BODY("swapdb", swapdb_command)                                   \
    BODY("time", time_command)

/* clang-format on */

ADMIN_COMMANDS(COMMAND_BODY_DECLARED)

#endif

/* admin_commands: the commands with which operators and their tools observe and administer the
 * server, for the command table. Each is called as engine/call.h says. */
#ifndef PACKLIST_ADMIN_ADMIN_COMMANDS_H
#define PACKLIST_ADMIN_ADMIN_COMMANDS_H

#include "engine/call.h"

void acl_cat_command(struct call *call);
void acl_getuser_command(struct call *call);
void acl_help_command(struct call *call);
void acl_list_command(struct call *call);
void acl_users_command(struct call *call);
void acl_whoami_command(struct call *call);
void bgrewriteaof_command(struct call *call);
void bgsave_command(struct call *call);
void client_caching_command(struct call *call);
void client_getname_command(struct call *call);
void client_getredir_command(struct call *call);
void client_help_command(struct call *call);
void client_id_command(struct call *call);
void client_info_command(struct call *call);
void client_kill_command(struct call *call);
void client_list_command(struct call *call);
void client_no_evict_command(struct call *call);
void client_no_touch_command(struct call *call);
void client_pause_command(struct call *call);
void client_reply_command(struct call *call);
void client_setinfo_command(struct call *call);
void client_setname_command(struct call *call);
void client_tracking_command(struct call *call);
void client_trackinginfo_command(struct call *call);
void client_unblock_command(struct call *call);
void client_unpause_command(struct call *call);
void cluster_command(struct call *call);
void command_command(struct call *call);
void command_count_command(struct call *call);
void command_docs_command(struct call *call);
void command_getkeys_command(struct call *call);
void command_getkeysandflags_command(struct call *call);
void command_help_command(struct call *call);
void command_info_command(struct call *call);
void command_list_command(struct call *call);
void config_get_command(struct call *call);
void config_help_command(struct call *call);
void config_resetstat_command(struct call *call);
void config_rewrite_command(struct call *call);
void config_set_command(struct call *call);
void debug_command(struct call *call);
void flushall_command(struct call *call);
void flushdb_command(struct call *call);
void info_command(struct call *call);
void lastsave_command(struct call *call);
void latency_doctor_command(struct call *call);
void latency_graph_command(struct call *call);
void latency_help_command(struct call *call);
void latency_histogram_command(struct call *call);
void latency_history_command(struct call *call);
void latency_latest_command(struct call *call);
void latency_reset_command(struct call *call);
void lolwut_command(struct call *call);
void memory_doctor_command(struct call *call);
void memory_help_command(struct call *call);
void memory_malloc_stats_command(struct call *call);
void memory_purge_command(struct call *call);
void memory_stats_command(struct call *call);
void module_help_command(struct call *call);
void module_list_command(struct call *call);
void monitor_command(struct call *call);
void no_cluster_command(struct call *call);
void save_command(struct call *call);
void shutdown_command(struct call *call);
void slowlog_get_command(struct call *call);
void slowlog_help_command(struct call *call);
void slowlog_len_command(struct call *call);
void slowlog_reset_command(struct call *call);
void swapdb_command(struct call *call);
void time_command(struct call *call);

#endif

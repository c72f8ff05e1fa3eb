/* commands: every command that needs no more of the server than server/call.h. The command table
 * names them. */
#ifndef PACKLIST_COMMANDS_COMMANDS_H
#define PACKLIST_COMMANDS_COMMANDS_H

struct call;

void blmove_command(struct call *call);
void blmpop_command(struct call *call);
void blpop_command(struct call *call);
void brpop_command(struct call *call);
void brpoplpush_command(struct call *call);
void dbsize_command(struct call *call);
void del_command(struct call *call);
void exists_command(struct call *call);
void expire_command(struct call *call);
void expireat_command(struct call *call);
void expiretime_command(struct call *call);
void get_command(struct call *call);
void keys_command(struct call *call);
void lindex_command(struct call *call);
void linsert_command(struct call *call);
void llen_command(struct call *call);
void lmove_command(struct call *call);
void lmpop_command(struct call *call);
void lpop_command(struct call *call);
void lpos_command(struct call *call);
void lpush_command(struct call *call);
void lpushx_command(struct call *call);
void lrange_command(struct call *call);
void lrem_command(struct call *call);
void lset_command(struct call *call);
void ltrim_command(struct call *call);
void memory_help_command(struct call *call);
void memory_usage_command(struct call *call);
void object_encoding_command(struct call *call);
void object_freq_command(struct call *call);
void object_help_command(struct call *call);
void object_idletime_command(struct call *call);
void object_refcount_command(struct call *call);
void persist_command(struct call *call);
void pexpire_command(struct call *call);
void pexpireat_command(struct call *call);
void pexpiretime_command(struct call *call);
void pttl_command(struct call *call);
void randomkey_command(struct call *call);
void rpop_command(struct call *call);
void rpoplpush_command(struct call *call);
void rpush_command(struct call *call);
void rpushx_command(struct call *call);
void scan_command(struct call *call);
void set_command(struct call *call);
void ttl_command(struct call *call);
void type_command(struct call *call);
void unlink_command(struct call *call);

#endif

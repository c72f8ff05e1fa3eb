/* commands: every command that needs no more of the server than server/call.h. The command table
 * names them. */
#ifndef PACKLIST_COMMANDS_COMMANDS_H
#define PACKLIST_COMMANDS_COMMANDS_H

struct call;

void append_command(struct call *call);
void bitcount_command(struct call *call);
void bitfield_command(struct call *call);
void bitfield_ro_command(struct call *call);
void bitop_command(struct call *call);
void bitpos_command(struct call *call);
void blmove_command(struct call *call);
void blmpop_command(struct call *call);
void blpop_command(struct call *call);
void brpop_command(struct call *call);
void brpoplpush_command(struct call *call);
void dbsize_command(struct call *call);
void decr_command(struct call *call);
void decrby_command(struct call *call);
void del_command(struct call *call);
void exists_command(struct call *call);
void expire_command(struct call *call);
void expireat_command(struct call *call);
void expiretime_command(struct call *call);
void get_command(struct call *call);
void getbit_command(struct call *call);
void getdel_command(struct call *call);
void getex_command(struct call *call);
void getrange_command(struct call *call);
void getset_command(struct call *call);
void incr_command(struct call *call);
void incrby_command(struct call *call);
void incrbyfloat_command(struct call *call);
void keys_command(struct call *call);
void lcs_command(struct call *call);
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
void mget_command(struct call *call);
void mset_command(struct call *call);
void msetnx_command(struct call *call);
void object_encoding_command(struct call *call);
void object_freq_command(struct call *call);
void object_help_command(struct call *call);
void object_idletime_command(struct call *call);
void object_refcount_command(struct call *call);
void persist_command(struct call *call);
void pexpire_command(struct call *call);
void pexpireat_command(struct call *call);
void pexpiretime_command(struct call *call);
void psetex_command(struct call *call);
void pttl_command(struct call *call);
void randomkey_command(struct call *call);
void rpop_command(struct call *call);
void rpoplpush_command(struct call *call);
void rpush_command(struct call *call);
void rpushx_command(struct call *call);
void scan_command(struct call *call);
void set_command(struct call *call);
void setbit_command(struct call *call);
void setex_command(struct call *call);
void setnx_command(struct call *call);
void setrange_command(struct call *call);
void strlen_command(struct call *call);
void substr_command(struct call *call);
void ttl_command(struct call *call);
void type_command(struct call *call);
void unlink_command(struct call *call);

#endif

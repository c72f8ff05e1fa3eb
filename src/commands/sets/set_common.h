/* set_common: what the commands of sets share. */
#ifndef PACKLIST_COMMANDS_SETS_SET_COMMON_H
#define PACKLIST_COMMANDS_SETS_SET_COMMON_H

struct call;
struct entry;

/* Replies all members after the header; many of them later. O(n), O(1) for many. */
void set_reply_members(struct call *call, struct entry *entry);

#endif

/* link_report: what INFO and ROLE show of a replica's link to its primary. */
#ifndef PACKLIST_REPLICATION_LINK_REPORT_H
#define PACKLIST_REPLICATION_LINK_REPORT_H

#include "base/sds.h"

struct call;
struct engine;

/* Appends the fields of INFO replication that only a replica has. Returns `out`. */
sds link_report_append(const struct engine *engine, sds out);

/* Replies ROLE of a replica. */
void link_report_role(struct call *call);

#endif

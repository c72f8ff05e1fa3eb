/* node_names: names and addresses of a node of a cluster, as directives cluster-announce-* give
 * them. They stand in lines of fields (cluster/nodes_text.h), so only some characters are allowed:
 * those of Valkey. */
#ifndef PACKLIST_CONFIG_NODE_NAMES_H
#define PACKLIST_CONFIG_NODE_NAMES_H

#include "base/slice.h"

#include <stdbool.h>

struct node_name_rule {
    size_t max; /* bytes; 0: no limit but that of the family */
    const char *too_long;
    bool is_hostname; /* only letters, digits, - and . */
    const char *bad_character;
    int family; /* AF_INET, AF_INET6: such an address, or nothing; 0: any text */
    const char *no_address;
};

extern const struct node_name_rule node_ip_rule, node_hostname_rule, node_human_name_rule,
    node_ipv4_rule, node_ipv6_rule;

/* Returns what is wrong with the text, or NULL. The empty text, which means that there is none, is
 * always right. O(len). */
const char *node_name_problem(struct slice text, const struct node_name_rule *rule);

#endif

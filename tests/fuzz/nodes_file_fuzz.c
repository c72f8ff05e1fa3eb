/* The file of a cluster's nodes is read or refused, whatever its bytes; what was read is consistent
 * and gives a text that is read as the same. The first byte says whether nodes use TLS. */
#include "cluster/nodes_file.h"
#include "cluster/nodes_text.h"

#include <stdlib.h>

static void check_same_text(sds a, sds b) {
    if (!slice_equal(sds_slice(a), sds_slice(b))) abort();
    sds_free(a);
    sds_free(b);
}

/* The lines of all nodes are those of each. */
static void check_lines(const struct cluster *cluster, enum nodes_text_form form) {
    sds each = sds_new(SLICE(""));
    for (size_t i = 0; i < cluster->count; i++) {
        each = nodes_text_append_node(cluster, cluster->nodes[i], each, form);
        each = sds_append_cstr(each, "\n");
    }
    check_same_text(each, nodes_text_append_all(cluster, sds_new(SLICE("")), form));
}

static void check(const struct cluster *cluster) {
    sds error = NULL, text = nodes_file_text(cluster);
    struct cluster *again = nodes_file_parse(sds_slice(text), cluster->uses_tls, &error);
    if (!cluster_check(cluster) || !cluster->myself || !again) abort();
    check_same_text(text, nodes_file_text(again));
    cluster_free(again);
    for (int form = NODES_TEXT_FOR_CLIENT; form <= NODES_TEXT_FOR_TLS_CLIENT; form++)
        check_lines(cluster, (enum nodes_text_form)form);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    sds error = NULL;
    struct cluster *cluster = nodes_file_parse(slice_make(data + 1, size - 1), data[0] & 1, &error);
    if (!cluster == !error) abort();
    if (cluster) check(cluster);
    cluster_free(cluster);
    sds_free(error);
    return 0;
}

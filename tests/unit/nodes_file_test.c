/* The file of a cluster's nodes: random clusters written and read back, files of other servers, and
 * everything that is wrong in a file. */
#include "cluster/nodes_file.h"

#include "base/memory/alloc.h"
#include "cluster/nodes_text.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define A    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1"
#define B    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb2"
#define S    "5555555555555555555555555555555555555555"
#define T    "7777777777777777777777777777777777777777"
#define VARS "vars currentEpoch 9 lastVoteEpoch 4\n"

static struct cluster *parse(struct slice text, bool uses_tls) {
    sds error = NULL;
    struct cluster *cluster = nodes_file_parse(text, uses_tls, &error);
    if (!cluster) fail_msg("%s", error);
    assert_true(cluster_check(cluster));
    return cluster;
}

static void check_text(const struct cluster *cluster, const char *expected) {
    sds text = nodes_file_text(cluster);
    assert_string_equal(text, expected);
    sds_free(text);
}

/* Reads a file and compares what is written of it. */
static void check(const char *text, bool uses_tls, const char *expected) {
    struct cluster *cluster = parse(slice_of_cstr(text), uses_tls);
    check_text(cluster, expected);
    cluster_free(cluster);
}

static void check_refused_slice(struct slice text, const char *expected) {
    sds error = NULL;
    assert_null(nodes_file_parse(text, false, &error));
    if (expected) assert_string_equal(error, expected);
    assert_non_null(error);
    sds_free(error);
}

static void check_refused(const char *text, const char *expected) {
    check_refused_slice(slice_of_cstr(text), expected);
}

/* --- Random clusters --- */

static unsigned below(struct random *random, unsigned bound) {
    return (unsigned)random_below(random, bound);
}

static void set_text(struct random *random, sds *text, const char *some) {
    if (below(random, 2)) return;
    sds_free(*text);
    *text = sds_new(slice_of_cstr(some));
}

static void describe_node(struct random *random, struct cluster_node *node) {
    static const unsigned states[] = {0, CLUSTER_MAY_FAIL, CLUSTER_FAILED, CLUSTER_NO_ADDRESS,
                                      CLUSTER_NO_FAILOVER};
    node->flags |= states[below(random, 5)];
    set_text(random, &node->ip, below(random, 2) ? "127.1.2.3" : "2001:db8::7");
    set_text(random, &node->hostname, "db-7.localhost");
    set_text(random, &node->human_name, "n\xc3\xa4me");
    node->port = (int)below(random, 65536);
    node->tls_port = (int)below(random, 65536);
    node->bus_port = (int)below(random, 65536);
    node->config_epoch = random_next(random) >> (1 + below(random, 63));
    node->ping_sent_ms = (int64_t)(random_next(random) >> 1);
    node->pong_received_ms = (int64_t)(random_next(random) >> 1);
}

/* Replicas are of the first node, which is a primary. */
static void add_nodes(struct random *random, struct cluster *cluster) {
    cluster_add_myself(cluster);
    struct cluster_node *first = cluster->myself;
    describe_node(random, first);
    for (unsigned i = below(random, 20); i > 0; i--) {
        char id[CLUSTER_ID_LEN + 1] = "";
        random_hex(id, CLUSTER_ID_LEN);
        struct cluster_node *node = cluster_add(cluster, id);
        describe_node(random, node);
        if (below(random, 3)) continue;
        node->flags = (node->flags & ~(unsigned)CLUSTER_PRIMARY) | CLUSTER_REPLICA;
        node->primary = first;
        node->config_epoch = first->config_epoch;
        memcpy(node->shard_id, first->shard_id, CLUSTER_ID_LEN);
    }
}

static struct cluster_node *any_node(struct random *random, const struct cluster *cluster) {
    return cluster->nodes[below(random, (unsigned)cluster->count)];
}

static void give_slots(struct random *random, struct cluster *cluster) {
    unsigned longest = 1 + below(random, 3000);
    for (unsigned slot = 0, end; slot < KEY_SLOTS; slot = end) {
        struct cluster_node *owner = any_node(random, cluster);
        if (below(random, 4) == 0) owner = NULL;
        end = slot + 1 + below(random, longest);
        if (end > KEY_SLOTS) end = KEY_SLOTS;
        for (unsigned i = slot; i < end; i++) cluster_set_owner(cluster, i, owner);
    }
    for (unsigned i = below(random, 10); i > 0 && cluster->count > 1; i--) {
        struct cluster_node *other = any_node(random, cluster);
        if (other == cluster->myself) continue;
        cluster_set_migrating(cluster, below(random, KEY_SLOTS), other);
        cluster_set_importing(cluster, below(random, KEY_SLOTS), other);
    }
}

static struct cluster *random_cluster(struct random *random) {
    struct cluster *cluster = cluster_new();
    cluster->uses_tls = below(random, 2);
    add_nodes(random, cluster);
    give_slots(random, cluster);
    cluster->last_vote_epoch = random_next(random) >> 1;
    cluster->current_epoch = cluster_greatest_epoch(cluster);
    return cluster;
}

static const struct cluster_node *same_node(const struct cluster *cluster,
                                            const struct cluster_node *node) {
    return node ? cluster_find(cluster, slice_make(node->id, CLUSTER_ID_LEN)) : NULL;
}

static void check_same_node(const struct cluster_node *a, const struct cluster_node *b) {
    assert_string_equal(a->id, b->id);
    assert_string_equal(a->shard_id, b->shard_id);
    assert_string_equal(a->ip, b->ip);
    assert_string_equal(a->hostname, b->hostname);
    assert_string_equal(a->human_name, b->human_name);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->port, b->port);
    assert_int_equal(a->tls_port, b->tls_port);
    assert_int_equal(a->bus_port, b->bus_port);
    assert_true(a->config_epoch == b->config_epoch);
    assert_true(a->ping_sent_ms == b->ping_sent_ms && a->pong_received_ms == b->pong_received_ms);
}

static void check_same(const struct cluster *a, const struct cluster *b) {
    assert_int_equal(a->count, b->count);
    assert_true(a->current_epoch == b->current_epoch && a->last_vote_epoch == b->last_vote_epoch);
    for (size_t i = 0; i < a->count; i++) {
        check_same_node(a->nodes[i], b->nodes[i]);
        assert_ptr_equal(same_node(b, a->nodes[i]->primary), b->nodes[i]->primary);
    }
    assert_ptr_equal(same_node(b, a->myself), b->myself);
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++) {
        assert_ptr_equal(same_node(b, a->owners[slot]), b->owners[slot]);
        assert_ptr_equal(same_node(b, a->migrating_to[slot]), b->migrating_to[slot]);
        assert_ptr_equal(same_node(b, a->importing_from[slot]), b->importing_from[slot]);
    }
}

static void random_clusters_are_read_back(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int i = 0; i < 200; i++) {
        struct cluster *cluster = random_cluster(&random);
        sds text = nodes_file_text(cluster);
        struct cluster *again = parse(sds_slice(text), cluster->uses_tls);
        check_same(cluster, again);
        cluster_free(again);
        cluster_free(cluster);
        sds_free(text);
    }
}

static void no_beginning_of_a_file_is_read(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct cluster *cluster = random_cluster(&random);
    sds text = nodes_file_text(cluster);
    for (size_t len = 0; len < sds_len(text); len++) {
        if (len > 2000 && len + 200 < sds_len(text) && below(&random, 50)) continue;
        check_refused_slice(slice_make(text, len), NULL);
    }
    cluster_free(cluster);
    sds_free(text);
}

static void no_byte_of_a_file_can_be_zero(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct cluster *cluster = random_cluster(&random);
    sds text = nodes_file_text(cluster);
    for (int i = 0; i < 500; i++) {
        size_t at = random_below(&random, sds_len(text));
        char before = text[at];
        text[at] = '\0';
        check_refused_slice(sds_slice(text), NULL);
        text[at] = before;
    }
    cluster_free(cluster);
    sds_free(text);
}

/* --- Files of other servers --- */

static void files_of_redis_and_valkey_are_read(void **state) {
    (void)state;
    check(
        B " 127.0.0.2:6379@16379,,availability-zone=z,client-ipv4=127.2.3.4,tls-port=0,shard-id=" T
          " slave " A " 0 5 7 connected\n" A " ::1:6379@16379,h.localhost,tls-port=6390,nodename=n,"
          "shard-id=" S " myself,master,nofailover - 0 0 7 connected 0-2 5 [5->-" B "] [6-<-" B
          "]\n" VARS "\n\n",
        false,
        A " ::1:6379@16379,h.localhost,tls-port=6390,nodename=n,shard-id=" S
          " myself,master,nofailover - 0 0 7 connected 0-2 5 [5->-" B "] [6-<-" B "]\n" B
          " 127.0.0.2:6379@16379,,tls-port=0,shard-id=" S " slave " A " 0 5 7 disconnected\n" VARS);
}

static void files_without_names_of_fields_are_read(void **state) {
    (void)state;
    struct cluster *cluster =
        parse(SLICE(A " :6379@16379 myself,master - 0 0 12 connected 16383\n" B
                      " 127.0.0.2:7000,h slave,fail? " A " 1 2 3 disconnected\n" VARS),
              false);
    const struct cluster_node *replica = cluster_find(cluster, SLICE(B));
    assert_int_equal(replica->bus_port, 17000);
    assert_string_equal(replica->hostname, "h");
    assert_string_equal(replica->shard_id, cluster->myself->shard_id);
    assert_true(cluster->current_epoch == 12); /* not less than any node's */
    cluster_free(cluster);
}

static void with_tls_the_port_in_front_is_the_one_for_tls(void **state) {
    (void)state;
    const char *text = A " 127.2.3.4:6390@16390,,tcp-port=6379,shard-id=" S
                         " myself,master - 0 0 1 connected\n" VARS;
    struct cluster *cluster = parse(slice_of_cstr(text), true);
    assert_int_equal(cluster->myself->tls_port, 6390);
    assert_int_equal(cluster->myself->port, 6379);
    check_text(cluster, text);
    sds for_client =
        nodes_text_append_node(cluster, cluster->myself, sds_new(SLICE("")), NODES_TEXT_FOR_CLIENT);
    assert_string_equal(for_client, A " 127.2.3.4:6379@16390 myself,master - 0 0 1 connected");
    sds_free(for_client);
    cluster_free(cluster);
}

static void a_node_whose_name_is_not_known_is_not_written(void **state) {
    (void)state;
    struct cluster *cluster = parse(
        SLICE(A " :1@2,,tls-port=0,shard-id=" S " myself,noflags - 0 0 0 connected\n" VARS), false);
    cluster_add(cluster, B)->flags = CLUSTER_HANDSHAKE;
    check_text(cluster, A " :1@2,,tls-port=0,shard-id=" S " myself - 0 0 0 connected\n" VARS);
    cluster_free(cluster);
}

/* --- Damaged files --- */

#define MYSELF A " 127.2.3.4:6379@16379 myself,master - 0 0 1 connected"

static void damaged_lines_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *line; /* the first one */
        const char *error;
    } bad[] = {
        {"foo", "line 1: it has fewer than eight fields"},
        {" " MYSELF, "line 1: it has fewer than eight fields"},
        {"A" MYSELF, "line 1: a node's id has 40 hex digits, unlike \"A" A "\""},
        {A " 6379 master - 0 0 1 connected",
         "line 1: an address is ip:port@bus-port, not \"6379\""},
        {A " :65536@1 master - 0 0 1 connected",
         "line 1: a port is a number up to 65535, not \"65536\""},
        {A " :1@ master - 0 0 1 connected", "line 1: a port is a number up to 65535, not \"\""},
        {A " :55536 master - 0 0 1 connected", "line 1: no bus port belongs to port \"55536\""},
        {A " a=b:1@1 master - 0 0 1 connected",
         "line 1: cluster-announce-ip contains invalid character \"a=b\""},
        {A " :1@1,a_b master - 0 0 1 connected",
         "line 1: Hostnames may only contain alphanumeric characters, hyphens or dots \"a_b\""},
        {A " :1@1,,x master - 0 0 1 connected",
         "line 1: a field of an address is name=value, not \"x\""},
        {A " :1@1,,shard-id=1 master - 0 0 1 connected",
         "line 1: a shard-id has 40 hex digits, unlike \"1\""},
        {A " :1@1,,tls-port=-1 master - 0 0 1 connected",
         "line 1: a port is a number up to 65535, not \"-1\""},
        {A " :1@1 master,odd - 0 0 1 connected", "line 1: no flag is named \"odd\""},
        {A " :1@1 master,slave - 0 0 1 connected",
         "line 1: these flags do not go together, or not into a file: \"master,slave\""},
        {A " :1@1 handshake - 0 0 1 connected",
         "line 1: these flags do not go together, or not into a file: \"handshake\""},
        {A " :1@1 master - x 0 1 connected",
         "line 1: a time is a number of milliseconds, not \"x\""},
        {A " :1@1 master - 0 0 9223372036854775808 connected",
         "line 1: an epoch is a number, not \"9223372036854775808\""},
        {A " :1@1 master - 0 0 1 up", "line 1: a link is connected or disconnected, not \"up\""},
        {MYSELF " 0-2 2", "line 1: a slot that is served already is in \"2\""},
        {MYSELF " 16384", "line 1: this is no range of slots: \"16384\""},
        {MYSELF " 5-4", "line 1: this is no range of slots: \"5-4\""},
        {MYSELF "  5", "line 1: this is no range of slots: \"\""},
        {MYSELF " 5-", "line 1: this is no range of slots: \"5-\""},
        {MYSELF " [5->-" B "]",
         "line 1: an open slot is of myself and another node of this file, unlike \"[5->-" B "]\""},
        {MYSELF " [5->-" A "]",
         "line 1: an open slot is of myself and another node of this file, unlike \"[5->-" A "]\""},
        {MYSELF " [5=>" A "]", "line 1: this is no open slot: \"[5=>" A "]\""},
        {MYSELF " [", "line 1: this is no open slot: \"[\""},
        {MYSELF " []", "line 1: this is no open slot: \"[]\""},
        {A " :1@1 myself,slave " B " 0 0 1 connected",
         "line 1: its primary is no other node of this file: \"" B "\""},
        {A " :1@1 myself,slave " A " 0 0 1 connected",
         "line 1: its primary is no other node of this file: \"" A "\""},
        {A " :1@1 myself,master " B " 0 0 1 connected",
         "line 1: only a node with the flag slave can have a primary"},
        {A " :1@1 master - 0 0 1 connected", "after line 2: no node has the flag myself"},
        {MYSELF "\n" MYSELF, "line 2: a line above has the same id, \"" A "\""},
        {MYSELF "\n" B " :1@1 myself,master - 0 0 1 connected",
         "line 2: a second node has the flag myself"},
        {MYSELF "\n" B " :1@1 master - 0 0 1 connected [1->-" A "]",
         "line 2: an open slot is of myself and another node of this file, unlike \"[1->-" A "]\""},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        sds text = sds_format("%s\n" VARS, bad[i].line);
        check_refused(text, bad[i].error);
        sds_free(text);
    }
}

static void damaged_vars_are_refused(void **state) {
    (void)state;
    check_refused("", "after line 0: the line 'vars' is missing");
    check_refused(MYSELF "\n", "after line 1: the line 'vars' is missing");
    check_refused(MYSELF "\nvars\n", "line 2: currentEpoch or lastVoteEpoch is missing");
    check_refused(MYSELF "\nvars currentEpoch 1\n",
                  "line 2: currentEpoch or lastVoteEpoch is missing");
    check_refused(MYSELF "\nvars currentEpoch 1 lastVoteEpoch -1\n",
                  "line 2: an epoch is a number, not \"-1\"");
    check_refused(VARS MYSELF "\n", "line 2: the line 'vars' must be the last one");
    check_refused(MYSELF "\n" VARS VARS, "line 3: the line 'vars' must be the last one");
    check_refused(MYSELF "\nvars currentEpoch 1 lastVoteEpoch 1",
                  "line 2: it is cut off, without a line end");
    struct cluster *cluster =
        parse(SLICE(MYSELF "\nvars currentEpoch 5 laterVar 7 lastVoteEpoch 2\n"), false);
    assert_true(cluster->current_epoch == 5 && cluster->last_vote_epoch == 2);
    cluster_free(cluster);
}

static void slots_that_are_open_twice_are_refused(void **state) {
    (void)state;
    check_refused(MYSELF " [1->-" B "] [1->-" B "]\n" B " :1@1 master - 0 0 1 connected\n" VARS,
                  "line 1: a slot is open twice in \"[1->-" B "]\"");
}

static void long_lines_and_many_nodes_are_refused(void **state) {
    (void)state;
    sds text = sds_new(SLICE(MYSELF));
    for (int i = 0; i < 100000; i++) text = sds_append_cstr(text, " 7-7x");
    text = sds_append_cstr(text, "\n" VARS);
    check_refused(text, "line 1: this is no range of slots: \"7-7x\"");
    sds_set_len(text, 0);
    for (unsigned i = 0; i <= NODES_FILE_NODES_MAX; i++)
        text = sds_append_format(text, "%040x :1@1 master - 0 0 0 connected\n", i);
    check_refused(text, "line 16385: these are too many nodes");
    sds_free(text);
    text = sds_try_new_uninit(NODES_FILE_MAX + 1);
    memset(text, '\n', NODES_FILE_MAX + 1);
    check_refused_slice(sds_slice(text), "after line 0: the file is too large");
    sds_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_clusters_are_read_back),
        cmocka_unit_test(no_beginning_of_a_file_is_read),
        cmocka_unit_test(no_byte_of_a_file_can_be_zero),
        cmocka_unit_test(files_of_redis_and_valkey_are_read),
        cmocka_unit_test(files_without_names_of_fields_are_read),
        cmocka_unit_test(with_tls_the_port_in_front_is_the_one_for_tls),
        cmocka_unit_test(a_node_whose_name_is_not_known_is_not_written),
        cmocka_unit_test(damaged_lines_are_refused),
        cmocka_unit_test(damaged_vars_are_refused),
        cmocka_unit_test(slots_that_are_open_twice_are_refused),
        cmocka_unit_test(long_lines_and_many_nodes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

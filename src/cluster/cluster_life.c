#include "cluster/cluster_life.h"

#include "base/files/file.h"
#include "base/files/new_file.h"
#include "cluster/cluster.h"
#include "cluster/nodes_file.h"
#include "engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* --- Ports --- */

/* Returns the port by which other nodes know this one: the bus port belongs to it. */
static int64_t first_port(const struct config *config) {
    return config->tls_cluster ? config->tls_port : config->port;
}

static int64_t own_bus_port(const struct config *config) {
    return config->cluster_port ? config->cluster_port : first_port(config) + CLUSTER_BUS_DISTANCE;
}

static int64_t first_of(int64_t announced, int64_t own) {
    return announced ? announced : own;
}

bool cluster_check_ports(const struct config *config, sds *error) {
    if (!config->cluster_enabled || own_bus_port(config) <= UINT16_MAX) return true;
    *error = sds_format(
        "The port %lld is too high for a node of a cluster: other nodes reach it at "
        "a port %d higher. Choose a port up to %d, or set cluster-port",
        (long long)first_port(config), CLUSTER_BUS_DISTANCE, UINT16_MAX - CLUSTER_BUS_DISTANCE);
    return false;
}

/* --- Directives --- */

/* Each returns whether that changes something. */

static bool set_text(sds *place, struct slice text) {
    if (slice_equal(sds_slice(*place), text)) return false;
    sds_free(*place);
    *place = sds_new(text);
    return true;
}

static bool set_port(int *place, int64_t port) {
    bool changes = *place != port;
    *place = (int)port;
    return changes;
}

static bool set_flag(unsigned *flags, unsigned flag, bool is_set) {
    unsigned before = *flags;
    *flags = is_set ? before | flag : before & ~flag;
    return *flags != before;
}

/* An address that the file has, which other nodes have told, stays until one is announced. */
static bool set_ip(struct cluster *cluster, struct slice announced) {
    bool is_kept = announced.len == 0 && !cluster->has_announced_ip;
    cluster->has_announced_ip = announced.len > 0;
    return !is_kept && set_text(&cluster->myself->ip, announced);
}

static bool set_names(struct cluster *cluster, const struct config *config) {
    struct cluster_node *myself = cluster->myself;
    bool changes = set_ip(cluster, sds_slice(config->cluster_announce_ip));
    changes |= set_text(&myself->hostname, sds_slice(config->cluster_announce_hostname));
    return changes | set_text(&myself->human_name, sds_slice(config->cluster_announce_human_name));
}

static bool set_ports(struct cluster *cluster, const struct config *config) {
    struct cluster_node *myself = cluster->myself;
    bool changes = set_port(&myself->port, first_of(config->cluster_announce_port, config->port));
    changes |=
        set_port(&myself->tls_port, first_of(config->cluster_announce_tls_port, config->tls_port));
    changes |= set_port(&myself->bus_port,
                        first_of(config->cluster_announce_bus_port, own_bus_port(config)));
    changes |= cluster->uses_tls != config->tls_cluster;
    cluster->uses_tls = config->tls_cluster;
    return changes;
}

/* Returns whether the file is another one then. */
static bool follow_directives(struct cluster *cluster, const struct config *config) {
    bool changes = set_names(cluster, config);
    changes |= set_ports(cluster, config);
    return changes | set_flag(&cluster->myself->flags, CLUSTER_NO_FAILOVER,
                              config->cluster_replica_no_failover);
}

/* --- State, file --- */

static void update_state(struct engine *engine) {
    struct cluster *cluster = engine->cluster;
    bool was_ok = cluster->is_ok;
    cluster_update_state(cluster, engine->config.cluster_require_full_coverage);
    if (cluster->is_ok != was_ok)
        log_notice("Cluster state changed: %s", cluster->is_ok ? "ok" : "fail");
}

/* Returns false with errno set. */
static bool write_file(const struct cluster *cluster) {
    sds text = nodes_file_text(cluster);
    bool done = new_file_replace(cluster->path, sds_slice(text));
    sds_free(text);
    return done;
}

static void write_or_end(struct engine *engine) {
    const char *path = engine->cluster->path;
    if (write_file(engine->cluster)) return;
    if (engine->config.cluster_save == CLUSTER_SAVE_OR_LOG) {
        log_warning("Can't write the cluster's file %s: %s. A restart would not know of the last "
                    "change of nodes or slots",
                    path, strerror(errno));
        return;
    }
    log_warning("Can't write the cluster's file %s: %s. The server ends, because a change of nodes "
                "or slots must not be lost; with cluster-config-save-behavior best-effort it would "
                "go on",
                path, strerror(errno));
    _exit(EXIT_FAILURE); /* no reply to the change has left */
}

void cluster_save(struct engine *engine) {
    update_state(engine);
    write_or_end(engine);
}

void cluster_configure(struct engine *engine) {
    if (!engine->cluster) return;
    bool changes = follow_directives(engine->cluster, &engine->config);
    update_state(engine);
    if (changes) write_or_end(engine);
}

/* --- Start --- */

/* The path stays the same when the server's directory changes. */
static sds absolute_path(const struct config *config) {
    const char *path = config->cluster_config_file;
    if (path[0] == '/') return sds_new(slice_of_cstr(path));
    return sds_format("%s/%s", config->dir, path);
}

static struct cluster *make_alone(const char *path, const char *why) {
    struct cluster *cluster = cluster_new();
    cluster_add_myself(cluster);
    log_notice("%s %s: this server becomes node %s of a cluster, without slots", why, path,
               cluster->myself->id);
    return cluster;
}

static struct cluster *take_text(const char *path, sds text, bool uses_tls, sds *error) {
    sds why = NULL;
    struct cluster *cluster = nodes_file_parse(sds_slice(text), uses_tls, &why);
    if (cluster) {
        log_notice("This server is node %s of a cluster; %s knows %zu nodes and %u slots",
                   cluster->myself->id, path, cluster->count, cluster->owned);
        return cluster;
    }
    *error = sds_format("The cluster's file %s is damaged: %s. Restore the file; or move it away, "
                        "then the server starts as a new node without slots, which keeps its data",
                        path, why);
    sds_free(why);
    return NULL;
}

/* Returns the cluster of the file, or a new one; *is_new: it is not in the file. NULL with *error
 * set if the file is bad. Redis leaves an empty file when it is killed in its first start. */
static struct cluster *read_file(const char *path, bool uses_tls, bool *is_new, sds *error) {
    sds text = file_read_plain(path, NODES_FILE_MAX);
    *is_new = text ? sds_len(text) == 0 : errno == ENOENT;
    if (*is_new) {
        struct cluster *alone = make_alone(path, text ? "Empty file" : "There is no file");
        sds_free(text);
        return alone;
    }
    if (!text) {
        *error = sds_format("Can't read the cluster's file %s: %s", path, strerror(errno));
        return NULL;
    }
    struct cluster *cluster = take_text(path, text, uses_tls, error);
    sds_free(text);
    return cluster;
}

static void note_bus(const struct cluster *cluster) {
    if (cluster->count > 1)
        log_warning("The %zu other nodes of the cluster are not asked anything: this version does "
                    "not talk to other nodes, so it learns of no change elsewhere",
                    cluster->count - 1);
    if (cluster->myself->flags & CLUSTER_REPLICA)
        log_warning("This node is a replica, but it does not follow its primary");
}

/* A directory that cannot be written to needs no change of the file to be read. */
static bool write_first(struct engine *engine, sds *error) {
    if (engine->config.cluster_save == CLUSTER_SAVE_OR_LOG) {
        write_or_end(engine);
    } else if (!write_file(engine->cluster)) {
        *error = sds_format("Can't write the cluster's file %s: %s", engine->cluster->path,
                            strerror(errno));
        return false;
    }
    return true;
}

bool cluster_start(struct engine *engine, sds *error) {
    const struct config *config = &engine->config;
    bool is_new;
    if (!config->cluster_enabled) return true;
    if (!cluster_check_ports(config, error)) return false;
    if (sds_len(config->replicaof) > 0) {
        *error = sds_new(SLICE("replicaof directive not allowed in cluster mode"));
        return false;
    }
    sds path = absolute_path(config);
    engine->cluster = read_file(path, config->tls_cluster, &is_new, error);
    engine->restrictions |= RESTRICTED_CLUSTER;
    if (!engine->cluster) {
        sds_free(path);
        return false;
    }
    engine->cluster->path = path;
    bool changes = follow_directives(engine->cluster, config);
    update_state(engine);
    note_bus(engine->cluster);
    return !(is_new || changes) || write_first(engine, error);
}

void cluster_end(struct engine *engine) {
    cluster_free(engine->cluster);
    engine->cluster = NULL;
}

#include "aof/aof_files.h"

#include "aof/aof.h"
#include "aof/aof_internal.h"
#include "base/files/file.h"
#include "base/files/new_file.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "net/loop/pool.h"
#include "snapshot/data_lock.h"
#include "snapshot/disk_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void aof_files_set_dir(struct engine *engine) {
    struct aof *aof = engine->aof;
    sds_free(aof->dir);
    aof->dir = sds_new(sds_slice(engine->config.dir));
}

sds aof_files_path_beside(struct engine *engine, const char *name) {
    return sds_format("%s/%s", engine->aof->dir, name);
}

static sds folder_path(struct engine *engine) {
    return aof_files_path_beside(engine, engine->config.appenddirname);
}

sds aof_files_path(struct engine *engine, const char *name) {
    return sds_append_format(folder_path(engine), "/%s", name);
}

sds aof_files_temporary(struct engine *engine, const char *kind) {
    sds prefix = sds_append_format(folder_path(engine), "/temp-%s.", engine->config.appendfilename);
    sds path = new_file_name(prefix, kind);
    sds_free(prefix);
    return path;
}

static sds manifest_path(struct engine *engine) {
    return sds_append_format(folder_path(engine), "/%s.manifest", engine->config.appendfilename);
}

void aof_files_remove_leftovers(struct engine *engine) {
    sds folder = folder_path(engine);
    sds prefix = sds_format("temp-%s.", engine->config.appendfilename);
    const char *const kinds[] = {".manifest", ".incr"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        disk_file_remove_leftovers(folder, prefix, kinds[i]);
        /* Redis's names have nothing random. */
        sds path = sds_append_format(sds_new(sds_slice(folder)), "/temp-%s%s",
                                     engine->config.appendfilename, kinds[i]);
        disk_file_remove_abandoned(path);
        sds_free(path);
    }
    sds_free(prefix);
    sds_free(folder);
}

/* --- Writing the manifest --- */

static bool write_file(const char *path, struct slice text) {
    struct disk_file file;
    return disk_file_create(&file, path, false) &&
           disk_file_close(&file, disk_file_write(&file, text.ptr, text.len));
}

static enum aof_adoption write_manifest(struct engine *engine, const struct aof_manifest *next) {
    enum aof_adoption adoption = AOF_NOT_ADOPTED;
    sds path = manifest_path(engine), temporary = aof_files_temporary(engine, ".manifest");
    sds text = aof_manifest_format(next);
    if (write_file(temporary, sds_slice(text)) && rename(temporary, path) == 0)
        adoption = new_file_sync_folder_of(path) ? AOF_ADOPTED : AOF_IN_DOUBT;
    if (adoption != AOF_ADOPTED) log_warning("Can't write the AOF manifest: %s", strerror(errno));
    if (adoption == AOF_NOT_ADOPTED) unlink(temporary);
    sds_free(text);
    sds_free(temporary);
    sds_free(path);
    return adoption;
}

enum aof_adoption aof_files_adopt(struct engine *engine, struct aof_manifest *next) {
    struct aof_manifest *manifest = &engine->aof->manifest;
    enum aof_adoption adoption = write_manifest(engine, next);
    if (adoption != AOF_NOT_ADOPTED) {
        aof_manifest_free(manifest);
        *manifest = *next;
        *next = (struct aof_manifest){0};
    }
    aof_manifest_free(next);
    return adoption;
}

/* --- History --- */

static size_t history_count(struct engine *engine) {
    struct aof_manifest *manifest = &engine->aof->manifest;
    size_t count = 0;
    for (size_t i = 0; i < manifest->count; i++)
        count += manifest->files[i].type == AOF_FILE_HISTORY;
    return count;
}

/* Syncs the folder: afterwards a power failure cannot bring back an older manifest. */
static bool sync_names(struct engine *engine) {
    sds path = manifest_path(engine);
    bool done = new_file_sync_folder_of(path);
    sds_free(path);
    return done;
}

static bool sync_file(struct engine *engine, const char *name) {
    sds path = aof_files_path(engine, name);
    bool done = disk_file_sync(path);
    sds_free(path);
    return done;
}

bool aof_files_sync(struct engine *engine) {
    struct aof_manifest *manifest = &engine->aof->manifest;
    for (size_t i = 0; i < manifest->count; i++) {
        const struct aof_file *file = &manifest->files[i];
        if (file->type != AOF_FILE_HISTORY && !sync_file(engine, file->name)) return false;
    }
    return sync_names(engine);
}

struct deletion {
    struct engine *engine;
    size_t count;
    char *paths[];
};

static void delete_files(void *arg) {
    struct deletion *deletion = arg;
    for (size_t i = 0; i < deletion->count; i++) unlink(deletion->paths[i]);
}

/* Removes the names from the manifest only after the files are deleted: docs/durability.md, section
 * 6, step 8. If a rewrite has added to the history in the meantime, that rewrite deletes all of
 * it. */
static void on_deleted(void *arg) {
    struct deletion *deletion = arg;
    struct engine *engine = deletion->engine;
    struct aof_manifest *manifest = &engine->aof->manifest;
    if (history_count(engine) == deletion->count) {
        struct aof_manifest next;
        aof_manifest_copy(&next, manifest);
        aof_manifest_drop_history(&next);
        aof_files_adopt(engine, &next);
    }
    for (size_t i = 0; i < deletion->count; i++) sds_free(deletion->paths[i]);
    mem_free(deletion);
}

void aof_files_drop_history(struct engine *engine) {
    struct aof_manifest *manifest = &engine->aof->manifest;
    size_t count = history_count(engine);
    if (count == 0 || !sync_names(engine)) return;
    struct deletion *deletion = mem_alloc(sizeof(*deletion) + count * sizeof(deletion->paths[0]));
    deletion->engine = engine;
    deletion->count = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        if (manifest->files[i].type != AOF_FILE_HISTORY) continue;
        log_notice("Removing the history file %s in the background", manifest->files[i].name);
        deletion->paths[deletion->count++] = aof_files_path(engine, manifest->files[i].name);
    }
    net_pool_run(engine->net, delete_files, on_deleted, deletion);
}

/* --- An unnamed base --- */

static void remove_if_unnamed(struct engine *engine, struct slice name) {
    if (aof_manifest_names(&engine->aof->manifest, name)) return;
    sds path = aof_files_path(engine, name.ptr);
    if (unlink(path) == 0)
        log_notice("Removed %s, the base of an interrupted rewrite: no manifest names it", path);
    sds_free(path);
}

/* The interrupted rewrite has used the number after that of the base in force. A later rewrite may
 * have used it again, for a base whose name ends differently (aof-use-rdb-preamble). Any other
 * number is none of a rewrite of these files. */
void aof_files_remove_unnamed_base(struct engine *engine) {
    int64_t last = engine->aof->manifest.base_seq;
    for (int64_t seq = last > 0 ? last : 1; seq <= last + 1; seq++) {
        for (int is_rdb = 0; is_rdb <= 1; is_rdb++) {
            sds name = aof_manifest_base_name(engine->config.appendfilename, seq, is_rdb);
            remove_if_unnamed(engine, sds_slice(name));
            sds_free(name);
        }
    }
}

/* --- Reading --- */

static bool fail(const char *what, const char *path) {
    log_warning("%s %s: %s", what, path, strerror(errno));
    return false;
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static bool parse_manifest(struct engine *engine, const char *path, struct slice text) {
    struct aof_manifest *manifest = &engine->aof->manifest;
    sds reason;
    if (aof_manifest_parse(manifest, text, &reason)) return true;
    log_warning("Bad AOF manifest %s, %s", path, reason);
    sds_free(reason);
    return false;
}

/* Returns the sequence number in the name of one of our files, or 0 for another name. */
static int64_t sequence_of(struct engine *engine, const char *name) {
    const char *prefix = engine->config.appendfilename;
    int64_t seq;
    if (strncmp(name, prefix, strlen(prefix)) != 0 || name[strlen(prefix)] != '.') return 0;
    const char *digits = name + strlen(prefix) + 1;
    struct slice number = slice_make(digits, strcspn(digits, "."));
    return number_parse_int64(number, &seq) && seq > 0 && seq <= AOF_MANIFEST_SEQ_MAX ? seq : 0;
}

/* Files that no manifest names (it was lost, or the first start was interrupted) may be the user's
 * only data. New files get higher numbers, so they do not replace them. */
static bool avoid_stray_names(struct engine *engine, const char *path) {
    struct aof_manifest *manifest = &engine->aof->manifest;
    DIR *folder = opendir(path);
    int64_t highest = 0;
    if (!folder) return fail("Can't read the folder", path);
    for (struct dirent *file; (file = readdir(folder));) {
        int64_t seq = sequence_of(engine, file->d_name);
        if (seq > highest) highest = seq;
    }
    closedir(folder);
    if (highest > 0)
        log_warning("There are append-only files in %s but no manifest that names them: they are "
                    "neither loaded nor changed",
                    path);
    manifest->base_seq = manifest->incr_seq = highest;
    return true;
}

static bool read_manifest(struct engine *engine, const char *folder) {
    sds path = manifest_path(engine);
    sds text = file_read_plain(path, SIZE_MAX);
    bool done;
    if (text)
        done = parse_manifest(engine, path, sds_slice(text));
    else
        done = errno == ENOENT ? avoid_stray_names(engine, folder)
                               : fail("Can't read the AOF manifest", path);
    sds_free(text);
    sds_free(path);
    return done;
}

/* Moves the file into the folder after the manifest that names it is written. If a former start was
 * interrupted between the two, moves it now. */
bool aof_files_adopt_old(struct engine *engine) {
    struct aof_manifest *manifest = &engine->aof->manifest;
    const char *name = engine->config.appendfilename;
    if (!exists(name)) return true;
    if (manifest->count == 0) {
        struct aof_manifest next = {0};
        aof_manifest_copy(&next, manifest);
        aof_manifest_adopt_base(&next, name);
        if (aof_files_adopt(engine, &next) != AOF_ADOPTED) return false;
    }
    const struct aof_file *base = aof_manifest_base(manifest);
    if (!base || !slice_equal(sds_slice(base->name), slice_of_cstr(name))) return true;
    sds path = aof_files_path(engine, name);
    bool done = exists(path);
    if (!done && !(done = disk_file_rename(name, path)))
        fail("Can't move the old append-only file to", path);
    else
        log_notice("Successfully migrated an old-style AOF configuration (%s) into the AOF "
                   "directory (%s).",
                   name, engine->config.appenddirname);
    sds_free(path);
    return done;
}

static bool open_folder(struct engine *engine, const char *folder) {
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) return fail("Can't create the folder", folder);
    /* Even if the folder exists: the server that created it may have been killed before this. */
    if (!new_file_sync_folder_of(folder)) return fail("Can't bring the folder to disk:", folder);
    return read_manifest(engine, folder);
}

bool aof_files_open(struct engine *engine) {
    struct aof_manifest *manifest = &engine->aof->manifest;
    if (!data_lock_take_or_log(engine)) return false;
    data_lock_hold_for_aof(engine);
    aof_manifest_free(manifest);
    aof_files_set_dir(engine);
    sds folder = folder_path(engine);
    bool done = open_folder(engine, folder);
    sds_free(folder);
    return done;
}

#include "check/check.h"

#include "base/files/dir_lock.h"
#include "base/files/file.h"
#include "base/text/sds.h"
#include "check/data_file.h"
#include "persist/aof_manifest.h"
#include "persist/rdb_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Cutting --- */

/* Only a y means yes. */
static bool ask(void) {
    char answer[16];
    fputs("Continue? [y/N]: ", stdout);
    fflush(stdout);
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static bool may_cut(const struct check_options *options, const char *path, uint64_t size,
                    uint64_t whole) {
    if (options->yes) return true;
    if (!isatty(STDIN_FILENO)) {
        printf("%s: not cut: there is no terminal to ask on; use --yes\n", path);
        return false;
    }
    printf("%s: this will cut it from %llu bytes by %llu bytes to %llu bytes\n", path,
           (unsigned long long)size, (unsigned long long)(size - whole), (unsigned long long)whole);
    if (ask()) return true;
    printf("%s: not cut\n", path);
    return false;
}

/* Cuts the file. Its size must still be the checked one: otherwise a program has written to it. */
static const char *cut(int fd, uint64_t size, uint64_t whole) {
    struct stat facts;
    if (fstat(fd, &facts) != 0) return strerror(errno);
    if ((uint64_t)facts.st_size != size) return "its size has changed";
    if (ftruncate(fd, (off_t)whole) != 0 || fsync(fd) != 0) return strerror(errno);
    return NULL;
}

/* The path of what `name` names in the folder of the file. */
static sds path_beside(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    return sds_append_cstr(sds_new(slice_make(path, folder)), name);
}

/* Returns whether a server uses the folder at `up` ("." or "..") from the file's folder. If not, no
 * server can start to use it while *lock, if it is not -1, is open. */
static bool is_in_use(const char *path, const char *up, int *lock) {
    sds dir = path_beside(path, up);
    pid_t owner;
    *lock = dir_lock_share(dir, &owner);
    bool in_use = *lock < 0 && errno == EWOULDBLOCK;
    if (in_use) printf("%s: not cut: a server (process %d) uses it\n", path, (int)owner);
    sds_free(dir);
    return in_use;
}

static bool cut_file(const char *path, uint64_t size, uint64_t whole) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    const char *error = fd < 0 ? strerror(errno) : cut(fd, size, whole);
    if (fd >= 0) close(fd);
    if (error)
        printf("%s: not cut: %s\n", path, error);
    else
        printf("%s: fixed: cut to %llu bytes\n", path, (unsigned long long)whole);
    return error == NULL;
}

/* The append-only file has a folder of its own; a server locks the folder that contains it.
 *
 * Cuts the file of `size` bytes to its first `whole`, after asking on the terminal unless
 * options->yes. Prints what it does on standard output. Returns whether that is done and has
 * reached the disk. */
static bool cut_after_whole(const struct check_options *options, const char *path, uint64_t size,
                            uint64_t whole) {
    if (!may_cut(options, path, size, whole)) return false;
    int own = -1, above = -1;
    bool done = !is_in_use(path, ".", &own) && !is_in_use(path, "..", &above) &&
                cut_file(path, size, whole);
    if (own >= 0) close(own);
    if (above >= 0) close(above);
    return done;
}

/* --- Words --- */

static void print_count(const char *before, uint64_t count, const char *noun) {
    printf("%s%llu %s%s", before, (unsigned long long)count, noun, count == 1 ? "" : "s");
}

/* The contents of a good file. */
static void print_contents(const struct finding *finding) {
    if (finding->has_snapshot) {
        printf("RDB version %u", finding->version);
        print_count(" with ", finding->keys, "key");
        printf(" (%llu with an expiry)", (unsigned long long)finding->expiring);
        print_count(" in ", finding->databases, "database");
        if (finding->libraries > 0)
            printf(" and %llu %s of functions", (unsigned long long)finding->libraries,
                   finding->libraries == 1 ? "library" : "libraries");
    }
    if (!finding->has_snapshot || finding->commands + finding->transactions > 0) {
        print_count(finding->has_snapshot ? ", then " : "", finding->commands, "command");
        print_count(", ", finding->transactions, "transaction");
    }
    print_count(", ", finding->whole, "byte");
}

static bool fail(const char *path, const char *error) {
    printf("%s: bad: %s\n", path, error);
    return false;
}

/* --- Files with data --- */

/* What a Packlist server does not have: it makes the file bad, or is a note about one that is good
 * for other servers. */
static void print_foreign(const char *path, const char *verdict, const struct finding *finding) {
    if (finding->foreign > 0) {
        printf("%s: %s: packlist-server has no type", path, verdict);
        print_count(" for ", finding->foreign - finding->others, "key");
        if (finding->others) print_count(" and ", finding->others, "other item");
        printf(", and loads the file only with rdb-skip-unknown-types: %s%s\n",
               finding->foreign_names, finding->foreign > FINDING_NAMES_MAX ? ", …" : "");
    }
    if (finding->foreign_commands > 0) {
        printf("%s: %s: packlist-server does not run", path, verdict);
        print_count(" ", finding->foreign_commands, "command");
        printf(" of it, and does not start with the file; the first is %s\n",
               finding->foreign_command);
    }
}

static void print_empty(const char *path, const struct finding *finding) {
    if (finding->empty == 0) return;
    printf("%s: note", path);
    print_count(": ", finding->empty, "key");
    printf(" without elements, which packlist-server leaves out\n");
}

static bool is_foreign(const struct finding *finding) {
    return finding->foreign > 0 || finding->foreign_commands > 0;
}

static void print(const struct check_options *options, const char *path,
                  const struct finding *finding) {
    bool may_be_foreign = options->for_other_servers;
    if (finding->wrong) {
        printf("%s: bad at byte %llu: %s\n", path, (unsigned long long)finding->wrong_at,
               finding->wrong);
    } else if (may_be_foreign || !is_foreign(finding)) {
        printf("%s: good: ", path);
        print_contents(finding);
        putchar('\n');
    }
    print_foreign(path, may_be_foreign ? "note" : "bad", finding);
    print_empty(path, finding);
}

/* Repairs a bad file if possible, or says how; true when it was repaired. */
static bool help(const struct check_options *options, const char *path,
                 const struct finding *finding, uint64_t size, bool is_last) {
    if (!finding->can_be_cut) return false;
    printf("%s: whole up to byte %llu of %llu\n", path, (unsigned long long)finding->whole,
           (unsigned long long)size);
    if (is_last && options->fix) return cut_after_whole(options, path, size, finding->whole);
    printf("%s: %s\n", path,
           is_last ? "--fix cuts off what stands behind that"
                   : "not to be cut: what stands in the files behind it builds on it");
    return false;
}

/* Opens a file; *size gets its size. -1 when that fails, after printing why. */
static int open_file(const char *path, uint64_t *size) {
    struct stat facts = {0};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const char *error = fd < 0 || fstat(fd, &facts) != 0 ? strerror(errno) : NULL;
    if (!error && !S_ISREG(facts.st_mode)) error = "not a file";
    *size = (uint64_t)facts.st_size;
    if (!error) return fd;
    if (fd >= 0) close(fd);
    fail(path, error);
    return -1;
}

/* `is_last`: no other file continues this one. */
static bool check_data(const struct check_options *options, const char *path, bool is_last,
                       struct progress *progress) {
    struct finding finding;
    uint64_t size;
    int fd = open_file(path, &size);
    if (fd < 0) return false;
    data_file_read(fd, progress, &finding);
    close(fd);
    progress_clear(progress);
    if (size == 0 && rdb_file_is_named(path)) {
        finding_free(&finding);
        return fail(path, "empty");
    }
    print(options, path, &finding);
    bool good = !finding.wrong || help(options, path, &finding, size, is_last);
    if (is_foreign(&finding) && !options->for_other_servers) good = false;
    finding_free(&finding);
    return good;
}

/* --- Manifests --- */

static uint64_t size_of(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 ? (uint64_t)facts.st_size : 0;
}

/* Bytes of all files but history, which is not loaded; *last gets the index of the last one that is
 * not empty. */
static uint64_t size_of_files(const char *path, const struct aof_manifest *manifest, size_t *last) {
    uint64_t total = 0;
    *last = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        if (manifest->files[i].type == AOF_FILE_HISTORY) continue;
        sds file = path_beside(path, manifest->files[i].name);
        uint64_t size = size_of(file);
        sds_free(file);
        if (size > 0) *last = i;
        total += size;
    }
    return total;
}

/* Checks the files in the order in which they are loaded. */
static bool check_files(const struct check_options *options, const char *path,
                        const struct aof_manifest *manifest) {
    struct progress progress;
    size_t last;
    bool good = true;
    progress_start(&progress, size_of_files(path, manifest, &last));
    for (size_t i = 0; i < manifest->count; i++) {
        if (manifest->files[i].type == AOF_FILE_HISTORY) continue;
        sds file = path_beside(path, manifest->files[i].name);
        if (!check_data(options, file, i == last, &progress)) good = false;
        sds_free(file);
    }
    return good;
}

static bool check_manifest(const struct check_options *options, const char *path) {
    enum { MANIFEST_SIZE_MAX = 16 * 1024 * 1024 };
    struct aof_manifest manifest = {0};
    sds error = NULL, text = NULL;
    bool good = false;
    if (size_of(path) > MANIFEST_SIZE_MAX) return fail(path, "too long for a manifest");
    if (!(text = file_read(path))) return fail(path, strerror(errno));
    if (!aof_manifest_parse(&manifest, sds_slice(text), &error)) {
        fail(path, error);
    } else if ((good = check_files(options, path, &manifest))) {
        printf("%s: good, and all its files\n", path);
    } else {
        printf("%s: bad, as not all of its files are good\n", path);
    }
    sds_free(text);
    sds_free(error);
    aof_manifest_free(&manifest);
    return good;
}

static bool is_manifest(const char *path) {
    static const char begin[] = {'f', 'i', 'l', 'e', ' '};
    char bytes[sizeof(begin)];
    if (slice_ends(slice_of_cstr(path), SLICE(".manifest"))) return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool found = pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
                 memcmp(bytes, begin, sizeof(begin)) == 0;
    close(fd);
    return found;
}

bool check_path(const struct check_options *options, const char *path) {
    struct progress progress;
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) return fail(path, "not a file");
    if (is_manifest(path)) return check_manifest(options, path);
    progress_start(&progress, size_of(path));
    return check_data(options, path, true, &progress);
}

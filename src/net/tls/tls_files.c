#include "net/tls/tls_files.h"

#include "base/memory/alloc.h"
#include "base/text/secret.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { ENTRIES_MAX = 1024 };

/* --- Their state --- */

static uint64_t mix(uint64_t state, uint64_t value) {
    state = (state ^ value) * 0x9E3779B97F4A7C15u;
    return state ^ state >> 32;
}

static uint64_t add_time(uint64_t state, struct timespec time) {
    return mix(mix(state, (uint64_t)time.tv_sec), (uint64_t)time.tv_nsec);
}

/* A link counts as what it leads to. */
static uint64_t add_file(uint64_t state, int folder, const char *name) {
    struct stat facts;
    if (!name || !name[0]) return mix(state, 0);
    if (fstatat(folder, name, &facts, 0) != 0) return mix(state, (uint64_t)errno);
    state = mix(mix(mix(state, facts.st_dev), facts.st_ino), (uint64_t)facts.st_size);
    return add_time(add_time(state, facts.st_mtim), facts.st_ctim);
}

/* The order of the entries does not matter. */
static uint64_t add_folder(uint64_t state, const char *path) {
    DIR *folder = path && path[0] ? opendir(path) : NULL;
    uint64_t sum = 0;
    state = add_file(state, AT_FDCWD, path);
    if (!folder) return state;
    const struct dirent *entry;
    for (int i = 0; i < ENTRIES_MAX && (entry = readdir(folder)); i++)
        if (strcmp(entry->d_name, "..") != 0) sum += add_file(0, dirfd(folder), entry->d_name);
    closedir(folder);
    return mix(state, sum);
}

uint64_t tls_files_state(const struct tls_options *options) {
    uint64_t state = (uint64_t)options->role + 1;
    state = add_file(state, AT_FDCWD, options->cert_file);
    state = add_file(state, AT_FDCWD, options->key_file);
    state = add_file(state, AT_FDCWD, options->ca_file);
    state = add_file(state, AT_FDCWD, options->dh_params_file);
    return add_folder(state, options->ca_dir);
}

/* --- Copies --- */

static const char *copy(const char *text) {
    if (!text) return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

struct tls_options tls_options_copy(const struct tls_options *options) {
    struct tls_options result = *options;
    result.cert_file = copy(options->cert_file);
    result.key_file = copy(options->key_file);
    result.key_password = copy(options->key_password);
    result.ca_file = copy(options->ca_file);
    result.ca_dir = copy(options->ca_dir);
    result.dh_params_file = copy(options->dh_params_file);
    result.protocols = copy(options->protocols);
    result.ciphers = copy(options->ciphers);
    result.ciphersuites = copy(options->ciphersuites);
    result.groups = copy(options->groups);
    return result;
}

void tls_options_free(struct tls_options *options) {
    const char *texts[] = {options->cert_file, options->key_file, options->key_password,
                           options->ca_file,   options->ca_dir,   options->dh_params_file,
                           options->protocols, options->ciphers,  options->ciphersuites,
                           options->groups};
    if (options->key_password)
        secret_clear((char *)options->key_password, strlen(options->key_password));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) mem_free((void *)texts[i]);
    *options = (struct tls_options){0};
}

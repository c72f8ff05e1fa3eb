#define _GNU_SOURCE /* for environ */
#include "server/process/process_title.h"

#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "config/title_template.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Replaces the texts by copies; moves `end` past those that lie in memory right after it. */
static void copy_texts(char **texts, char **end) {
    for (; *texts; texts++) {
        size_t size = strlen(*texts) + 1;
        if (*texts == *end) *end += size;
        *texts = memcpy(mem_alloc(size), *texts, size);
    }
}

/* An option may be one argument with its value. */
#define NAME_ENDS " =:\t\n\v\f\r"

/* Returns whether what follows the option may be a password. */
static bool is_secret(const char *option) {
    struct slice name = slice_make(option + 2, strcspn(option + 2, NAME_ENDS));
    bool is_quoted = name.len > 0 && strchr("\"'", name.ptr[0]);
    return is_quoted || secret_is_near(name, "user") || secret_is_directive(name);
}

static void hide_from(char *text) {
    if (text) memset(text, '*', strlen(text));
}

/* Overwrites the passwords among the arguments: every user of the machine can read them, until the
 * title takes their place, and if it does not. The value of an option may begin as an option does,
 * and an option with a line break contains further ones. */
static void hide_secrets(int argc, char **argv) {
    bool hides = false, is_first = false;
    for (int i = 1; i < argc; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1] == '-';
        if (is_option && !(hides && is_first)) {
            hides = is_secret(argv[i]);
            char *value = strpbrk(argv[i], NAME_ENDS);
            is_first = !value;
            hide_from(hides ? value : strpbrk(argv[i], "\n\r"));
        } else {
            is_first = false;
            if (hides) hide_from(argv[i]);
        }
    }
}

void process_title_init(struct process_title *title, int argc, char **argv) {
    if (argc == 0) return;
    title->memory = argv[0];
    char *end = argv[0];
    char **originals =
        memcpy(mem_alloc((size_t)argc * sizeof(*argv)), argv, (size_t)argc * sizeof(*argv));
    copy_texts(argv, &end);
    hide_secrets(argc, originals);
    mem_free(originals);
    title->used = (size_t)(end - title->memory);
    copy_texts(environ, &end);
    title->size = (size_t)(end - title->memory);
    title->started_as = argv[0];
}

static sds listen_address(struct engine *engine) {
    const struct config *config = &engine->config;
    sds out = sds_new(SLICE(""));
    int64_t port = config->port ? config->port : config->tls_port;
    if (port == 0) return sds_append(out, sds_slice(config->unixsocket));
    const char *address = config->bind_count > 0 ? config->bind[0] : "*";
    return sds_append_format(out, "%s:%d", address + (address[0] == '-'), (int)port);
}

void process_title_set(struct engine *engine) {
    struct process_title *place = engine->title;
    if (!engine->config.set_proc_title || place->size == 0) return;
    char port[16], tls_port[16];
    snprintf(port, sizeof(port), "%d", (int)engine->config.port);
    snprintf(tls_port, sizeof(tls_port), "%d", (int)engine->config.tls_port);
    sds address = listen_address(engine);
    sds text =
        title_template_expand(sds_slice(engine->config.proc_title_template),
                              &(struct title_values){
                                  .title = place->started_as,
                                  .listen_addr = address,
                                  .server_mode = engine->config.cluster_enabled ? "[cluster]" : "",
                                  .port = port,
                                  .tls_port = tls_port,
                                  .unixsocket = engine->config.unixsocket,
                                  .config_file = engine->config_source.path,
                              });
    size_t len = sds_len(text) < place->size ? sds_len(text) : place->size - 1;
    memcpy(place->memory, text, len);
    if (len + 1 > place->used) place->used = len + 1;
    memset(place->memory + len, 0, place->used - len);
    sds_free(text);
    sds_free(address);
}

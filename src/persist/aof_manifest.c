#include "persist/aof_manifest.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "resp/parser.h"

/* Longest name that a file system allows; longest line: each byte of a name may take four. */
enum { NAME_MAX_BYTES = 255, LINE_MAX_BYTES = 2048 };

#define INCREMENT_SUFFIX ".incr.aof"

static const char type_letters[] = {
    [AOF_FILE_BASE] = 'b', [AOF_FILE_HISTORY] = 'h', [AOF_FILE_INCR] = 'i'};

/* --- The files --- */

void aof_manifest_free(struct aof_manifest *manifest) {
    for (size_t i = 0; i < manifest->count; i++) sds_free(manifest->files[i].name);
    mem_free(manifest->files);
    *manifest = (struct aof_manifest){0};
}

void aof_manifest_copy(struct aof_manifest *copy, const struct aof_manifest *manifest) {
    *copy = *manifest;
    copy->capacity = manifest->count;
    copy->files = manifest->count ? mem_alloc(manifest->count * sizeof(*copy->files)) : NULL;
    for (size_t i = 0; i < manifest->count; i++) {
        copy->files[i] = manifest->files[i];
        copy->files[i].name = sds_new(sds_slice(manifest->files[i].name));
    }
}

const struct aof_file *aof_manifest_base(const struct aof_manifest *manifest) {
    bool has_base = manifest->count > 0 && manifest->files[0].type == AOF_FILE_BASE;
    return has_base ? &manifest->files[0] : NULL;
}

const struct aof_file *aof_manifest_last(const struct aof_manifest *manifest) {
    if (manifest->count == 0) return NULL;
    const struct aof_file *last = &manifest->files[manifest->count - 1];
    return last->type == AOF_FILE_INCR ? last : NULL;
}

bool aof_manifest_names(const struct aof_manifest *manifest, struct slice name) {
    for (size_t i = 0; i < manifest->count; i++)
        if (slice_equal(sds_slice(manifest->files[i].name), name)) return true;
    return false;
}

sds aof_manifest_base_name(const char *prefix, int64_t seq, bool is_rdb) {
    return sds_format("%s.%lld.base.%s", prefix, (long long)seq, is_rdb ? "rdb" : "aof");
}

/* Inserts the file after all files whose type does not come later. */
static const struct aof_file *insert(struct aof_manifest *manifest, struct aof_file file) {
    MEM_RESERVE(manifest->files, manifest->capacity, manifest->count + 1);
    size_t at = manifest->count++;
    while (at > 0 && manifest->files[at - 1].type > file.type) {
        manifest->files[at] = manifest->files[at - 1];
        at--;
    }
    manifest->files[at] = file;
    return &manifest->files[at];
}

/* Moves a file to the history. */
static void retire(struct aof_manifest *manifest, size_t index) {
    struct aof_file file = manifest->files[index];
    memmove(manifest->files + index, manifest->files + index + 1,
            (--manifest->count - index) * sizeof(file));
    file.type = AOF_FILE_HISTORY;
    insert(manifest, file);
}

static const struct aof_file *put_base(struct aof_manifest *manifest, sds name) {
    if (aof_manifest_base(manifest)) retire(manifest, 0);
    return insert(manifest, (struct aof_file){name, ++manifest->base_seq, AOF_FILE_BASE});
}

const struct aof_file *aof_manifest_add_base(struct aof_manifest *manifest, const char *prefix,
                                             bool is_rdb) {
    return put_base(manifest, aof_manifest_base_name(prefix, manifest->base_seq + 1, is_rdb));
}

const struct aof_file *aof_manifest_adopt_base(struct aof_manifest *manifest, const char *name) {
    return put_base(manifest, sds_new(slice_of_cstr(name)));
}

const struct aof_file *aof_manifest_add_incr(struct aof_manifest *manifest, const char *prefix) {
    int64_t seq = ++manifest->incr_seq;
    sds name = sds_format("%s.%lld" INCREMENT_SUFFIX, prefix, (long long)seq);
    return insert(manifest, (struct aof_file){name, seq, AOF_FILE_INCR});
}

void aof_manifest_retire_incrs(struct aof_manifest *manifest, size_t keep) {
    size_t first = 0;
    while (first < manifest->count && manifest->files[first].type != AOF_FILE_INCR) first++;
    /* a retired file moves to a place before the increments */
    for (; first + keep < manifest->count; first++) retire(manifest, first);
}

void aof_manifest_drop_history(struct aof_manifest *manifest) {
    size_t kept = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        if (manifest->files[i].type == AOF_FILE_HISTORY)
            sds_free(manifest->files[i].name);
        else
            manifest->files[kept++] = manifest->files[i];
    }
    manifest->count = kept;
}

/* --- Writing --- */

static bool needs_quotes(struct slice name) {
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c <= ' ' || c > '~' || c == '"' || c == '\'' || c == '\\') return true;
    }
    return name.len == 0 || name.ptr[0] == '#';
}

sds aof_manifest_format(const struct aof_manifest *manifest) {
    sds text = sds_new(SLICE(""));
    for (size_t i = 0; i < manifest->count; i++) {
        const struct aof_file *file = &manifest->files[i];
        struct slice name = sds_slice(file->name);
        text = sds_append(text, SLICE("file "));
        text = needs_quotes(name) ? sds_append_quoted(text, name) : sds_append(text, name);
        text = sds_append_format(text, " seq %lld type %c\n", (long long)file->seq,
                                 type_letters[file->type]);
    }
    return text;
}

/* --- Reading --- */

static bool parse_type(struct slice text, enum aof_file_type *type) {
    if (text.len != 1) return false;
    for (size_t i = 0; i < sizeof(type_letters); i++) {
        if (text.ptr[0] != type_letters[i]) continue;
        *type = (enum aof_file_type)i;
        return true;
    }
    return false;
}

static bool is_plain_name(struct slice name) {
    return name.len > 0 && name.len <= NAME_MAX_BYTES && memchr(name.ptr, '/', name.len) == NULL &&
           memchr(name.ptr, '\0', name.len) == NULL && !slice_equal(name, SLICE(".")) &&
           !slice_equal(name, SLICE(".."));
}

/* The pairs of one line. */
struct described {
    struct slice name;
    int64_t seq;
    enum aof_file_type type;
    bool has_name, has_seq, has_type;
};

/* Stores one pair. Returns NULL, or what is wrong. */
static const char *note_pair(struct described *file, struct slice key, struct slice value) {
    if (slice_is(key, "file")) {
        if (!is_plain_name(value)) return "the file is not a plain name";
        file->name = value;
        file->has_name = true;
    } else if (slice_is(key, "seq")) {
        if (!number_parse_int64(value, &file->seq) || file->seq < 1)
            return "the sequence number is not a positive number";
        if (file->seq > AOF_MANIFEST_SEQ_MAX)
            return "the sequence number leaves none for what follows";
        file->has_seq = true;
    } else if (slice_is(key, "type")) {
        if (!parse_type(value, &file->type))
            return "Unknown AOF file type: it is none of b, h and i";
        file->has_type = true;
    }
    return NULL;
}

/* Returns whether the file is or was an increment; a file of the history shows that by its name.
 * Each kind is numbered by itself. The numbers of the history stay in use: a new file with such a
 * name would be deleted with it. A retired increment must not raise base_seq: the next base
 * replaces, under the same name, one that a killed rewrite left. */
static bool was_increment(const struct described *file) {
    return file->type == AOF_FILE_INCR ||
           (file->type == AOF_FILE_HISTORY && slice_ends(file->name, SLICE(INCREMENT_SUFFIX)));
}

static void note_seq(struct aof_manifest *manifest, const struct described *file) {
    int64_t *seq = was_increment(file) ? &manifest->incr_seq : &manifest->base_seq;
    if (file->seq > *seq) *seq = file->seq;
}

/* Adds the file of a line. Returns NULL, or what is wrong. */
static const char *note_file(struct aof_manifest *manifest, const struct described *file) {
    const struct aof_file *last = aof_manifest_last(manifest);
    if (!file->has_name || !file->has_seq || !file->has_type)
        return "a line needs a file, a seq and a type";
    if (file->type == AOF_FILE_BASE && aof_manifest_base(manifest))
        return "there is a second base file";
    if (file->type == AOF_FILE_INCR && last && file->seq <= last->seq)
        return "the sequence numbers do not ascend";
    note_seq(manifest, file);
    insert(manifest, (struct aof_file){sds_new(file->name), file->seq, file->type});
    return NULL;
}

/* Parses a line, and removes its quotes in place. Returns NULL, or what is wrong. */
static const char *parse_line(struct aof_manifest *manifest, char *at, char *end) {
    struct described file = {0};
    struct slice words[2];
    enum resp_split split;
    size_t count = 0;
    if (end - at > LINE_MAX_BYTES) return "the line is too long";
    while ((split = resp_split_next(&at, end, &words[count % 2])) == RESP_SPLIT_ARGUMENT) {
        if (++count % 2) continue;
        const char *wrong = note_pair(&file, words[0], words[1]);
        if (wrong) return wrong;
    }
    if (split == RESP_SPLIT_UNBALANCED) return "the quotes are not balanced";
    if (count % 2) return "a key has no value";
    return note_file(manifest, &file);
}

static const char *parse_lines(struct aof_manifest *manifest, char *at, char *end, size_t *line) {
    for (*line = 1; at < end; (*line)++) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (line_end == NULL) return "the line does not end";
        if (*at != '#') {
            const char *wrong = parse_line(manifest, at, line_end);
            if (wrong) return wrong;
        }
        at = line_end + 1;
    }
    return manifest->count > 0 ? NULL : "no file is named";
}

bool aof_manifest_parse(struct aof_manifest *manifest, struct slice text, sds *error) {
    sds copy = sds_new(text);
    size_t line;
    const char *wrong = parse_lines(manifest, copy, copy + sds_len(copy), &line);
    sds_free(copy);
    if (wrong == NULL) return true;
    aof_manifest_free(manifest);
    *error = sds_format("line %zu: %s", line, wrong);
    return false;
}

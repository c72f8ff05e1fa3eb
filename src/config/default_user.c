#include "config/default_user.h"

#include "base/sha256.h"

/* What a line grants; it must grant all of them. */
enum grant {
    GRANT_LOGIN = 1 << 0,
    GRANT_KEYS = 1 << 1,
    GRANT_CHANNELS = 1 << 2,
    GRANT_COMMANDS = 1 << 3,
    GRANT_ALL = (1 << 4) - 1
};

static const struct {
    const char *word;
    unsigned grant; /* enum grant */
} rules[] = {
    {"on", GRANT_LOGIN},
    {"~*", GRANT_KEYS},
    {"allkeys", GRANT_KEYS},
    {"&*", GRANT_CHANNELS},
    {"allchannels", GRANT_CHANNELS},
    {"+@all", GRANT_COMMANDS},
    {"allcommands", GRANT_COMMANDS},
    {"nopass", 0},
    {"sanitize-payload", 0},
    {"skip-sanitize-payload", 0},
};

static sds hash_of(struct slice password) {
    uint8_t digest[SHA256_SIZE];
    sha256(digest, password);
    return sha256_append_hex(sds_new(SLICE("")), digest);
}

/* Adds what the word grants. Returns false when it does anything else. */
static bool add_rule(struct slice word, unsigned *grants, bool *has_password) {
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (!slice_is(word, rules[i].word)) continue;
        *grants |= rules[i].grant;
        if (slice_is(word, "nopass")) *has_password = true;
        return true;
    }
    return false;
}

static bool refuse(sds *hash, sds *error) {
    sds_free(*hash);
    *hash = sds_new(SLICE(""));
    *error = sds_new(SLICE(CONFIG_NO_ACLS));
    return false;
}

bool default_user_parse(sds *hash, const struct slice *words, size_t count, sds *error) {
    unsigned grants = 0;
    bool has_password = false;
    sds_free(*hash);
    *hash = sds_new(SLICE(""));
    if (count == 0) return true;
    if (!slice_is(words[0], "default")) return refuse(hash, error);
    for (size_t i = 1; i < count; i++) {
        struct slice word = words[i];
        struct slice rest = word.len > 0 ? slice_make(word.ptr + 1, word.len - 1) : word;
        bool is_hash = word.len == 1 + SHA256_HEX && word.ptr[0] == '#';
        bool is_text = word.len > 1 && word.ptr[0] == '>';
        if (!is_hash && !is_text) {
            if (!add_rule(word, &grants, &has_password)) return refuse(hash, error);
        } else {
            if (has_password) return refuse(hash, error); /* more than requirepass can express */
            has_password = true;
            sds_free(*hash);
            *hash = is_hash ? sds_new(rest) : hash_of(rest);
        }
    }
    return grants == GRANT_ALL && has_password ? true : refuse(hash, error);
}

bool default_user_has_password(struct slice hash, struct slice password) {
    sds actual = hash_of(password);
    bool same = slice_is(hash, actual);
    sds_free(actual);
    return same;
}

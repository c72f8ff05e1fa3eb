#include "config/node_names.h"

#include <arpa/inet.h>

const struct node_name_rule node_ip_rule = {
    .max = INET6_ADDRSTRLEN - 1,
    .too_long = "cluster-announce-ip is too long",
    .bad_character = "cluster-announce-ip contains invalid character",
};

const struct node_name_rule node_hostname_rule = {
    .max = 255,
    .too_long = "Hostnames must be less than 256 characters",
    .is_hostname = true,
    .bad_character = "Hostnames may only contain alphanumeric characters, hyphens or dots",
};

const struct node_name_rule node_human_name_rule = {
    .max = 255,
    .too_long = "Announced human node names must be less than 256 characters",
    .bad_character = "Announced human node name contained invalid character",
};

const struct node_name_rule node_ipv4_rule = {.family = AF_INET,
                                              .no_address = "Invalid IPv4 address"};
const struct node_name_rule node_ipv6_rule = {.family = AF_INET6,
                                              .no_address = "Invalid IPv6 address"};

static bool is_letter_or_digit(char c) {
    return ascii_is_letter(c) || (c >= '0' && c <= '9');
}

/* Beyond ASCII all is allowed, as UTF-8 is. */
static bool is_allowed(char c, const struct node_name_rule *rule) {
    if (is_letter_or_digit(c) || c == '-' || c == '.') return true;
    return !rule->is_hostname && (c & 0x80 || c == '/' || c == ':' || c == '_' || c == '`');
}

static bool is_address(struct slice text, int family) {
    char address[INET6_ADDRSTRLEN] = "", bytes[sizeof(struct in6_addr)];
    if (text.len >= sizeof(address) || memchr(text.ptr, '\0', text.len)) return false;
    slice_copy(address, text);
    return inet_pton(family, address, bytes) == 1;
}

const char *node_name_problem(struct slice text, const struct node_name_rule *rule) {
    if (text.len == 0) return NULL;
    if (rule->family) return is_address(text, rule->family) ? NULL : rule->no_address;
    if (text.len > rule->max) return rule->too_long;
    for (size_t i = 0; i < text.len; i++)
        if (!is_allowed(text.ptr[i], rule)) return rule->bad_character;
    return NULL;
}

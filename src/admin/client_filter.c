#include "admin/client_filter.h"

#include "base/number.h"

enum client_type client_type_named(struct slice name) {
    if (slice_is(name, "normal")) return CLIENT_TYPE_NORMAL;
    if (slice_is(name, "replica") || slice_is(name, "slave")) return CLIENT_TYPE_REPLICA;
    if (slice_is(name, "pubsub")) return CLIENT_TYPE_PUBSUB;
    if (slice_is(name, "master")) return CLIENT_TYPE_MASTER;
    return CLIENT_TYPE_ANY;
}

static sds error_text(const char *text) {
    return sds_new(slice_of_cstr(text));
}

static sds error_naming(const char *before, struct slice value) {
    sds text = sds_append(error_text(before), value);
    return sds_append_cstr(text, "'");
}

static sds parse_id(struct client_filter *filter, struct slice value) {
    if (number_parse_int64(value, &filter->id) && filter->id > 0) return NULL;
    return error_text("ERR client-id should be greater than 0");
}

static sds parse_type(struct client_filter *filter, struct slice value) {
    filter->type = client_type_named(value);
    return filter->type == CLIENT_TYPE_ANY ? error_naming("ERR Unknown client type '", value)
                                           : NULL;
}

static sds parse_age(struct client_filter *filter, struct slice value) {
    if (!number_parse_int64(value, &filter->min_age_s))
        return error_text("ERR maxage is not an integer or out of range");
    return filter->min_age_s > 0 ? NULL : error_text("ERR maxage should be greater than 0");
}

static sds parse_option(struct client_filter *filter, struct slice option, struct slice value) {
    if (slice_is(option, "id")) return parse_id(filter, value);
    if (slice_is(option, "maxage")) return parse_age(filter, value);
    if (slice_is(option, "type")) return parse_type(filter, value);
    if (slice_is(option, "user"))
        filter->user = value;
    else if (slice_is(option, "addr"))
        filter->address = value;
    else if (slice_is(option, "laddr"))
        filter->local_address = value;
    else if (slice_is(option, "skipme") && slice_is(value, "yes"))
        filter->skip_me = true;
    else if (slice_is(option, "skipme") && slice_is(value, "no"))
        filter->skip_me = false;
    else
        return error_text("ERR syntax error");
    return NULL;
}

sds client_filter_parse(struct client_filter *filter, const struct slice *options, size_t count) {
    *filter = (struct client_filter){.skip_me = true};
    for (size_t i = 0; i < count; i += 2) {
        if (i + 1 == count) return error_text("ERR syntax error");
        sds error = parse_option(filter, options[i], options[i + 1]);
        if (error) return error;
    }
    return NULL;
}

bool client_filter_matches(const struct client_filter *filter, const struct client_facts *facts) {
    if (filter->skip_me && facts->is_me) return false;
    if (filter->id && filter->id != facts->id) return false;
    if (filter->type != CLIENT_TYPE_ANY && filter->type != facts->type) return false;
    if (filter->user.ptr && !slice_equal(filter->user, facts->user)) return false;
    if (filter->min_age_s > facts->age_s) return false;
    if (filter->address.ptr && !slice_equal(filter->address, facts->address)) return false;
    return !filter->local_address.ptr || slice_equal(filter->local_address, facts->local_address);
}

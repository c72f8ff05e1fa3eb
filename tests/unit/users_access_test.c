/* What users may do. Denials are those that Redis 8.0 and, for databases, Valkey 9.1 tell in ACL
 * DRYRUN. */
#include "users_fixture.h"

#include "table/command_databases.h"

struct row {
    const char *call;   /* separated by single spaces */
    const char *denied; /* "" or its kind and object: "key b" */
};

static const struct command *find(const struct slice *argv, size_t argc) {
    const struct command *command = command_find(argv[0]);
    assert_non_null(command);
    if (!(command->flags & COMMAND_CONTAINER)) return command;
    assert_true(argc > 1);
    command = command_find_subcommand(command, argv[1]);
    assert_non_null(command);
    return command;
}

/* Returns whether the selectors alone, without their shortcut, allow it. */
static bool selectors_allow(const struct user *user, struct access access) {
    struct denial denial;
    return access__by_selectors(user, access, &denial);
}

/* Returns the denial as a row has it, which the caller frees. */
static sds denied(struct user *user, const char *call, int64_t database) {
    static const char *const kinds[] = {"", "database ", "command ", "key ", "channel "};
    size_t argc;
    struct slice *argv = split_words(call, &argc);
    struct denial denial;
    sds text = sds_new(SLICE(""));
    const struct access access = {find(argv, argc), argv, argc, database};
    assert_true(command_accepts(access.command, argc));
    assert_int_equal(user_may(user, access, &denial), selectors_allow(user, access));
    if (!user_may(user, access, &denial)) {
        assert_int_not_equal(denial.what, DENIED_NOTHING);
        text = sds_append(sds_append_cstr(text, kinds[denial.what]), denial.object);
    }
    mem_free(argv);
    return text;
}

static void expect_rows(const char *rules, int64_t database, const struct row *rows, size_t count) {
    struct users users;
    users_init(&users, false);
    assert_null(set_user(&users, "t", rules));
    for (size_t i = 0; i < count; i++) {
        sds text = denied(users_find(&users, SLICE("t")), rows[i].call, database);
        if (strcmp(text, rows[i].denied) != 0)
            fail_msg("'%s' of '%s': '%s', not '%s'", rows[i].call, rules, text, rows[i].denied);
        sds_free(text);
    }
    users_free(&users);
}

#define EXPECT_IN(database, rules, ...)                                                            \
    do {                                                                                           \
        static const struct row rows[] = {__VA_ARGS__};                                            \
        expect_rows(rules, database, rows, sizeof(rows) / sizeof(rows[0]));                        \
    } while (0)
#define EXPECT(rules, ...) EXPECT_IN(0, rules, __VA_ARGS__)

static void commands_are_bits(void **state) {
    (void)state;
    EXPECT("", {"get a", "command get"}, {"ping", "command ping"},
           {"config get x", "command config|get"});
    EXPECT("+config|get +client ~*", {"config get x", ""}, {"config set x y", "command config|set"},
           {"client id", ""}, {"client kill x", ""}, {"get a", "command get"});
    EXPECT("+@all -config ~*", {"config get x", "command config|get"}, {"get a", ""});
    EXPECT("+@all -@admin +config|get ~*", {"config get x", ""},
           {"config set x y", "command config|set"}, {"set a b", ""});
    EXPECT("+@read -get ~*", {"get a", "command get"}, {"mget a", ""}, {"set a b", "command set"});
}

static void first_arguments_are_allowed_until_the_command_is_decided(void **state) {
    (void)state;
    EXPECT("+select|0 +get|K ~*", {"select 0", ""}, {"select 1", "command select"}, {"get k", ""},
           {"GET K", ""}, {"get kk", "command get"});
    EXPECT("+select|0 -@connection", {"select 0", "command select"});
    EXPECT("+select|0 -select", {"select 0", "command select"});
    EXPECT("+select|0 +select -@connection", {"select 0", "command select"});
    EXPECT("+@all -select +select|0", {"select 0", ""}, {"select 1", "command select"});
    EXPECT("+@all +select|0 -@connection", {"select 0", "command select"});
    EXPECT("-select +select|0 -config", {"select 0", ""});
}

static void keys_need_the_rights_of_their_use(void **state) {
    (void)state;
    EXPECT("+@all ~a %R~b %W~c", {"get b", ""}, {"get c", "key c"}, {"set b 1", "key b"},
           {"set c 1", ""}, {"set c 1 get", "key c"}, {"set c 1 nx", ""}, {"exists c", ""},
           {"exists b", ""}, {"exists z", "key z"}, {"type c", ""}, {"bitfield b get u8 0", ""},
           {"bitfield b set i8 0 1 get i8 0", "key b"}, {"bitfield c get u8 0", "key c"},
           {"sort b", ""}, {"sort b store a", ""}, {"sort b store b", "key b"}, {"sort c", "key c"},
           {"eval x 1 b", "key b"}, {"eval x 1 a", ""}, {"eval_ro x 1 b", ""},
           {"eval_ro x 1 c", "key c"}, {"keys *", ""}, {"scan 0", ""}, {"randomkey", ""},
           {"flushall", ""}, {"object encoding z", "key z"}, {"memory usage z", "key z"},
           {"copy b c", ""}, {"copy c b", "key c"}, {"rename b c", "key b"}, {"getdel c", "key c"},
           {"expire c 1", ""}, {"expire b 1", "key b"}, {"strlen c", ""}, {"lpush c 1", ""},
           {"lrange c 0 1", "key c"}, {"append c x", ""}, {"incr c", "key c"}, {"lpop c", "key c"},
           {"smove b c x", "key b"}, {"touch c", ""}, {"touch z", "key z"}, {"unlink c", ""},
           {"dump c", "key c"}, {"restore c 0 x", ""}, {"migrate h 1 b 0 1", "key b"},
           {"watch c", ""}, {"watch z", "key z"}, {"xread streams b 0", ""},
           {"xread streams c 0", "key c"}, {"zunionstore c 1 b", ""},
           {"zunionstore b 1 c", "key b"}, {"mget a b z", "key z"}, {"del c", ""},
           {"del b", "key b"});
    EXPECT("+@all %R~* %W~x", {"get z", ""}, {"set z 1", "key z"}, {"set x 1", ""},
           {"mget a b", ""});
    /* Rights of two patterns do not add up. */
    EXPECT("+@all %R~k* %W~*k", {"getset k 1", "key k"}, {"get k", ""}, {"set k 1", ""});
}

static void patterns_are_globs(void **state) {
    (void)state;
    EXPECT("+@all ~a* ~b?c ~[xy] ~\\* ~lit", {"get a", ""}, {"get ab", ""}, {"get ba", "key ba"},
           {"get bbc", ""}, {"get bc", "key bc"}, {"get x", ""}, {"get z", "key z"}, {"get *", ""},
           {"get lit", ""}, {"get li", "key li"}, {"get litt", "key litt"});
    EXPECT("+@all ~app:*", {"get app:1", ""}, {"get app:", ""}, {"get app", "key app"},
           {"mset app:1 x app:2 x", ""}, {"mset app:1 x apq:2 x", "key apq:2"});
}

static bool is_seen_at_once(const char *rules, const char *call) {
    struct users users;
    size_t argc;
    struct slice *argv = split_words(call, &argc);
    users_init(&users, false);
    assert_null(set_user(&users, "t", rules));
    struct user *user = users_find(&users, SLICE("t"));
    const struct access access = {find(argv, argc), argv, argc, 0};
    struct denial denial;
    bool may = user_may(user, access, &denial); /* makes the shortcut */
    bool seen = access__by_shortcut(user, access);
    if (seen) assert_true(may && selectors_allow(user, access));
    mem_free(argv);
    users_free(&users);
    return seen;
}

/* What frequent users do takes no more than a look at their shortcut, which allows nothing else. */
static void frequent_calls_are_seen_at_once(void **state) {
    (void)state;
    static const struct {
        const char *rules;
        const char *call;
        bool at_once;
    } rows[] = {
        {"+@all ~app:*", "get app:1", true},
        {"+@all ~app:*", "get app:", true}, /* shorter than the eight bytes that are compared */
        {"+@all ~app:*", "get app:12345", true},
        {"+@all ~app:*", "get apq:12345", false},
        {"+@all ~app:*", "get app", false},
        {"+@all ~app:*", "set app:1 x get", true},
        {"+@all ~app:*", "bitfield app:1 set u8 0 1", true},
        {"+@all ~app:*", "lpush app:12345 x y", true},
        {"+@all ~app:*", "mget app:1 app:2", false},
        {"+@all ~app:*", "rename app:1 b", false},
        {"+@all ~app:*", "sort app:1 store b", false},
        {"+@all ~app:*", "object encoding app:1", false},
        {"+@all ~app:*", "ping", true},
        {"+@all ~app:*", "keys *", true},
        {"+@all ~app:*", "publish app:1 x", false},
        {"+@all ~app:* &*", "publish app:1 x", true},
        {"+@all ~application*", "get application1", true}, /* longer than eight bytes */
        {"+@all ~application*", "get applicatiom1", false},
        {"+@all ~applicat*", "get applicat", true},
        {"+@all ~x ~a?b* ~app:* ~b*", "get app:12345", true},
        {"+@all ~x ~app:* ~b*", "get b", false},
        {"+@all -get ~app:*", "get app:12345", false},
        {"+get|app:12345 ~app:*", "get app:12345", false},
        {"+@all %R~app:*", "get app:12345", true},
        {"+@all %R~app:*", "set app:12345 x", false},
        {"+@all %R~app:*", "bitfield app:12345 get u8 0", false},
        {"+@all %W~app:*", "del app:12345", false}, /* its keys are many */
        {"+@all %W~app:*", "expire app:12345 1", true},
        {"+@all %W~app:*", "get app:12345", false},
        {"+@all %R~*", "get app:12345", false},
        {"+@all ~*", "mget a b", true},
        {"+@all -@dangerous ~*", "mget a b", true},
        {"+@all ~* db=0", "get a", false},
        {"+@all ~* db=0", "ping", false},
        {"+@all (~app:* +@all)", "get app:12345", false},
        {"", "ping", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (is_seen_at_once(rows[i].rules, rows[i].call) != rows[i].at_once)
            fail_msg("'%s' of '%s'", rows[i].call, rows[i].rules);
}

/* As peers have it: the empty name is matched by the empty pattern, and by the flags for all. */
static void the_empty_name_is_a_name(void **state) {
    (void)state;
    EXPECT("+@all %R~* ~** ~a* &**", {"touch ", "key "}, {"touch x", ""},
           {"publish  m", "channel "});
    EXPECT("+@all ~ &", {"touch ", ""}, {"touch x", "key x"}, {"publish  m", ""});
    EXPECT("+@all ~* &*", {"touch ", ""}, {"publish  m", ""}, {"psubscribe x", ""});
}

static void channels_are_globs_and_patterns_are_listed(void **state) {
    (void)state;
    EXPECT("+@all &n* &ch", {"publish n x", ""}, {"publish x m", "channel x"}, {"publish ch m", ""},
           {"subscribe ch nn", ""}, {"subscribe ch x", "channel x"}, {"psubscribe n*", ""},
           {"psubscribe n", "channel n"}, {"psubscribe na*", "channel na*"}, {"subscribe na*", ""},
           {"ssubscribe x", "channel x"}, {"spublish x y", "channel x"}, {"unsubscribe x", ""},
           {"punsubscribe x", ""}, {"sunsubscribe x", ""}, {"unsubscribe", ""},
           {"pubsub numsub x", ""}, {"pubsub shardnumsub x", ""}, {"pubsub channels x", ""});
    EXPECT("+@all", {"publish x m", "channel x"}, {"psubscribe *", "channel *"});
}

static void selectors_do_not_add_up(void **state) {
    (void)state;
    EXPECT("+get ~a (+set ~b)", {"get b", "key b"}, {"set a 1", "key a"}, {"set b 1", ""},
           {"del a", "command del"}, {"get a", ""});
    EXPECT("+mget ~a (+mget ~b ~c)", {"mget b c", ""}, {"mget a b", "key b"}, {"mget b a", "key a"},
           {"mget b c d", "key d"}, {"mget d d d", "key d"});
    EXPECT("+get (~a)", {"get a", "key a"}, {"set a 1", "command set"});
    EXPECT("-@all +get|k (+@all -get ~k)", {"get k", "key k"}, {"set k v", ""}, {"select 0", ""});
    EXPECT("+get ~k db=1 (+get ~z)", {"get k", "key k"}, {"get z", ""}, {"get y", "key y"});
    EXPECT("+get ~k (+get ~z db=1)", {"get k", ""}, {"get z", "key z"});
}

static void databases_are_asked_first(void **state) {
    (void)state;
    EXPECT("+@all ~k &* db=1", {"get k", "database get"}, {"get z", "database get"},
           {"publish x y", ""}, {"ping", ""}, {"select 1", ""}, {"select 0", "database 0"},
           {"select x", ""}, {"select -1", ""}, {"swapdb 0 1", "database 0"},
           {"swapdb 1 2", "database 2"}, {"swapdb 1 1", ""}, {"move k 1", "database move"},
           {"move k 2", "database 2"}, {"copy k k db 1", "database copy"},
           {"copy k k db 2", "database 2"}, {"copy k k", "database copy"},
           {"flushall", "database flushall"}, {"flushdb", "database flushdb"},
           {"keys *", "database keys"}, {"dbsize", "database dbsize"}, {"scan 0", "database scan"},
           {"randomkey", "database randomkey"}, {"info", ""}, {"eval x 0", "database eval"},
           {"eval x 1 k", "database eval"}, {"multi", ""}, {"exec", ""},
           {"watch k", "database watch"}, {"script flush", ""}, {"wait 0 0", ""},
           {"migrate h 1 k 1 5", "database migrate"}, {"sort k", "database sort"},
           {"config get x", ""});
    EXPECT_IN(1, "+@all ~k &* db=1", {"get k", ""}, {"get z", "key z"}, {"move k 1", ""},
              {"copy k k db 1 db 0", "database 0"}, {"copy k k db 0 db 1", "database 0"},
              {"copy k k replace db 1", ""}, {"copy k k db", ""}, {"copy k db db 1", "key db"},
              {"flushdb", ""}, {"flushall", "database flushall"}, {"swapdb 0 1", "database 0"});
    EXPECT_IN(7, "+@all ~* db=0,7,9", {"get k", ""}, {"move k 9", ""}, {"move k 8", "database 8"},
              {"swapdb 0 9", ""}, {"select 10", "database 10"});
    EXPECT("+@all ~* resetdbs", {"get k", "database get"}, {"ping", ""},
           {"select 0", "database 0"});
    EXPECT("+@all -select ~* db=1", {"select 0", "database 0"}, {"select 1", "command select"});
    EXPECT("+get ~k db=1 (+set)", {"get k", "command get"});
}

/* Keys that are checked are those that are used: where options repeat, the last one counts. */
static void options_that_repeat_hide_no_key(void **state) {
    (void)state;
    EXPECT("+@all ~k ~by ~STREAMS ~ok", {"sort k STORE by STORE bad", "key bad"},
           {"sort k STORE ok STORE bad", "key bad"}, {"sort k BY STORE GET STORE", ""},
           {"sort k BY STORE STORE bad", "key bad"}, {"xread STREAMS STREAMS bad 0 0", "key bad"},
           {"xread COUNT 1 BLOCK 1 STREAMS bad 0", "key bad"}, {"migrate h 1 k 0 1 copy", ""},
           {"migrate h 1 bad 0 1", "key bad"}, {"bitfield k overflow get get u8 0", ""});
}

/* A call whose keys cannot be found is its command's to refuse. */
static void invalid_calls_are_not_denied_for_keys(void **state) {
    (void)state;
    EXPECT("+@all ~a", {"eval x 2147483648", ""}, {"eval x -1 k", ""}, {"eval x a k", ""},
           {"eval x 2 k", ""}, {"eval x 1 k", "key k"}, {"eval x 0 k", ""},
           {"zunionstore d 2 a", ""}, {"fcall f 5 k", ""}, {"sintercard 3 a", ""},
           {"migrate h 1 k 0 1 keys a b", ""});
}

static const struct command *find_named(const char *name) {
    size_t count;
    const struct command *all = command_all(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0) return &all[i];
    fail_msg("%s", name);
    return NULL;
}

/* redis.acl_check_cmd may be asked about calls that no command accepts. */
static void calls_with_too_few_arguments_are_asked_for_their_command(void **state) {
    (void)state;
    static const struct {
        const char *rules;
        const char *name;
        bool may;
    } rows[] = {{"+@all ~app:*", "get", true},   {"+@all ~b", "get", true},
                {"+set ~app:*", "get", false},   {"+@all ~* db=5", "get", true},
                {"(+get) -@all", "get", true},   {"", "auth", true},
                {"+config", "config|get", true}, {"-config", "config|get", false}};
    struct users users;
    struct denial denial;
    users_init(&users, false);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct slice argv[] = {slice_of_cstr(rows[i].name)};
        assert_null(set_user(&users, "t", rows[i].rules));
        const struct access access = {find_named(rows[i].name), argv, 1, 0};
        bool may = user_may(users_find(&users, SLICE("t")), access, &denial);
        if (may != rows[i].may) fail_msg("'%s' of '%s'", rows[i].name, rows[i].rules);
        if (!may) assert_int_equal(denial.what, DENIED_COMMAND);
        users_delete(&users, SLICE("t"));
    }
    users_free(&users);
}

static void a_user_with_all_flags_is_unrestricted(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    static const struct {
        const char *rules;
        bool unrestricted;
    } rows[] = {{"+@all ~* &*", true},
                {"+@all ~* &* -get", false},
                {"+@all ~* &* -@read +@read", false},
                {"+@all ~*", false},
                {"+@all &*", false},
                {"~* &*", false},
                {"+@all ~* &* db=0", false},
                {"+@all ~* &* alldbs", true},
                {"+@all %RW~* allchannels", false},
                {"+@all %R~* &*", false},
                {"+@all ~** &*", false},
                {"(+@all ~* &*)", true},
                {"+@all ~* (&*)", false},
                {"off +@all ~* &*", true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_null(set_user(&users, "t", rows[i].rules));
        assert_int_equal(user_is_unrestricted(users_find(&users, SLICE("t"))),
                         rows[i].unrestricted);
        users_delete(&users, SLICE("t"));
    }
    assert_true(user_is_unrestricted(NULL));
    assert_true(user_is_unrestricted(users.default_user));
    users_free(&users);
}

static void some_calls_need_all_keys(void **state) {
    (void)state;
    struct users users;
    const struct slice argv[] = {SLICE("sort"), SLICE("k"), SLICE("by"), SLICE("secret:*")};
    const struct access access = {command_find(argv[0]), argv, 4, 0};
    static const struct {
        const char *rules;
        bool all;
    } rows[] = {{"+@all ~*", true},       {"+@all %R~*", true},     {"+@all %W~* ~k", false},
                {"+@all ~k", false},      {"+@all ~k (~*)", false}, {"~* (+sort %R~*)", true},
                {"+@all ~* db=1", false}, {"+@all ~** ~k", false}};
    users_init(&users, false);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_null(set_user(&users, "t", rows[i].rules));
        const struct user *user = users_find(&users, SLICE("t"));
        assert_int_equal(user_may_with_all_keys(user, &access, KEYS_READ), rows[i].all);
        users_delete(&users, SLICE("t"));
    }
    assert_true(user_may_with_all_keys(users.default_user, &access, KEYS_READ));
    users_free(&users);
}

static void listed_keys_and_old_subscriptions_can_be_asked_about(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    assert_null(set_user(&users, "t", "+keys %W~w* ~a* &n* (%R~r* db=1 &m)"));
    const struct user *user = users_find(&users, SLICE("t"));
    assert_true(user_may_read_key(user, SLICE("ab"), 0));
    assert_false(user_may_read_key(user, SLICE("w"), 0));
    assert_false(user_may_read_key(user, SLICE("r"), 0));
    assert_true(user_may_read_key(user, SLICE("r"), 1));
    assert_true(user_may_read_key(users.default_user, SLICE("w"), 5));
    assert_true(user_may_use_channel(user, SLICE("n1"), false));
    assert_true(user_may_use_channel(user, SLICE("m"), false));
    assert_false(user_may_use_channel(user, SLICE("x"), false));
    assert_true(user_may_use_channel(user, SLICE("n*"), true));
    assert_false(user_may_use_channel(user, SLICE("n1"), true));
    assert_true(user_may_use_channel(NULL, SLICE("x"), true));
    users_free(&users);
}

static void denials_have_their_texts(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    const struct {
        struct denial denial;
        const char *text;
    } rows[] = {{{DENIED_COMMAND, 0, SLICE("client|id")},
                 "NOPERM User default has no permissions to run the 'client|id' command"},
                {{DENIED_KEY, 1, SLICE("k")}, "NOPERM No permissions to access a key"},
                {{DENIED_CHANNEL, 1, SLICE("k")}, "NOPERM No permissions to access a channel"},
                {{DENIED_DATABASE, 1, SLICE("1")}, "NOPERM No permissions to access database"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        sds text = denial_text(&rows[i].denial, users.default_user);
        assert_string_equal(text, rows[i].text);
        sds_free(text);
    }
    users_free(&users);
}

/* A pattern may not take long, whatever its stars. */
static void stars_cost_nothing(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    sds rules = sds_new(SLICE("+@all ~")), key = sds_new(SLICE("get "));
    for (size_t i = 0; i < SELECTOR_TEXT_MAX / 2; i++) rules = sds_append(rules, SLICE("*a"));
    assert_null(set_user(&users, "t", rules));
    for (size_t i = 0; i < 1 << 20; i++) key = sds_append(key, SLICE("b"));
    sds text = denied(users_find(&users, SLICE("t")), key, 0);
    assert_true(slice_begins(sds_slice(text), SLICE("key bbb")));
    sds_free(text);
    rules = sds_append(rules, SLICE("*a"));
    text = set_user(&users, "t", rules);
    assert_non_null(text);
    sds_free(text);
    sds_free(rules);
    sds_free(key);
    users_free(&users);
}

int main(void) {
    command_table_init(command_families, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_bits),
        cmocka_unit_test(first_arguments_are_allowed_until_the_command_is_decided),
        cmocka_unit_test(keys_need_the_rights_of_their_use),
        cmocka_unit_test(patterns_are_globs),
        cmocka_unit_test(frequent_calls_are_seen_at_once),
        cmocka_unit_test(the_empty_name_is_a_name),
        cmocka_unit_test(channels_are_globs_and_patterns_are_listed),
        cmocka_unit_test(selectors_do_not_add_up),
        cmocka_unit_test(databases_are_asked_first),
        cmocka_unit_test(options_that_repeat_hide_no_key),
        cmocka_unit_test(invalid_calls_are_not_denied_for_keys),
        cmocka_unit_test(calls_with_too_few_arguments_are_asked_for_their_command),
        cmocka_unit_test(a_user_with_all_flags_is_unrestricted),
        cmocka_unit_test(some_calls_need_all_keys),
        cmocka_unit_test(listed_keys_and_old_subscriptions_can_be_asked_about),
        cmocka_unit_test(denials_have_their_texts),
        cmocka_unit_test(stars_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Members of a large sorted set that are written while the reply is sent. */
#include "commands/common.h"
#include "commands/sorted_sets/zset_common.h"

#ifdef TINY_LIMITS
enum { MEMBERS = 3 };
#else
enum { MEMBERS = 64 };
#endif

/* With scores, a member and its score are two values. */
struct member_source {
    struct reply_source source;
    enum zset_reply_form form;
    bool text_is_written; /* of members[next], but not its score */
    size_t next;          /* of the members that were read */
    size_t count;
    struct slice members[MEMBERS];
    double scores[MEMBERS];
};

static void next_texts(struct reply_source *source, struct reply *reply) {
    struct member_source *members = (struct member_source *)source;
    (void)reply;
    source->texts = members->members;
    source->text_count = zset_captured_read(source->capture, members->members, NULL, MEMBERS);
}

/* Writes the next member with its score. If the member is so long that it is written in parts,
 * begins with that and returns false; the score follows in the next call. */
static bool write_pair(struct member_source *members, struct reply *reply) {
    struct zset_member member = {.text = members->members[members->next],
                                 .score = members->scores[members->next]};
    if (members->text_is_written) {
        members->text_is_written = false;
        reply_double(reply, member.score);
        members->source.left--;
    } else if (member.text.len < REPLY_TEXT_PIECE) {
        zset_reply_member(reply, &member, members->form);
        members->source.left -= 2;
    } else {
        if (members->form == ZSET_PAIRS) reply_array(reply, 2);
        members->text_is_written = true;
        members->source.texts = &members->members[members->next];
        members->source.text_count = 1;
        return false;
    }
    members->next++;
    return true;
}

static void next_pairs(struct reply_source *source, struct reply *reply) {
    struct member_source *members = (struct member_source *)source;
    size_t end = reply->len + REPLY_TEXT_PIECE;
    if (members->next == members->count) {
        members->next = 0;
        members->count =
            zset_captured_read(source->capture, members->members, members->scores, MEMBERS);
    }
    while (members->next < members->count && reply->len < end)
        if (!write_pair(members, reply)) break;
}

static const struct reply_source_functions text_functions = {next_texts, NULL};
static const struct reply_source_functions pair_functions = {next_pairs, NULL};

bool zset_defer_span(struct call *call, struct entry *entry, struct zset_span span, bool forward,
                     enum zset_reply_form form) {
    enum { SCORE_SIZE = 16 }; /* about */
    const struct skiplist *list = zset_skiplist(entry);
    if (!list) return false;
    bool scores = form != ZSET_MEMBERS;
    size_t mean = skiplist_allocated(list) / skiplist_count(list) + REPLY_BULK_FRAME +
                  (scores ? SCORE_SIZE : 0);
    struct reply *reply = call->reply;
    if (!reply_may_defer(reply, span.count * mean)) return false;
    uint64_t first = forward ? span.from : span.from + span.count - 1;
    struct capture *capture =
        zset_capture_range(entry, first, span.count, forward, &reply->sources->capture_bytes);
    if (!capture) return false;
    zset_reply_header(reply, span.count, form);
    struct member_source *members =
        reply_source_new(reply, scores ? &pair_functions : &text_functions, sizeof(*members),
                         capture, scores ? 2 * span.count : span.count, span.count * mean);
    members->form = form;
    members->text_is_written = false;
    members->next = members->count = 0;
    reply_defer(reply, &members->source);
    return true;
}

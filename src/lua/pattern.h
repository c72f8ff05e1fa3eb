/* pattern: the patterns of Lua 5.1 (its manual, 5.4.1), with a bounded number of steps.
 *
 * A pattern backtracks, so that its time may grow with a power of the subject's length. A step is
 * about one comparison. Steps are told to the machine, whose watch may end the run, and a match
 * that takes more than PATTERN_STEPS_MAX (and some for each byte of the subject) raises the error
 * "pattern too complex". So does one that recurses deeper than PATTERN_DEPTH_MAX.
 *
 * A pattern ends with its first NUL, as in Lua 5.1; a caller passes it as Lua's strings are, with
 * one after it. */
#ifndef PACKLIST_LUA_PATTERN_H
#define PACKLIST_LUA_PATTERN_H

#include "base/slice.h"

#include <lua5.1/lua.h>

enum { PATTERN_CAPTURES_MAX = LUA_MAXCAPTURES };
#ifdef TINY_LIMITS
enum { PATTERN_STEPS_MAX = 500 * 1000, PATTERN_STEPS_PER_BYTE = 100, PATTERN_DEPTH_MAX = 300 };
#else
enum {
    PATTERN_STEPS_MAX = 50 * 1000 * 1000,
    PATTERN_STEPS_PER_BYTE = 100,
    PATTERN_DEPTH_MAX = 1000
};
#endif

/* The search of one pattern in one subject, which stays on Lua's stack until it ends. */
struct pattern_match {
    lua_State *L;
    const char *begin; /* the subject */
    const char *end;
    int64_t portion; /* steps until the machine is told, and how many it was told of then */
    int64_t left;    /* steps until the match is too complex, without those of the portion */
    int depth;
    int level; /* captures so far */
    struct {
        const char *start;
        ptrdiff_t len; /* or CAPTURE_OPEN, CAPTURE_POSITION */
    } captures[PATTERN_CAPTURES_MAX];
};

struct pattern_match pattern_begin(lua_State *L, struct slice subject);

/* Tells the machine of the steps that it does not know yet. To be called at the end, too. */
void pattern_finish(struct pattern_match *match);

/* Matches the pattern at `at`, a place of the subject. Returns the end of what matched, or NULL.
 * May raise an error, as all functions below. A '^' has no special meaning. */
const char *pattern_match_at(struct pattern_match *match, const char *at, const char *pattern);

/* As pattern_match_at, at the first place from *at on where it matches, which *at becomes. */
const char *pattern_search(struct pattern_match *match, const char **at, const char *pattern);

/* Pushes a capture (from 0) of the last match, which went from `start` to `end`; without any
 * capture, capture 0 is all of it. */
void pattern_push_capture(struct pattern_match *match, int index, const char *start,
                          const char *end);

/* Pushes all captures, all of the match if there are none and `whole`, and returns their number. */
int pattern_push_captures(struct pattern_match *match, bool whole, const char *start,
                          const char *end);

#endif

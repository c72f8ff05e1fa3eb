/* value_sink: what a command replies, as a value of Lua (resp/reply_sink.h).
 *
 *      integer              number
 *      bulk                 string
 *      null                 false; in RESP3 nil
 *      array                table
 *      status, error        {ok = text}, {err = text, ignore_error_stats_update = true}
 *      boolean              boolean
 *      double               {double = number}
 *      map, set             {map = {key = value, …}}, {set = {member = true, …}}
 *      verbatim string      {verbatim_string = {string = text, format = "txt"}}
 *      big number           {big_number = digits}
 *
 * The value is built on the stack of Lua while the command runs:
 *
 *      … | open aggregate | open aggregate in it | [key of a map] |
 *
 * No function raises an error of Lua, which would leave the command in its middle: the caller
 * suspends the machine's limit of memory (lua/machine.h). */
#ifndef PACKLIST_SCRIPT_VALUE_SINK_H
#define PACKLIST_SCRIPT_VALUE_SINK_H

#include "resp/reply_sink.h"

#include <lua5.1/lua.h>

struct machine;

enum { VALUE_SINK_DEPTH = 16 }; /* no command nests its reply deeper */

struct value_sink_frame {
    enum reply_aggregate kind;
    bool is_open_ended; /* the number of members is not known */
    size_t left;        /* members that are still to come */
    int index;          /* members so far */
};

struct value_sink {
    struct reply_sink sink; /* the first member */
    lua_State *L;
    struct machine *machine;
    size_t memory_max; /* of the machine: no values are added beyond it */
    bool is_full;      /* values were left out */
    int base;          /* index of the stack below the value */
    unsigned depth;
    struct value_sink_frame frames[VALUE_SINK_DEPTH];
};

/* Begins a value on top of the stack of `L`, a state of the machine that has LUA_MINSTACK free
 * slots. O(1). */
void value_sink_begin(struct value_sink *sink, lua_State *L, struct machine *machine,
                      size_t memory_max);

/* Ends it: one value is on top of the stack. Returns false when the values did not fit into the
 * memory: then nothing is. O(1). */
bool value_sink_end(struct value_sink *sink);

/* Replaces the value on top of the stack by {name = value}. */
void value_sink_wrap(lua_State *L, const char *name);

/* Pushes {err = text, ignore_error_stats_update = true}, and returns the text, which lives as long
 * as the table. The error was counted already. */
struct slice value_sink_push_error(lua_State *L, struct slice text);

#endif

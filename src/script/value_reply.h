/* value_reply: what a script returns, as a reply.
 *
 *      number                     integer, without its fraction
 *      string                     bulk
 *      true                       1; a boolean when the script has chosen RESP3
 *      false                      null; a boolean when the script has chosen RESP3
 *      {err = …}, {ok = …}        error, status, up to a NUL; line breaks become blanks
 *      {double = …}, {map = …}, {set = …}, {big_number = …}, {verbatim_string = …}
 *                                 these types, as the client's protocol shows them
 *      any other table            an array, up to the first nil
 *      nil, functions, …          null
 *
 * A table that is nested too deep, or that contains itself, ends in an error in the reply. Tables
 * and strings may stand in others many times, so that a small value makes a reply of any size: what
 * would be too large is an error instead. Writing it is a part of the run, so the machine's watch
 * is asked and can end it. */
#ifndef PACKLIST_SCRIPT_VALUE_REPLY_H
#define PACKLIST_SCRIPT_VALUE_REPLY_H

#include "base/text/sds.h"
#include "resp/reply.h"

#include <lua5.1/lua.h>
#include <stdbool.h>

/* Writes the value at `index` of the stack, an absolute index, of a machine whose run
 * machine_finish has not ended; a reply for whose values Lua would need more than about `most`
 * bytes, if each one stood there only once, becomes an error. `protocol` is what the script has
 * chosen with setresp. *is_counted_error gets whether the value is an error that was counted when
 * its command ran. Returns false, and writes nothing, if the watch has ended the run. Raises no
 * errors of Lua; the machine's limit must be suspended. Leaves the stack as it was. O(size of the
 * reply). */
bool value_reply(lua_State *L, int index, struct reply *reply, int protocol, size_t most,
                 bool *is_counted_error);

/* Returns the text of the error object at `index` of the stack, up to a NUL; the caller frees it.
 * *is_counted gets whether it is the error of a command, which was counted. Raises no errors; the
 * machine's limit must be suspended. */
sds value_reply_error_text(lua_State *L, int index, bool *is_counted);

#endif

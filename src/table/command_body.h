/* command_body: binds the commands of the table to the functions that run them.
 *
 * The header of a module lists its commands once, as pairs of a name and a function, in a macro
 * that applies another one to each pair. It declares the functions by that list, and
 * main/command_bodies.c makes the table of all of them from it. */
#ifndef PACKLIST_TABLE_COMMAND_BODY_H
#define PACKLIST_TABLE_COMMAND_BODY_H

struct call;

struct command_body {
    const char *name; /* as in the row: "config|get"; "cluster|*": all subcommands */
    void (*run)(struct call *call);
};

/* For a list of pairs: declares each function; makes a struct command_body of each pair. */
#define COMMAND_BODY_DECLARED(name, function) void function(struct call *call);
#define COMMAND_BODY_ROW(name, function)      {name, function},

#endif

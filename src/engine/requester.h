/* requester: the source of commands: a client, or an append-only file that is being loaded. */
#ifndef PACKLIST_ENGINE_REQUESTER_H
#define PACKLIST_ENGINE_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>

/* The kind of error that a command has replied, for code that does not read the text. */
enum call_error {
    CALL_ERROR_NONE,
    CALL_ERROR_OTHER, /* the data or the arguments do not fit the command */
    /* The server does not support the request, whatever the data is. */
    CALL_ERROR_SYNTAX,
    CALL_ERROR_OPTION,
    CALL_ERROR_DATABASE,
    CALL_ERROR_PAYLOAD,
    CALL_ERROR_STRING_SIZE,
    /* The command was not run: execute/admission.h. */
    CALL_ERROR_UNKNOWN,
    CALL_ERROR_ARITY,
    CALL_ERROR_NOT_NOW,
    CALL_ERROR_NOT_FOR_FILE
};

struct requester {
    struct engine *engine;
    int32_t database;      /* the selected database; SELECT changes it */
    enum call_error error; /* kind of the last error replied */
    bool leaves_no_marks;  /* CLIENT NO-TOUCH */
    bool imports;          /* CLIENT IMPORT-SOURCE: see call_sees_expired */
    const struct command
        *last_command;       /* the last command, if it was found with a valid arity; or NULL */
    struct session *session; /* NULL: a file */
    struct user *user;       /* who asks (users/users.h), kept by the session; NULL: may do all */
    uint64_t commands;       /* that it has run, with those of transactions and scripts */
};

#endif

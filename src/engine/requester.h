/* requester: who asks for commands: a client, or the append-only file that is being loaded. */
#ifndef PACKLIST_ENGINE_REQUESTER_H
#define PACKLIST_ENGINE_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>

struct command;
struct engine;
struct session;

/* What kind of error a command has answered, for those who do not read its text. */
enum call_error {
    CALL_ERROR_NONE,
    CALL_ERROR_OTHER, /* the data or the arguments do not fit the command */
    /* It asks for what this server does not have, whatever the data is. */
    CALL_ERROR_SYNTAX,
    CALL_ERROR_OPTION,
    CALL_ERROR_DATABASE,
    CALL_ERROR_PAYLOAD,
    CALL_ERROR_STRING_SIZE,
    /* It was not run: execute/admission.h. */
    CALL_ERROR_UNKNOWN,
    CALL_ERROR_ARITY,
    CALL_ERROR_NOT_NOW,
    CALL_ERROR_NOT_FOR_FILE
};

struct requester {
    struct engine *engine;
    int32_t database;                   /* the selected one: SELECT changes it */
    enum call_error error;              /* of the last error that was answered */
    bool leaves_no_marks;               /* CLIENT NO-TOUCH */
    const struct command *last_command; /* that was found and took so many arguments; NULL: none */
    struct session *session;            /* NULL: a file */
};

#endif

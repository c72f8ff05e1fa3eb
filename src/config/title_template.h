/* title_template: proc-title-template, the text that the process shows as its command line. */
#ifndef PACKLIST_CONFIG_TITLE_TEMPLATE_H
#define PACKLIST_CONFIG_TITLE_TEMPLATE_H

#include "base/text/sds.h"

/* The values of the variables. A variable without a value ("" or NULL) is left out. */
struct title_values {
    const char *title;       /* {title}: how the process was started */
    const char *listen_addr; /* {listen-addr} */
    const char *server_mode; /* {server-mode} */
    const char *port;        /* {port} */
    const char *tls_port;    /* {tls-port} */
    const char *unixsocket;  /* {unixsocket} */
    const char *config_file; /* {config-file} */
};

/* Returns the text with its variables replaced and without blanks at its ends; the caller owns it.
 * NULL when a variable is unknown, or a brace is not closed. O(n). */
sds title_template_expand(struct slice text, const struct title_values *values);

/* Returns whether the template is well-formed and its text is not empty. */
bool title_template_is_valid(struct slice text);

#endif

/* config_table: the rows of the table of directives, for the config_*.c files, and for what lists
 * directives or applies them; others use config/config.h. */
#ifndef PACKLIST_CONFIG_CONFIG_TABLE_H
#define PACKLIST_CONFIG_CONFIG_TABLE_H

#include "config/config.h"

enum config_kind {
    CONFIG_BOOL,    /* bool; yes or no */
    CONFIG_INTEGER, /* int64_t */
    CONFIG_OCTAL,   /* int64_t, written in octal */
    CONFIG_MEMORY,  /* int64_t bytes, written with an optional unit */
    CONFIG_ENUM,    /* int64_t, one of `choices` */
    CONFIG_EVENTS,  /* int64_t; letters of notify-keyspace-events */
    /* Stored as an sds, from here to CONFIG_RENAMES. */
    CONFIG_STRING,
    CONFIG_FILENAME,  /* no path */
    CONFIG_TITLE,     /* config/title_template.h */
    CONFIG_CPU_LIST,  /* base/text/cpu_list.h */
    CONFIG_NODE_NAME, /* config/node_names.h */
    /* Written as several words, from here on. */
    CONFIG_SAVE_POINTS,   /* pairs of seconds and changes, or nothing */
    CONFIG_PERCENTILES,   /* numbers from 0 to 100, or nothing */
    CONFIG_HOST_PORT,     /* host and port of another server, or nothing */
    CONFIG_RENAMES,       /* the lines of rename-command, two words each */
    CONFIG_ADDRESSES,     /* config.bind */
    CONFIG_OUTPUT_LIMITS, /* config.output_limits: class hard soft seconds … */
    CONFIG_OPTIONS,       /* int64_t; the union of words of `choices` */
    CONFIG_SHUTDOWN,      /* the same, enum shutdown_option */
    CONFIG_OOM_SCORES,    /* int64_t[3]; numbers from -2000 to 2000 */
    CONFIG_USER,          /* none: the lines of users are in struct config_source */
    CONFIG_FIXED          /* none: default_text is the only value here */
};

enum config_flag {
    CONFIG_IMMUTABLE = 1 << 0, /* CONFIG SET cannot change it */
    /* a number from 0 to INT32_MAX outside the limits becomes the nearest inside */
    CONFIG_CLAMPED = 1 << 1,
    CONFIG_PERCENT = 1 << 2,     /* a memory value may be a percentage, stored negated */
    CONFIG_PROTECTED = 1 << 3,   /* CONFIG SET needs enable-protected-configs */
    CONFIG_HIDDEN = 1 << 4,      /* for tests: CONFIG GET shows it only for its full name */
    CONFIG_UNSIGNED = 1 << 5,    /* the number is a uint64_t, and each one is valid */
    CONFIG_NOT_LOADING = 1 << 6, /* CONFIG SET cannot change it while data is loaded */
    CONFIG_FILE_ONLY = 1 << 7,   /* CONFIG GET and CONFIG SET do not know it */
    /* What happens when a line, or CONFIG SET unless the directive is immutable, gives a
     * CONFIG_FIXED directive another value. Without these flags it is ignored, with a notice in the
     * log. */
    CONFIG_MISSED = 1 << 8, /* ignored with a warning, because the user will miss something */
    /* it stops the start, and CONFIG SET is an error, because it was to protect access or data */
    CONFIG_PROTECTS = 1 << 9,
    /* The name ends with a star: the row is for all names that begin so and have no row. */
    CONFIG_FAMILY = 1 << 10
};

/* What must happen when a value changes while the server runs, in this order. When one fails, those
 * before it are undone. So effects that can fail come first, and of these the append-only file
 * last, because its files cannot be undone. Effects that cannot fail are never undone. */
enum config_effect {
    EFFECT_NONE, /* the value is read where it is used */
    EFFECT_DIR,
    EFFECT_MAXCLIENTS,
    EFFECT_TLS, /* also when the value stays: the files may have changed */
    EFFECT_LISTENERS,
    EFFECT_OOM_SCORE,
    EFFECT_DEFRAG,
    EFFECT_SAVE,
    EFFECT_APPENDONLY,
    EFFECT_TITLE,
    EFFECT_LOG,
    EFFECT_PASSWORD,
    EFFECT_PUBSUB_DEFAULT,
    EFFECT_TIMER,
    EFFECT_MEMORY_THREAD,
    EFFECT_VALUE_LIMITS,
    EFFECT_MAXMEMORY,
    EFFECT_MAXMEMORY_RSS,
    EFFECT_LUA_MEMORY,
    EFFECT_MAXMEMORY_CLIENTS,
    EFFECT_EVICTION,
    EFFECT_REPLICA,
    EFFECT_SLOW,
    EFFECT_CRASH_LOG,
    EFFECT_REPLICATION,
    EFFECT_TRACKING,
    EFFECT_IO_THREADS,
    EFFECT_CLUSTER,
    EFFECT_COUNT
};

struct config_choice {
    const char *name; /* NULL ends the list */
    int64_t value;
};

struct config_directive {
    const char *name;
    const char *alias; /* another name, which CONFIG GET lists too; NULL: none */
    enum config_kind kind;
    unsigned flags; /* enum config_flag */
    size_t offset;  /* in struct config */
    int64_t min;    /* for numbers */
    int64_t max;
    const char *default_text; /* words separated by blanks for a list */
    enum config_effect effect;
    /* For CONFIG_ENUM, CONFIG_OPTIONS and CONFIG_SHUTDOWN: the choices, an array of struct
     * config_choice. For CONFIG_NODE_NAME: its struct node_name_rule. For CONFIG_FIXED: a text that
     * says what is missing here or done instead. */
    const void *detail;
};

extern const struct config_directive config_table[];
extern const size_t config_table_count;

/* Returns whether both configurations have the same value for this directive. */
bool config_same_value(const struct config *a, const struct config *b,
                       const struct config_directive *directive);

#endif

/* objects: how Lua 5.1.5, the last release of 5.1, keeps in memory what interned.c and tables.c
 * make in its place, and the code that machine_globals.c reads. machine_knows_… compare that with
 * real objects. */
#ifndef PACKLIST_LUA_OBJECTS_H
#define PACKLIST_LUA_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

/* The marks of the collector. */
enum {
    OBJECT_WHITES = 3,    /* the two whites */
    OBJECT_BLACK = 1 << 2 /* the others are those of weak tables and of what is never freed */
};

/* How every object begins that the collector frees (CommonHeader of lobject.h). */
struct object {
    struct object *next;
    unsigned char type;
    unsigned char marks;
};

/* A string (TString); its bytes and a NUL follow. `hash` chooses the bucket, also when Lua makes
 * more or fewer of them, and the place in tables that have the string as a key. */
struct interned {
    struct interned *next; /* in the bucket */
    unsigned char type;
    unsigned char marks;
    unsigned char reserved;
    unsigned hash;
    size_t len;
};
_Static_assert(sizeof(struct interned) % sizeof(double) == 0, "Lua aligns what follows");

/* A value (TValue). `type` is one of lua.h or OBJECT_DEAD_KEY; from LUA_TSTRING on the value is an
 * object. */
union payload {
    struct object *object;
    void *pointer;
    double number;
    int boolean;
};

struct value {
    union payload is;
    int type;
};

enum { OBJECT_DEAD_KEY = 11 }; /* was an object, which has been freed */

/* A pair of a table (Node). The key is a value with a link in the place of its padding's end. */
struct pair {
    struct value value;
    union {
        struct value key;
        struct {
            union payload is;
            int type;
            struct pair *next; /* with the same main position */
        } link;
    };
};

struct table {
    struct object *next;
    unsigned char type, marks;
    unsigned char absent; /* a bit is set for each metamethod that is known to be absent */
    unsigned char pairs_log2;
    struct table *metatable;
    struct value *array; /* of the keys 1 to array_size */
    struct pair *pairs;
    struct pair *free_end; /* no pair from here on is free */
    struct object *gray;
    int array_size;
};

/* What was compiled (Proto). */
struct prototype {
    struct object *next;
    unsigned char type, marks;
    struct value *constants;
    uint32_t *code;
    struct prototype **inner; /* the functions within it */
    void *lines, *locals, *upvalues, *source;
    int upvalue_count, constant_count, code_count, line_count, inner_count;
};

/* A function that is not one of C (LClosure). */
struct closure {
    struct object *next;
    unsigned char type, marks, is_of_c, upvalue_count;
    struct object *gray;
    struct table *environment;
    struct prototype *prototype;
};

#endif

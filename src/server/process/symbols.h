/* symbols: finds the function of this program that contains an address, in the symbol table of the
 * executable file (.symtab), which has static functions too. (Linking with -rdynamic would make
 * every function visible, and the compiler optimise less.) */
#ifndef PACKLIST_SERVER_PROCESS_SYMBOLS_H
#define PACKLIST_SERVER_PROCESS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols {
    const char *file; /* the executable, mapped; NULL: it cannot be read */
    size_t size;
    const void *table; /* of Elf64_Sym; NULL: the file was stripped */
    size_t count;
    const char *names;
    size_t names_size;
    uintptr_t base; /* added to addresses of the file */
};

/* Maps the executable; symbols_close unmaps it. Both are async-signal-safe. */
struct symbols symbols_open(void);
void symbols_close(struct symbols *symbols);

/* Returns the name of the function at `address`; *offset gets the distance from its beginning. NULL
 * when the address is not in this program or has no name. The name is valid until symbols_close.
 * O(number of symbols), async-signal-safe. */
const char *symbols_find(const struct symbols *symbols, uintptr_t address, size_t *offset);

#endif

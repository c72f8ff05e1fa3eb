#include "server/process/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The address of the file's first byte, which the linker defines. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static bool is_inside(const struct symbols *symbols, uint64_t offset, uint64_t size) {
    return offset <= symbols->size && size <= symbols->size - offset;
}

static void find_table(struct symbols *symbols) {
    const Elf64_Ehdr *head = (const void *)symbols->file;
    if (symbols->size < sizeof(*head) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        !is_inside(symbols, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)))
        return;
    if (head->e_type == ET_DYN) symbols->base = (uintptr_t)__ehdr_start;
    const Elf64_Shdr *sections = (const void *)(symbols->file + head->e_shoff);
    for (size_t i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *table = &sections[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= head->e_shnum) continue;
        const Elf64_Shdr *names = &sections[table->sh_link];
        if (!is_inside(symbols, table->sh_offset, table->sh_size) ||
            !is_inside(symbols, names->sh_offset, names->sh_size))
            return;
        symbols->table = symbols->file + table->sh_offset;
        symbols->count = table->sh_size / sizeof(Elf64_Sym);
        symbols->names = symbols->file + names->sh_offset;
        symbols->names_size = names->sh_size;
        return;
    }
}

struct symbols symbols_open(void) {
    struct symbols symbols = {.file = NULL};
    struct stat stat;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return symbols;
    if (fstat(fd, &stat) == 0 && stat.st_size > 0) {
        void *file = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            symbols.file = file;
            symbols.size = (size_t)stat.st_size;
            find_table(&symbols);
        }
    }
    close(fd);
    return symbols;
}

void symbols_close(struct symbols *symbols) {
    if (symbols->file) munmap((void *)(uintptr_t)symbols->file, symbols->size);
    *symbols = (struct symbols){.file = NULL};
}

const char *symbols_find(const struct symbols *symbols, uintptr_t address, size_t *offset) {
    const Elf64_Sym *table = symbols->table;
    uintptr_t place = address - symbols->base;
    for (size_t i = 0; i < symbols->count; i++) {
        const Elf64_Sym *symbol = &table[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || place < symbol->st_value ||
            place - symbol->st_value >= symbol->st_size || symbol->st_name >= symbols->names_size)
            continue;
        *offset = place - symbol->st_value;
        return symbols->names + symbol->st_name;
    }
    return NULL;
}

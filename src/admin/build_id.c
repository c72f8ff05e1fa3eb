#define _GNU_SOURCE /* for dl_iterate_phdr */
#include "admin/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Names and descriptions of notes are padded to a multiple of this. */
static size_t padded(size_t len) {
    return (len + 3) & ~(size_t)3;
}

static bool find_in_notes(const uint8_t *at, const uint8_t *end, char *text) {
    ElfW(Nhdr) note;
    while ((size_t)(end - at) >= sizeof(note)) {
        memcpy(&note, at, sizeof(note));
        const uint8_t *id = at + sizeof(note) + padded(note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= 8) {
            for (int i = 0; i < 8; i++) snprintf(text + 2 * i, 3, "%02x", id[i]);
            return true;
        }
        at = id + padded(note.n_descsz);
    }
    return false;
}

/* The first object is the program itself; the libraries are not visited. */
static int visit_program(struct dl_phdr_info *object, size_t size, void *arg) {
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        const uint8_t *notes = (const uint8_t *)(object->dlpi_addr + header->p_vaddr);
        if (header->p_type == PT_NOTE && find_in_notes(notes, notes + header->p_memsz, arg)) break;
    }
    return 1;
}

void build_id_read(char text[BUILD_ID_SIZE]) {
    snprintf(text, BUILD_ID_SIZE, "%016d", 0);
    dl_iterate_phdr(visit_program, text);
}

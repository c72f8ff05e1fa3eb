/* build_id: identifies the build of the program. */
#ifndef PACKLIST_ADMIN_BUILD_ID_H
#define PACKLIST_ADMIN_BUILD_ID_H

enum { BUILD_ID_SIZE = 17 };

/* Writes the first 8 bytes of the program's build ID as 16 hexadecimal digits. The build ID
 * (NT_GNU_BUILD_ID) is a hash of the contents, which the linker has added. Zeros in a build without
 * one. O(notes). */
void build_id_read(char text[BUILD_ID_SIZE]);

#endif

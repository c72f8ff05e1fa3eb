/* build_id: which build of the program this is. */
#ifndef PACKLIST_ADMIN_BUILD_ID_H
#define PACKLIST_ADMIN_BUILD_ID_H

enum { BUILD_ID_SIZE = 17 };

/* The first 8 bytes of the build ID that the linker has noted in the program (NT_GNU_BUILD_ID), a
 * hash of its contents, as 16 hexadecimal digits; zeroes in a build without one. O(notes). */
void build_id_read(char text[BUILD_ID_SIZE]);

#endif

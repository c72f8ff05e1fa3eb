/* version: of Packlist, in all its programs. */
#ifndef PACKLIST_BASE_VERSION_H
#define PACKLIST_BASE_VERSION_H

#define PACKLIST_VERSION "0.1.0"

#endif

/* version: of Packlist, in all its programs, manual pages and packages. A new one gets a section in
 * CHANGELOG.md. */
#ifndef PACKLIST_BASE_VERSION_H
#define PACKLIST_BASE_VERSION_H

#define PACKLIST_VERSION "0.3.0"

#endif

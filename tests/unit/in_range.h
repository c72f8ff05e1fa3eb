/* assert_uint_in_range of cmocka 2, for cmocka 1 too, which calls it assert_in_range: a name that
 * cmocka 2 warns of. */
#ifndef PACKLIST_TESTS_UNIT_IN_RANGE_H
#define PACKLIST_TESTS_UNIT_IN_RANGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifndef assert_uint_in_range
#define assert_uint_in_range(value, minimum, maximum) assert_in_range(value, minimum, maximum)
#endif

#endif

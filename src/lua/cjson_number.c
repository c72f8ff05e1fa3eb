#include "lua/cjson.h"

#include "base/text/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 6 };

static const char *parse_any(const char *at, double *value) {
    char *end;
    if (isspace((unsigned char)*at)) return NULL;
    *value = strtod(at, &end);
    return end == at ? NULL : end;
}

const char *cjson_parse_number(struct slice text, double *value) {
    size_t length = number_read_decimal(text, value);
    return length == 0 ? parse_any(text.ptr, value) : text.ptr + length;
}

/* Writes `scaled` / 10^PLACES, which is not an integer. 0 when it has more than `precision`
 * digits. */
static size_t format_places(char *dst, uint64_t scaled, int precision) {
    int places = PLACES;
    for (; scaled % 10 == 0; places--) scaled /= 10;
    if (number_uint64_length(scaled) > (size_t)precision) return 0;
    uint64_t unit = number_powers_of_ten[places]; /* 10^places: the table begins with 0 */
    uint64_t fraction = scaled % unit;
    size_t len = number_format_uint64(dst, scaled / unit);
    dst[len++] = '.';
    for (size_t zeros = (size_t)places - number_uint64_length(fraction); zeros > 0; zeros--) {
        dst[len++] = '0';
    }
    return len + number_format_uint64(dst + len, fraction);
}

/* The number as an integer or with few places; 0 when printf has to do it. */
static size_t format_short(char *dst, double value, int precision) {
    if (value == 0) {
        dst[0] = '-'; /* minus zero keeps its sign */
        dst[signbit(value) != 0] = '0';
        return signbit(value) ? 2 : 1;
    }
    int64_t integer = (int64_t)value;
    if ((double)integer == value) return number_format_int64(dst, integer);
    /* %g writes exponents below 10^-4. From there on the decimal that is found here, if it has at
     * most `precision` digits, is the one nearest to the value among all of that many digits: the
     * value is the double nearest to it, and doubles lie closer than such decimals. */
    double magnitude = fabs(value);
    if (magnitude < 1e-4 || magnitude >= 1e9) return 0;
    double scaled = floor(magnitude * 1e6 + 0.5);
    if (scaled / 1e6 != magnitude) return 0;
    *dst = '-';
    size_t sign = value < 0;
    size_t len = format_places(dst + sign, (uint64_t)scaled, precision);
    return len == 0 ? 0 : sign + len;
}

size_t cjson_format_number(char *dst, double value, int precision) {
    /* Also false for what is not a number. */
    if (fabs(value) < (double)number_powers_of_ten[precision]) {
        size_t len = format_short(dst, value, precision);
        if (len != 0) return len;
    }
    return (size_t)snprintf(dst, CJSON_NUMBER_MAX, "%.*g", precision, value);
}

/* Times as text: see time.h. strftime is not used: names of days and months depend on the locale. */
#include "storage/text/time.h"
#include "storage/text/number.h"

#include <string.h>

#define FIRST_S (-62135596800LL) /* 0001-01-01 */
#define LAST_S 253402300799LL    /* 9999-12-31T23:59:59 */

static struct tm moment_of(int64_t unix_s)
{
    const time_t s = HUB_MIN(HUB_MAX(unix_s, FIRST_S), LAST_S);
    struct tm m = {0};
    gmtime_r(&s, &m);
    return m;
}

/* False for a day or an hour that there is not. */
static bool seconds_of(const struct tm *m, int64_t *out)
{
    struct tm made = *m;
    made.tm_sec = HUB_MIN(m->tm_sec, 59); /* a leap second is the second before it */
    *out = timegm(&made);                 /* puts right what is beyond its range */
    return m->tm_year > -1900 && m->tm_sec <= 60 && made.tm_mday == m->tm_mday && made.tm_mon == m->tm_mon &&
           made.tm_hour == m->tm_hour && made.tm_min == m->tm_min;
}

/* So many digits. printf is a good part of what a small answer costs. */
static char *put_number(char *at, int number, unsigned digits)
{
    for (unsigned i = digits; i--; number /= 10)
        at[i] = (char)('0' + number % 10);
    return at + digits;
}

static char *put_clock(char *at, const struct tm *m)
{
    at = put_number(at, m->tm_hour, 2);
    *at++ = ':';
    at = put_number(at, m->tm_min, 2);
    *at++ = ':';
    return put_number(at, m->tm_sec, 2);
}

/* As far as the seconds. */
static char *put_rfc3339(char *at, int64_t unix_s)
{
    const struct tm m = moment_of(unix_s);
    at = put_number(at, m.tm_year + 1900, 4);
    *at++ = '-';
    at = put_number(at, m.tm_mon + 1, 2);
    *at++ = '-';
    at = put_number(at, m.tm_mday, 2);
    *at++ = 'T';
    return put_clock(at, &m);
}

void hub_time_rfc3339(int64_t unix_s, char out[HUB_TIME_CHARS])
{
    strcpy(put_rfc3339(out, unix_s), "Z");
}

void hub_time_rfc3339_ms(int64_t unix_ms, char out[HUB_TIME_CHARS])
{
    const int64_t ms = (unix_ms % 1000 + 1000) % 1000;
    char *at = put_rfc3339(out, (unix_ms - ms) / 1000);
    *at++ = '.';
    strcpy(put_number(at, (int)ms, 3), "Z");
}

void hub_time_rfc3339_ns(int64_t unix_ns, char out[HUB_TIME_CHARS])
{
    hub_time_rfc3339_ms(unix_ns / 1000000, out);
    if (unix_ns > 0 && unix_ns % 1000000)
        strcpy(put_number(out + 23, (int)(unix_ns % 1000000), 6), "Z");
}

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char days[] = "SunMonTueWedThuFriSat";

void hub_time_http(int64_t unix_s, char out[HUB_TIME_CHARS])
{
    const struct tm m = moment_of(unix_s);
    char *at = mempcpy(out, days + 3 * m.tm_wday, 3);
    at = put_number(stpcpy(at, ", "), m.tm_mday, 2);
    *at++ = ' ';
    at = mempcpy(at, months + 3 * m.tm_mon, 3);
    *at++ = ' ';
    at = put_number(at, m.tm_year + 1900, 4);
    *at++ = ' ';
    strcpy(put_clock(at, &m), " GMT");
}

/* ---- parsing: a pattern of digits and literals ---- */

static bool take_number(struct hub_view *text, size_t digits, int *out)
{
    uint64_t n;
    if (text->size < digits || !hub_number_read((struct hub_view){text->data, digits}, INT32_MAX, &n))
        return false;
    *out = (int)n;
    *text = (struct hub_view){text->data + digits, text->size - digits};
    return true;
}

static bool take_month(struct hub_view *text, int *out)
{
    for (*out = 0; text->size >= 3 && *out < 12; ++*out)
        if (memcmp(text->data, months + 3 * *out, 3) == 0) {
            *text = (struct hub_view){text->data + 3, text->size - 3};
            return true;
        }
    return false;
}

static bool take_literal(struct hub_view *text, char c)
{
    if (!text->size || (c != '?' && *text->data != c))
        return false;
    *text = (struct hub_view){text->data + 1, text->size - 1};
    return true;
}

/* Of the pattern, d and e are a day of two digits (e: or of one behind a blank), b a month, o its number, y
 * and c a year of four and of two digits, h, m and s the time; '?' is any character, all else itself. */
static bool matches(struct hub_view text, const char *pattern, struct tm *m)
{
    bool good = true;
    *m = (struct tm){0};
    for (; good && *pattern; pattern++) {
        static const char letters[] = "dehmscyo";
        const char *which = strchr(letters, *pattern);
        int *const targets[] = {&m->tm_mday, &m->tm_mday, &m->tm_hour, &m->tm_min,
                                &m->tm_sec,  &m->tm_year, &m->tm_year, &m->tm_mon};
        const bool blank = *pattern == 'e' && take_literal(&text, ' ');
        if (*pattern == 'b')
            good = take_month(&text, &m->tm_mon);
        else if (which)
            good = take_number(&text, *which == 'y' ? 4 : blank ? 1 : 2, targets[which - letters]);
        else
            good = take_literal(&text, *pattern);
    }
    return good && !text.size;
}

/* RFC 9110: a year of two digits is the most recent one, unless it is more than 50 years ahead. */
static bool matches_old(struct hub_view text, int this_year, struct tm *m)
{
    const char *comma = text.size ? memchr(text.data, ',', text.size) : NULL;
    if (!comma ||
        !matches((struct hub_view){comma, text.size - (size_t)(comma - text.data)}, ", d-b-c h:m:s GMT", m))
        return false;
    m->tm_year += this_year - this_year % 100;
    m->tm_year -= m->tm_year > this_year + 50 ? 100 : 0;
    return true;
}

bool hub_time_parse_http(struct hub_view text, int64_t now_s, int64_t *unix_s)
{
    struct tm m;
    if (!matches(text, "???, d b y h:m:s GMT", &m) && !matches(text, "??? b e h:m:s y", &m) &&
        !matches_old(text, moment_of(now_s).tm_year + 1900, &m))
        return false;
    m.tm_year -= 1900;
    return seconds_of(&m, unix_s);
}

bool hub_time_parse_rfc3339(struct hub_view text, int64_t *unix_ns)
{
    enum { SECONDS = 19, FRACTION = 9 };
    struct tm m;
    int64_t s, ns = 0;
    if (text.size <= SECONDS || text.data[text.size - 1] != 'Z' ||
        !matches((struct hub_view){text.data, SECONDS}, "y-o-dTh:m:s", &m))
        return false;
    m.tm_year -= 1900;
    m.tm_mon--;
    const struct hub_view digits = {text.data + SECONDS + 1,
                                    text.size > SECONDS + 1 ? text.size - SECONDS - 2 : 0};
    if ((text.size > SECONDS + 1) != (text.data[SECONDS] == '.') || digits.size > FRACTION)
        return false;
    for (size_t i = 0; i < FRACTION; i++) {
        if (i < digits.size && (digits.data[i] < '0' || digits.data[i] > '9'))
            return false;
        ns = ns * 10 + (i < digits.size ? digits.data[i] - '0' : 0);
    }
    if (m.tm_mon < 0 || m.tm_mon > 11 || !seconds_of(&m, &s) || s > INT64_MAX / 1000000000 - 1 || s < 0)
        return false;
    *unix_ns = s * 1000000000 + ns;
    return true;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t hub_time_now_s(void)
{
    return (int64_t)time(NULL);
}

int64_t hub_time_now_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

int64_t hub_time_mono_ms(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t hub_time_mono_us(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000;
}

struct timespec hub_time_ahead(clockid_t clock, uint64_t ms)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

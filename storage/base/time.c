/* Times as text: see time.h. Own calendar arithmetic (proleptic Gregorian), so that neither locale nor zone
 * matters. */
#include "storage/base/time.h"

#include <stdio.h>
#include <time.h>

#define DAY_S 86400
#define FIRST_S (-62135596800LL) /* 0001-01-01 */
#define LAST_S 253402300799LL    /* 9999-12-31T23:59:59 */

struct moment {
    int year, month, day, hour, minute, second;
};

/* Days from 1970-01-01, counting years from March so that the leap day is the last. */
static int64_t days_from(int year, int month, int day)
{
    const int64_t y = year - (month <= 2);
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t year_of_era = y - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static struct moment moment_of(int64_t unix_s)
{
    unix_s = unix_s < FIRST_S ? FIRST_S : unix_s > LAST_S ? LAST_S : unix_s;
    int64_t days = unix_s / DAY_S, rest = unix_s % DAY_S;
    if (rest < 0) {
        rest += DAY_S;
        days--;
    }
    const int64_t shifted = days + 719468; /* from 0000-03-01 */
    const int64_t era = shifted / 146097;
    const int64_t day_of_era = shifted % 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t month = (5 * day_of_year + 2) / 153; /* from March */
    return (struct moment){.year = (int)(year_of_era + era * 400 + (month >= 10)),
                           .month = (int)(month < 10 ? month + 3 : month - 9),
                           .day = (int)(day_of_year - (153 * month + 2) / 5 + 1),
                           .hour = (int)(rest / 3600),
                           .minute = (int)(rest / 60 % 60),
                           .second = (int)(rest % 60)};
}

static bool valid(const struct moment *m)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (m->year < 1 || m->month < 1 || m->month > 12 || m->day < 1 || m->hour > 23 || m->minute > 59 ||
        m->second > 60)
        return false;
    const bool leap = m->year % 4 == 0 && (m->year % 100 != 0 || m->year % 400 == 0);
    return m->day <= lengths[m->month - 1] + (m->month == 2 && leap);
}

static int64_t seconds_of(const struct moment *m)
{
    const int second = m->second == 60 ? 59 : m->second; /* a leap second is the second before it */
    return days_from(m->year, m->month, m->day) * DAY_S + m->hour * 3600 + m->minute * 60 + second;
}

void hub_time_rfc3339(int64_t unix_s, char out[HUB_TIME_CHARS])
{
    const struct moment m = moment_of(unix_s);
    snprintf(out, HUB_TIME_CHARS, "%04d-%02d-%02dT%02d:%02d:%02dZ", m.year % 10000, m.month % 100,
             m.day % 100, m.hour % 100, m.minute % 100, m.second % 100);
}

void hub_time_rfc3339_ms(int64_t unix_ms, char out[HUB_TIME_CHARS])
{
    const int64_t ms = (unix_ms % 1000 + 1000) % 1000;
    const struct moment m = moment_of((unix_ms - ms) / 1000);
    snprintf(out, HUB_TIME_CHARS, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", m.year % 10000, m.month % 100,
             m.day % 100, m.hour % 100, m.minute % 100, m.second % 100, (int)ms % 1000);
}

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char days[] = "SunMonTueWedThuFriSat";

void hub_time_http(int64_t unix_s, char out[HUB_TIME_CHARS])
{
    const struct moment m = moment_of(unix_s);
    const int64_t weekday = (days_from(m.year, m.month, m.day) % 7 + 11) % 7; /* 1970-01-01 was a Thursday */
    snprintf(out, HUB_TIME_CHARS, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * weekday, m.day % 100,
             months + 3 * (m.month - 1), m.year % 10000, m.hour % 100, m.minute % 100, m.second % 100);
}

/* ---- parsing: a pattern of digits and literals ---- */

struct reader {
    const char *at, *end;
    bool failed;
};

static struct reader reader_of(struct hub_view text)
{
    return (struct reader){text.data, text.data + text.size, false};
}

static int number(struct reader *r, int count)
{
    int value = 0;
    for (; count > 0; count--) {
        if (r->at == r->end || *r->at < '0' || *r->at > '9') {
            r->failed = true;
            return 0;
        }
        value = value * 10 + (*r->at++ - '0');
    }
    return value;
}

static void literal(struct reader *r, const char *text)
{
    const size_t n = strlen(text);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
        r->failed = true;
    else
        r->at += n;
}

static bool next_is(const struct reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

static int month(struct reader *r)
{
    for (int i = 0; r->end - r->at >= 3 && i < 12; i++) {
        if (memcmp(r->at, months + 3 * i, 3) == 0) {
            r->at += 3;
            return i + 1;
        }
    }
    r->failed = true;
    return 0;
}

static void clock_time(struct reader *r, struct moment *m)
{
    m->hour = number(r, 2);
    literal(r, ":");
    m->minute = number(r, 2);
    literal(r, ":");
    m->second = number(r, 2);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool parse_fixdate(struct hub_view text, struct moment *m)
{
    struct reader r = reader_of(text);
    if (text.size != 29)
        return false;
    r.at += 3;
    literal(&r, ", ");
    m->day = number(&r, 2);
    literal(&r, " ");
    m->month = month(&r);
    literal(&r, " ");
    m->year = number(&r, 4);
    literal(&r, " ");
    clock_time(&r, m);
    literal(&r, " GMT");
    return !r.failed && r.at == r.end;
}

/* "Sunday, 06-Nov-94 08:49:37 GMT" */
static bool parse_rfc850(struct hub_view text, int this_year, struct moment *m)
{
    const char *comma = text.size ? memchr(text.data, ',', text.size) : NULL;
    struct reader r = reader_of(text);
    if (!comma)
        return false;
    r.at = comma;
    literal(&r, ", ");
    m->day = number(&r, 2);
    literal(&r, "-");
    m->month = month(&r);
    literal(&r, "-");
    m->year = this_year - this_year % 100 + number(&r, 2);
    if (m->year > this_year + 50) /* RFC 9110: then it is the most recent year with those digits */
        m->year -= 100;
    literal(&r, " ");
    clock_time(&r, m);
    literal(&r, " GMT");
    return !r.failed && r.at == r.end;
}

/* "Sun Nov  6 08:49:37 1994" */
static bool parse_asctime(struct hub_view text, struct moment *m)
{
    struct reader r = reader_of(text);
    if (text.size != 24)
        return false;
    r.at += 3;
    literal(&r, " ");
    m->month = month(&r);
    literal(&r, " ");
    if (next_is(&r, ' ')) {
        r.at++;
        m->day = number(&r, 1);
    } else {
        m->day = number(&r, 2);
    }
    literal(&r, " ");
    clock_time(&r, m);
    literal(&r, " ");
    m->year = number(&r, 4);
    return !r.failed && r.at == r.end;
}

bool hub_time_parse_http(struct hub_view text, int64_t now_s, int64_t *unix_s)
{
    struct moment m = {0};
    if (!parse_fixdate(text, &m) && !parse_asctime(text, &m) &&
        !parse_rfc850(text, moment_of(now_s).year, &m))
        return false;
    if (!valid(&m))
        return false;
    *unix_s = seconds_of(&m);
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

uint64_t hub_time_mono_ms(void)
{
    return (uint64_t)clock_ns(CLOCK_MONOTONIC) / 1000000;
}

uint64_t hub_time_mono_us(void)
{
    return (uint64_t)clock_ns(CLOCK_MONOTONIC) / 1000;
}

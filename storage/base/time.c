/* Times as text: see time.h. strftime is not used: names of days and months depend on the locale. */
#include "storage/base/time.h"

#include <stdio.h>

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

void hub_time_rfc3339(int64_t unix_s, char out[HUB_TIME_CHARS])
{
    const struct tm m = moment_of(unix_s);
    snprintf(out, HUB_TIME_CHARS, "%04d-%02d-%02dT%02d:%02d:%02dZ", m.tm_year + 1900, m.tm_mon + 1, m.tm_mday,
             m.tm_hour, m.tm_min, m.tm_sec);
}

void hub_time_rfc3339_ms(int64_t unix_ms, char out[HUB_TIME_CHARS])
{
    const int64_t ms = (unix_ms % 1000 + 1000) % 1000;
    char text[HUB_TIME_CHARS];
    hub_time_rfc3339((unix_ms - ms) / 1000, text);
    snprintf(out, HUB_TIME_CHARS, "%.19s.%03dZ", text, (int)ms);
}

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char days[] = "SunMonTueWedThuFriSat";

void hub_time_http(int64_t unix_s, char out[HUB_TIME_CHARS])
{
    const struct tm m = moment_of(unix_s);
    snprintf(out, HUB_TIME_CHARS, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * m.tm_wday, m.tm_mday,
             months + 3 * m.tm_mon, m.tm_year + 1900, m.tm_hour, m.tm_min, m.tm_sec);
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
            return i;
        }
    }
    r->failed = true;
    return 0;
}

static void clock_time(struct reader *r, struct tm *m)
{
    m->tm_hour = number(r, 2);
    literal(r, ":");
    m->tm_min = number(r, 2);
    literal(r, ":");
    m->tm_sec = number(r, 2);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool parse_fixdate(struct hub_view text, struct tm *m)
{
    struct reader r = reader_of(text);
    if (text.size != 29)
        return false;
    r.at += 3;
    literal(&r, ", ");
    m->tm_mday = number(&r, 2);
    literal(&r, " ");
    m->tm_mon = month(&r);
    literal(&r, " ");
    m->tm_year = number(&r, 4) - 1900;
    literal(&r, " ");
    clock_time(&r, m);
    literal(&r, " GMT");
    return !r.failed && r.at == r.end;
}

/* "Sunday, 06-Nov-94 08:49:37 GMT" */
static bool parse_rfc850(struct hub_view text, int this_year, struct tm *m)
{
    const char *comma = text.size ? memchr(text.data, ',', text.size) : NULL;
    struct reader r = reader_of(text);
    if (!comma)
        return false;
    r.at = comma;
    literal(&r, ", ");
    m->tm_mday = number(&r, 2);
    literal(&r, "-");
    m->tm_mon = month(&r);
    literal(&r, "-");
    m->tm_year = this_year - this_year % 100 + number(&r, 2);
    if (m->tm_year > this_year + 50) /* RFC 9110: then it is the most recent year with those digits */
        m->tm_year -= 100;
    m->tm_year -= 1900;
    literal(&r, " ");
    clock_time(&r, m);
    literal(&r, " GMT");
    return !r.failed && r.at == r.end;
}

/* "Sun Nov  6 08:49:37 1994" */
static bool parse_asctime(struct hub_view text, struct tm *m)
{
    struct reader r = reader_of(text);
    if (text.size != 24)
        return false;
    r.at += 3;
    literal(&r, " ");
    m->tm_mon = month(&r);
    literal(&r, " ");
    if (next_is(&r, ' ')) {
        r.at++;
        m->tm_mday = number(&r, 1);
    } else {
        m->tm_mday = number(&r, 2);
    }
    literal(&r, " ");
    clock_time(&r, m);
    literal(&r, " ");
    m->tm_year = number(&r, 4) - 1900;
    return !r.failed && r.at == r.end;
}

bool hub_time_parse_http(struct hub_view text, int64_t now_s, int64_t *unix_s)
{
    struct tm m = {0};
    if (!parse_fixdate(text, &m) && !parse_asctime(text, &m) &&
        !parse_rfc850(text, moment_of(now_s).tm_year + 1900, &m))
        return false;
    return seconds_of(&m, unix_s);
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

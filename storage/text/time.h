/** Times as text: RFC 3339 in documents, HTTP dates in headers. Seconds count from 1970 in UTC; years 0001 to
 * 9999. */
#ifndef HUB_TEXT_TIME_H
#define HUB_TEXT_TIME_H

#include "storage/base/buf.h"

#include <time.h>

enum { HUB_TIME_CHARS = 40 };

/** "2026-11-20T19:19:06Z". Times outside the years are clamped. */
void hub_time_rfc3339(int64_t unix_s, char out[HUB_TIME_CHARS]);
/** "2026-11-20T19:19:06.123Z" */
void hub_time_rfc3339_ms(int64_t unix_ms, char out[HUB_TIME_CHARS]);
/** The same, or with nine digits where it takes them: nothing is lost. From 1970 on. */
void hub_time_rfc3339_ns(int64_t unix_ns, char out[HUB_TIME_CHARS]);

/** "Fri, 20 Nov 2026 19:19:06 GMT" */
void hub_time_http(int64_t unix_s, char out[HUB_TIME_CHARS]);
/** The three forms of RFC 9110 5.6.7; the day's name is not compared. Two-digit years are the nearest to
 * `now_s`. */
bool hub_time_parse_http(struct hub_view text, int64_t now_s, int64_t *unix_s);

/** "2026-11-20T19:19:06Z" with up to nine digits of a fraction, from 1970 to 2262. */
bool hub_time_parse_rfc3339(struct hub_view text, int64_t *unix_ns);

int64_t hub_time_now_s(void);
int64_t hub_time_now_ns(void);
/** A clock that never goes back, from an arbitrary start. */
int64_t hub_time_mono_ms(void);
int64_t hub_time_mono_us(void);
/** The moment so far ahead, for functions that wait until one. */
struct timespec hub_time_ahead(clockid_t clock, uint64_t ms);

#endif

/* Heads of answers: see answer.h. */
#include "storage/net/answer.h"

#include "storage/text/base64.h"
#include "storage/text/time.h"
#include "storage/text/utf8.h"

#include <stdio.h>
#include <strings.h>

static struct hub_view trim(struct hub_view v)
{
    while (v.size && strchr(" \t\r\n", v.data[0])) {
        v.data++;
        v.size--;
    }
    while (v.size && strchr(" \t\r\n", v.data[v.size - 1]))
        v.size--;
    return v;
}

/* Digits only, no overflow; consumes them. */
static bool take_number(struct hub_view *v, uint64_t *out)
{
    uint64_t n = 0;
    size_t i = 0;
    for (; i < v->size && v->data[i] >= '0' && v->data[i] <= '9'; i++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(v->data[i] - '0'), &n))
            return false;
    v->data += i;
    v->size -= i;
    *out = n;
    return i > 0;
}

static bool take_char(struct hub_view *v, char c)
{
    if (!v->size || v->data[0] != c)
        return false;
    v->data++;
    v->size--;
    return true;
}

static bool whole_number(struct hub_view v, uint64_t *out)
{
    return take_number(&v, out) && v.size == 0;
}

bool hub_answer_range(struct hub_view v, uint64_t *first, uint64_t *last, uint64_t *total)
{
    if (v.size < 6 || strncasecmp(v.data, "bytes ", 6) != 0)
        return false;
    v = trim((struct hub_view){v.data + 6, v.size - 6});
    return take_number(&v, first) && take_char(&v, '-') && take_number(&v, last) && take_char(&v, '/') &&
           take_number(&v, total) && v.size == 0 && *first <= *last && *last < *total;
}

static void copy(char *out, size_t room, struct hub_view v)
{
    const bool fits = v.size < room && hub_utf8_printable(v);
    snprintf(out, room, "%.*s", fits ? (int)v.size : 0, fits ? v.data : "");
}

/* RFC 9530: sha-256=:BASE64:, possibly among others. */
static void take_digest(struct hub_answer *a, struct hub_view v)
{
    static const char label[] = "sha-256=:";
    const char *at = memmem(v.data, v.size, label, sizeof label - 1);
    if (!at)
        return;
    at += sizeof label - 1;
    const char *end = memchr(at, ':', (size_t)(v.data + v.size - at));
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(64);
    if (!end || hub_base64_decode((struct hub_view){at, (size_t)(end - at)}, &bytes, NULL) ||
        bytes.size != HUB_SHA256_BYTES)
        return;
    memcpy(a->sha256, bytes.data, HUB_SHA256_BYTES);
    a->has_sha256 = true;
}

static void take_retry_after(struct hub_answer *a, struct hub_view v, int64_t now_s)
{
    uint64_t seconds = 0;
    int64_t when;
    if (!whole_number(v, &seconds)) {
        if (!hub_time_parse_http(v, now_s, &when) || when <= now_s)
            return;
        seconds = (uint64_t)(when - now_s);
    }
    a->retry_after_s = (unsigned)HUB_MIN(seconds, 1000000U);
}

/* draft-ietf-httpapi-ratelimit-headers: "api";r=0;t=55 */
static void take_rate_limit(struct hub_answer *a, struct hub_view v)
{
    const char *left = memmem(v.data, v.size, ";r=", 3), *start = memmem(v.data, v.size, ";t=", 3);
    uint64_t requests = 0, seconds = 0;
    if (!left || !start)
        return;
    struct hub_view r = {left + 3, (size_t)(v.data + v.size - left - 3)};
    struct hub_view t = {start + 3, (size_t)(v.data + v.size - start - 3)};
    if (take_number(&r, &requests) && !requests && take_number(&t, &seconds) && !a->retry_after_s)
        a->retry_after_s = (unsigned)HUB_MIN(seconds, 1000000U);
}

/* RFC 8288: <URL>; rel="next", possibly among others. */
static void take_link(struct hub_answer *a, struct hub_view v)
{
    const char *rel = memmem(v.data, v.size, "rel=\"next\"", 10);
    const char *end = rel ? memrchr(v.data, '>', (size_t)(rel - v.data)) : NULL;
    const char *open = end ? memrchr(v.data, '<', (size_t)(end - v.data)) : NULL;
    if (open)
        copy(a->next, sizeof a->next, (struct hub_view){open + 1, (size_t)(end - open - 1)});
}

static void take_field(struct hub_answer *a, struct hub_view name, struct hub_view v, int64_t now_s)
{
    char key[32];
    snprintf(key, sizeof key, "%.*s", (int)HUB_MIN(name.size, sizeof key - 1), name.data);
    if (!strcasecmp(key, "content-length"))
        a->has_length = whole_number(v, &a->length);
    else if (!strcasecmp(key, "content-range"))
        a->has_range = hub_answer_range(v, &a->first, &a->last, &a->total);
    else if (!strcasecmp(key, "accept-ranges"))
        a->parts = hub_view_is(v, "bytes");
    else if (!strcasecmp(key, "etag"))
        copy(a->etag, sizeof a->etag, v.size && v.data[0] == '"' ? v : HUB_VIEW(""));
    else if (!strcasecmp(key, "content-type"))
        copy(a->type, sizeof a->type, trim((struct hub_view){v.data, strcspn(v.data, ";\r\n")}));
    else if (!strcasecmp(key, "retry-after"))
        take_retry_after(a, v, now_s);
    else if (!strcasecmp(key, "ratelimit"))
        take_rate_limit(a, v);
    else if (!strcasecmp(key, "link"))
        take_link(a, v);
    else if (!strcasecmp(key, "upload-offset"))
        a->has_offset = whole_number(v, &a->offset);
    else if (!strcasecmp(key, "x-goog-generation"))
        (void)whole_number(v, &a->generation);
    else if (!strcasecmp(key, "x-error-code"))
        copy(a->code, sizeof a->code, v);
    else if (!strcasecmp(key, "repr-digest"))
        take_digest(a, v);
    else if (!strcasecmp(key, "x-shape"))
        copy(a->shape, sizeof a->shape, v);
    else if (!strcasecmp(key, "x-dtype"))
        copy(a->dtype, sizeof a->dtype, v);
    else if (!strcasecmp(key, "x-nonfinite"))
        (void)whole_number(v, &a->nonfinite);
}

void hub_answer_line(struct hub_answer *answer, struct hub_view line, int64_t now_s)
{
    char text[4096]; /* a longer line holds nothing we use */
    if (line.size >= sizeof text)
        return;
    memcpy(text, line.data, line.size);
    text[line.size] = '\0';
    if (strncasecmp(text, "http/", 5) == 0) {
        const char *space = strchr(text, ' ');
        struct hub_view digits = {space ? space + 1 : "", space ? strspn(space + 1, "0123456789") : 0};
        uint64_t status = 0;
        *answer = (struct hub_answer){0};
        if (digits.size == 3 && whole_number(digits, &status))
            answer->status = (unsigned)status;
        return;
    }
    const char *colon = strchr(text, ':');
    if (colon)
        take_field(answer, (struct hub_view){text, (size_t)(colon - text)},
                   trim((struct hub_view){colon + 1, line.size - (size_t)(colon + 1 - text)}), now_s);
}

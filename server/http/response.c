/* A response while a handler fills it: headers, and a body of one of four kinds. */
#include "server/http/http.h"
#include "storage/text/number.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void hub_response_init(struct hub_response *response)
{
    /* not the whole struct: `text` and unused headers need no zeroing on every request */
    response->status = 200;
    response->header_count = 0;
    response->kind = HUB_BODY_NONE;
    response->buffer = HUB_BUF_INIT(0);
    response->is_json = false;
    response->shared = NULL;
    response->file = NULL;
    response->parts = NULL;
    response->maker = NULL;
    response->offset = response->length = response->escaped = 0;
    response->problem_extra = NULL;
    response->budget = NULL;
    response->client = 0;
    response->reserved = 0;
    response->meter.budget = NULL;
    response->text_used = 0;
}

static bool in_text(const struct hub_response *response, const char *value)
{
    return value >= response->text && value < response->text + sizeof response->text;
}

void hub_response_dispose(struct hub_response *response)
{
    for (unsigned i = 0; i < response->header_count; i++)
        if (!in_text(response, response->headers[i].value))
            free(response->headers[i].value);
    hub_buf_dispose(&response->buffer);
    hub_bytes_unref(response->shared);
    if (response->file)
        hub_file_put(response->file);
    if (response->parts)
        response->parts->free(response->parts);
    if (response->maker)
        response->maker->free(response->maker);
    free(response->problem_extra);
    if (response->reserved)
        hub_budget_give(response->budget, response->client, response->reserved);
    hub_response_init(response);
}

static enum hub_status add(struct hub_response *response, const char *name, char *value,
                           struct hub_error *err)
{
    for (const char *c = value; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) {
            if (!in_text(response, value))
                free(value);
            return hub_fail_as(err, HUB_IO, HUB_PROBLEM_INTERNAL,
                               "the value of header %s has a control character", name);
        }
    }
    response->headers[response->header_count].name = name;
    response->headers[response->header_count++].value = value;
    return HUB_OK;
}

static bool put(struct hub_response *response, struct hub_view text)
{
    if (text.size >= sizeof response->text - response->text_used)
        return false;
    memcpy(response->text + response->text_used, text.data, text.size);
    response->text_used += text.size;
    return true;
}

/* What stands for the conversion at `*fmt`, behind its '%'. False: it is none of those known here. */
static bool convert(const char **fmt, va_list *args, char digits[HUB_NUMBER_CHARS], struct hub_view *out)
{
    static const char u64[] = PRIu64, i64[] = PRId64;
    if (**fmt == 's') {
        *fmt += 1;
        *out = hub_view_of(va_arg(*args, const char *));
    } else if (strncmp(*fmt, u64, sizeof u64 - 1) == 0) {
        *fmt += sizeof u64 - 1;
        *out = (struct hub_view){digits, hub_number_u64(va_arg(*args, uint64_t), digits)};
    } else if (strncmp(*fmt, i64, sizeof i64 - 1) == 0) {
        *fmt += sizeof i64 - 1;
        *out = (struct hub_view){digits, hub_number_i64(va_arg(*args, int64_t), digits)};
    } else {
        return false;
    }
    return true;
}

/* Most values are texts and whole numbers: printf is a good part of what a small answer costs. NULL: there
 * is more to be formatted, or it is too long. */
static char *plain_value(struct hub_response *response, const char *fmt, va_list *args)
{
    const size_t begin = response->text_used;
    for (bool fits = true; fits;) {
        char digits[HUB_NUMBER_CHARS];
        const char *mark = strchrnul(fmt, '%');
        struct hub_view part;
        fits = put(response, (struct hub_view){fmt, (size_t)(mark - fmt)});
        if (fits && !*mark) {
            response->text[response->text_used++] = '\0';
            return response->text + begin;
        }
        fmt = mark + 1;
        fits = fits && convert(&fmt, args, digits, &part) && put(response, part);
    }
    response->text_used = begin;
    return NULL;
}

enum hub_status hub_response_header(struct hub_response *response, struct hub_error *err, const char *name,
                                    const char *fmt, ...)
{
    if (response->header_count == HUB_COUNT(response->headers))
        return hub_fail(err, HUB_TOO_BIG, "too many headers: %s", name);
    va_list args;
    va_start(args, fmt);
    char *value = plain_value(response, fmt, &args);
    va_end(args);
    if (value)
        return add(response, name, value, err);
    value = response->text + response->text_used;
    size_t left = sizeof response->text - response->text_used;
    va_start(args, fmt);
    int n = vsnprintf(value, left, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < left) {
        response->text_used += (size_t)n + 1;
        return add(response, name, value, err);
    }
    va_start(args, fmt);
    n = vasprintf(&value, fmt, args);
    va_end(args);
    if (n < 0)
        return hub_no_memory(err);
    return add(response, name, value, err);
}

/* What every client takes: printable ASCII without what would have to be quoted or decoded. */
static enum hub_status add_plain_name(struct hub_view name, struct hub_buf *out, struct hub_error *err)
{
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        const bool plain = c >= ' ' && c <= '~' && !strchr("\"\\%/", c);
        const bool goes_on = ((unsigned char)c & 0xC0) == 0x80; /* inside a character of UTF-8 */
        if (!goes_on)
            HUB_TRY(hub_buf_add(out, plain ? &c : "_", 1, err));
    }
    return HUB_OK;
}

enum hub_status hub_response_file_name(struct hub_response *response, const char *disposition,
                                       struct hub_view name, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf plain = HUB_BUF_INIT(4 * KIB), encoded = HUB_BUF_INIT(12 * KIB);
    HUB_TRY(add_plain_name(name, &plain, err));
    HUB_TRY(hub_uri_encode_segment(name, &encoded, err));
    return hub_response_header(response, err, "Content-Disposition",
                               "%s; filename=\"%s\"; filename*=UTF-8''%s", disposition,
                               hub_buf_view(&plain).data, hub_buf_view(&encoded).data);
}

enum hub_status hub_response_private(struct hub_response *response, struct hub_error *err)
{
    for (unsigned i = 0; i < response->header_count; i++) {
        char *before = response->headers[i].value;
        if (strcmp(response->headers[i].name, "Cache-Control") != 0)
            continue;
        if (strstr(before, "private") || strstr(before, "no-store"))
            return HUB_OK;
        const bool public = hub_view_starts(hub_view_of(before), "public, ");
        HUB_TRY(
            hub_response_header(response, err, "Cache-Control", "private, %s", before + (public ? 8 : 0)));
        response->headers[i].value = response->headers[--response->header_count].value;
        if (!in_text(response, before))
            free(before);
        return HUB_OK;
    }
    return hub_response_header(response, err, "Cache-Control", "private");
}

struct hub_buf *hub_response_buffer(struct hub_response *response, unsigned status, const char *content_type,
                                    size_t limit)
{
    response->status = status;
    response->kind = HUB_BODY_BUFFER;
    hub_buf_dispose(&response->buffer);
    response->buffer = HUB_BUF_INIT(limit);
    if (response->meter.budget && !response->reserved)
        response->buffer.meter = &response->meter.base;
    response->is_json = strcmp(content_type, "application/json") == 0;
    /* the first header of a document never fails: there is room for 32 */
    if (hub_response_header(response, NULL, "Content-Type", "%s", content_type))
        response->status = 500;
    return &response->buffer;
}

enum hub_status hub_response_made(struct hub_response *response, unsigned status, const char *content_type,
                                  struct hub_body_producer *maker, struct hub_error *err)
{
    response->status = status;
    response->kind = HUB_BODY_STREAM;
    response->length = HUB_LENGTH_UNKNOWN;
    response->maker = maker;
    return hub_response_header(response, err, "Content-Type", "%s", content_type);
}

enum hub_status hub_response_begin(struct hub_response *response, struct hub_error *err)
{
    response->buffer = HUB_BUF_INIT(HUB_BODY_STREAM_LIMIT);
    return response->maker->more(response->maker, &response->buffer, err);
}

enum hub_status hub_response_unsent(struct hub_response *response, unsigned status, const char *content_type,
                                    uint64_t length, struct hub_error *err)
{
    response->status = status;
    response->kind = HUB_BODY_UNSENT;
    response->length = length;
    return hub_response_header(response, err, "Content-Type", "%s", content_type);
}

void hub_response_end_line(struct hub_response *response)
{
    struct hub_buf *body = &response->buffer;
    if (response->kind == HUB_BODY_BUFFER && response->is_json && body->size > 0 &&
        body->data[body->size - 1] != '\n')
        (void)!hub_buf_add(body, "\n", 1, NULL);
}

/* What pages are written with: see out.h. */
#include "server/page/out.h"

#include "server/page/assets.h"
#include "storage/text/number.h"
#include "storage/text/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { LONGEST_TEXT = 2000 };

void page_put_raw(struct page_out *out, const char *html, size_t size)
{
    if (!out->status)
        out->status = hub_buf_add(out->buf, html, size, out->err);
}

static void put(struct page_out *out, const char *text)
{
    page_put_raw(out, text, strlen(text));
}

/* Characters that change how what is around them is shown, or that are not seen. */
static bool is_hidden(uint32_t c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F) || c == 0xAD || c == 0x61C ||
           c == 0x180E || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
           (c >= 0xE0000 && c <= 0xE0FFF);
}

static const char *entity(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void put_character(struct page_out *out, uint32_t c, struct hub_view as_written)
{
    char shown[16];
    if (entity(c)) {
        put(out, entity(c));
    } else if (is_hidden(c)) {
        snprintf(shown, sizeof shown, "U+%04" PRIX32, c);
        put(out, shown);
    } else if (c == 0xFFFD) {
        put(out, "\xEF\xBF\xBD");
    } else {
        page_put_raw(out, as_written.data, as_written.size);
    }
}

/* Write the characters that begin in the first `size` bytes of a text; return the rest of it. */
static struct hub_view put_first(struct page_out *out, struct hub_view text, size_t size)
{
    const size_t all = text.size;
    while (text.size && all - text.size < size) {
        const char *from = text.data;
        const uint32_t c = hub_utf8_next(&text);
        put_character(out, c, (struct hub_view){from, (size_t)(text.data - from)});
    }
    return text;
}

void page_put_whole(struct page_out *out, struct hub_view text)
{
    (void)put_first(out, text, text.size);
}

void page_put_text(struct page_out *out, struct hub_view text)
{
    const size_t all = text.size;
    text = put_first(out, text, LONGEST_TEXT);
    if (text.size) {
        char tail[64];
        snprintf(tail, sizeof tail, "\xE2\x80\xA6 (%zu bytes in all)", all);
        put(out, tail);
    }
}

static bool is_plain_url(struct hub_view url)
{
    if (!url.size || !strchr("/?#", url.data[0]) ||
        (url.size > 1 && url.data[0] == '/' && strchr("/\\", url.data[1])))
        return false;
    for (size_t i = 0; i < url.size; i++)
        if ((unsigned char)url.data[i] <= 0x20 || (unsigned char)url.data[i] >= 0x7F ||
            strchr("\"'<>\\`", url.data[i]))
            return false;
    return true;
}

void page_put_url(struct page_out *out, struct hub_view url)
{
    if (!is_plain_url(url)) {
        put(out, "#");
        return;
    }
    for (size_t i = 0; i < url.size; i++)
        if (url.data[i] == '&')
            put(out, "&amp;");
        else
            page_put_raw(out, url.data + i, 1);
}

void page_put_asset(struct page_out *out, const char *name)
{
    put(out, "/~assets/");
    put(out, hub_assets_build());
    put(out, "/");
    put(out, name);
}

void page_put_number(struct page_out *out, int64_t value)
{
    char text[HUB_NUMBER_CHARS];
    page_put_raw(out, text, hub_number_i64(value, text));
}

/* The first `whole` of these characters are the digits before the point: a comma after each third of them. */
static void by_threes(const char *digits, size_t whole, char *out)
{
    for (size_t i = 0; digits[i]; i++) {
        if (i && i < whole && (whole - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
}

void page_count_text(uint64_t value, char out[PAGE_COUNT_BYTES])
{
    char digits[HUB_NUMBER_CHARS];
    const size_t size = hub_number_u64(value, digits);
    digits[size] = '\0';
    by_threes(digits, size, out);
}

void page_put_count(struct page_out *out, uint64_t value)
{
    char text[PAGE_COUNT_BYTES];
    page_count_text(value, text);
    put(out, text);
}

/* Five digits of it; all before the point of what is not too large. */
void page_real(double value, char out[PAGE_REAL_BYTES])
{
    char digits[PAGE_REAL_BYTES];
    const double size = fabs(value);
    const bool whole = size < 1e15 && (size >= 99999.5 || size == floor(size));
    if (isnan(value))
        strcpy(out, "NaN");
    else if (isinf(value))
        strcpy(out, value > 0 ? "\xE2\x88\x9E" : "-\xE2\x88\x9E");
    else {
        snprintf(digits, sizeof digits, whole ? "%.0f" : "%.5g", size);
        if (value < 0)
            *out++ = '-';
        by_threes(digits, strchr(digits, 'e') ? 0 : strcspn(digits, "."), out);
    }
}

void page_put_real(struct page_out *out, double value)
{
    char text[PAGE_REAL_BYTES];
    page_real(value, text);
    put(out, text);
}

void page_put_coord(struct page_out *out, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.2f", isfinite(value) && fabs(value) < 1e6 ? value : 0.0);
    put(out, text);
}

void page_put_path(struct page_out *out, struct hub_view d)
{
    size_t size = 0;
    while (size < d.size && d.data[size] && strchr("MLHVZhvz0123456789 ,.-", d.data[size]))
        size++;
    page_put_raw(out, d.data, size);
}

void page_put_bytes(struct page_out *out, uint64_t value)
{
    char text[HUB_SIZE_CHARS];
    if (value < 1000)
        snprintf(text, sizeof text, "%u B", (unsigned)value);
    else if (value < 999500)
        snprintf(text, sizeof text, "%.0f KB", (double)value / 1e3);
    else
        hub_number_size(value, text);
    put(out, text);
}

/* "2026-11-22T23:19:57.183Z" to the minute. */
void page_put_time(struct page_out *out, struct hub_view iso)
{
    if (iso.size < 16) {
        page_put_text(out, iso);
        return;
    }
    put(out, "<time datetime=\"");
    page_put_text(out, iso);
    put(out, "\">");
    page_put_text(out, (struct hub_view){iso.data, 10});
    put(out, " ");
    page_put_text(out, (struct hub_view){iso.data + 11, 5});
    put(out, "</time>");
}

void page_put_link(struct page_out *out, struct hub_view url)
{
    const bool web = hub_view_starts(url, "https://") || hub_view_starts(url, "http://");
    if (web) {
        put(out, "<a rel=\"noopener noreferrer nofollow\" href=\"");
        page_put_text(out, url);
        put(out, "\">");
    }
    page_put_text(out, url);
    if (web)
        put(out, "</a>");
}

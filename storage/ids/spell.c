/* Paths as text: see spell.h. */
#include "storage/ids/spell.h"

#include "storage/base/hex.h"
#include "storage/ids/id.h"
#include "storage/text/utf8.h"

static enum hub_status put_hex(struct hub_view bytes, struct hub_buf *out, struct hub_error *err)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.size; i++) {
        const uint8_t byte = (uint8_t)bytes.data[i];
        HUB_TRY(hub_buf_add(out, (const char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, 4, err));
    }
    return HUB_OK;
}

/* How many bytes at its beginning are those that mean themselves everywhere. */
static size_t plain_ascii(struct hub_view text)
{
    size_t n = 0;
    while (n < text.size && text.data[n] >= 0x20 && text.data[n] < 0x7F && text.data[n] != '\\')
        n++;
    return n;
}

/* A word with '~' behind it: how an id has the word. */
static bool is_marked(struct hub_view segment)
{
    return segment.size && segment.data[segment.size - 1] == '~' &&
           hub_id_segment_word((struct hub_view){segment.data, segment.size - 1});
}

/* Any text, without what ids are spelled like beyond that. */
static enum hub_status spell_text(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    while (text.size) {
        uint32_t code = 0;
        const size_t run = plain_ascii(text), size = run ? run : hub_utf8_decode(text, &code);
        const struct hub_view here = {text.data, size ? size : 1};
        const bool plain = run || (size && !hub_utf8_hides(code) && code != '\\');
        HUB_TRY(plain ? hub_buf_add_view(out, here, err) : put_hex(here, out, err));
        text.data += here.size;
        text.size -= here.size;
    }
    return HUB_OK;
}

static enum hub_status spell_id_segment(struct hub_view segment, struct hub_buf *out, struct hub_error *err)
{
    static const struct hub_view mark = {"~", 1};
    const bool first = segment.size && segment.data[0] == '~', last = is_marked(segment);
    const struct hub_view text = {segment.data + first, segment.size - first - last};
    if (first)
        HUB_TRY(put_hex(mark, out, err));
    HUB_TRY(spell_text(text, out, err));
    if (last)
        HUB_TRY(put_hex(mark, out, err));
    return hub_id_segment_word(segment) ? hub_buf_add_view(out, mark, err) : HUB_OK;
}

typedef enum hub_status segment_fn(struct hub_view segment, struct hub_buf *out, struct hub_error *err);

/* `each` segment of a path, with the slashes between them. */
static enum hub_status by_segments(struct hub_view path, segment_fn *each, struct hub_buf *out,
                                   struct hub_error *err)
{
    while (path.size) {
        const char *slash = memchr(path.data, '/', path.size);
        const size_t size = slash ? (size_t)(slash - path.data) : path.size;
        HUB_TRY(each((struct hub_view){path.data, size}, out, err));
        if (slash)
            HUB_TRY(hub_buf_add(out, "/", 1, err));
        path.data += size + (slash != NULL);
        path.size -= size + (slash != NULL);
    }
    return HUB_OK;
}

enum hub_status hub_spell_path(struct hub_view path, struct hub_buf *out, struct hub_error *err)
{
    return by_segments(path, spell_text, out, err);
}

enum hub_status hub_spell_id(struct hub_view path, struct hub_buf *out, struct hub_error *err)
{
    return by_segments(path, spell_id_segment, out, err);
}

enum hub_status hub_unspell(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    for (size_t i = 0; i < text.size;) {
        const char *escape = memchr(text.data + i, '\\', text.size - i);
        const size_t run = escape ? (size_t)(escape - text.data) - i : text.size - i;
        HUB_TRY(hub_buf_add(out, text.data + i, run, err));
        i += run;
        if (!escape)
            break;
        const bool whole = text.size - i >= 4 && text.data[i + 1] == 'x';
        const int high = whole ? hub_hex_digit(text.data[i + 2]) : -1;
        const int low = whole ? hub_hex_digit(text.data[i + 3]) : -1;
        const char byte = (char)(high < 0 || low < 0 ? 0 : high << 4 | low);
        if (!byte || byte == '/')
            return hub_fail(err, HUB_INVALID,
                            "a backslash begins an escape \\xhh, a byte in hexadecimal; the backslash "
                            "itself is \\x5c");
        HUB_TRY(hub_buf_add(out, &byte, 1, err));
        i += 4;
    }
    return HUB_OK;
}

static struct hub_view unmarked(struct hub_view segment)
{
    return (struct hub_view){segment.data, segment.size - is_marked(segment)};
}

static enum hub_status unspell_id_segment(struct hub_view segment, struct hub_buf *out, struct hub_error *err)
{
    return hub_unspell(unmarked(segment), out, err);
}

enum hub_status hub_unspell_id(struct hub_view id, struct hub_buf *out, struct hub_error *err)
{
    return by_segments(id, unspell_id_segment, out, err);
}

enum hub_status hub_respell_id(struct hub_view id, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(64 * KIB);
    enum hub_status st = hub_unspell_id(id, &path, err);
    if (!st)
        st = hub_spell_id(hub_buf_view(&path), out, err);
    if (st != HUB_INVALID)
        return st;
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_ID, "id", id.data,
                          "in an id a backslash begins an escape \\xhh; the backslash itself is \\x5c");
}

static enum hub_status add_unmarked(struct hub_view segment, struct hub_buf *out, struct hub_error *err)
{
    return hub_buf_add_view(out, unmarked(segment), err);
}

enum hub_status hub_id_folder(struct hub_view id, struct hub_buf *out, struct hub_error *err)
{
    return by_segments(id, add_unmarked, out, err);
}

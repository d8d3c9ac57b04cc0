/* LeRobot's metadata: JSON and JSON lines as Python writes them, whole or cut short, in both spellings that
 * are about. */
#include "storage/formats/lerobot/lerobot.h"
#include "storage/text/number.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_LINE (16 * MIB)
#define READ_AHEAD (256 * KIB)

/* ---- lines ---- */

struct line_reader {
    const struct lerobot_lines *lines;
    uint32_t number;
    struct hub_buf *strict;
};

static bool integer_at(const char *at, const char *end, int64_t *out)
{
    int64_t n = 0;
    const char *start = at;
    while (at < end && *at >= '0' && *at <= '9' && n < INT64_MAX / 100)
        n = n * 10 + (*at++ - '0');
    *out = n;
    return at > start;
}

/* Python writes the keys in order, so most lines of other episodes need not be parsed. */
static bool outside(const struct line_reader *r, struct hub_view line)
{
    static const char key[] = "{\"episode_index\": ";
    int64_t n;
    return hub_view_starts(line, key) && integer_at(line.data + sizeof key - 1, line.data + line.size, &n) &&
           (n < r->lines->first || n > r->lines->last);
}

static enum hub_status take_line(struct line_reader *r, struct hub_view line, bool whole,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *object = NULL;
    struct hub_error why = {0};
    r->number++;
    while (line.size && (line.data[line.size - 1] == '\r' || line.data[line.size - 1] == ' '))
        line.size--;
    if (line.size == 0 || outside(r, line))
        return HUB_OK;
    const enum hub_status st = hub_json_of_python(line, r->strict, &object, &why);
    if (st == HUB_NO_MEMORY)
        return hub_fail(err, st, "%s", why.detail);
    if ((st || !json_is_object(object)) && !r->lines->sink)
        return HUB_OK;
    if (st || !json_is_object(object))
        return hub_sink_problem(r->lines->sink, "bad-json-line", hub_view_of(r->lines->path), err,
                                "line %u %s: %s", r->number, whole ? "is not an object" : "is cut short",
                                st ? why.detail : "has a value of another type");
    return r->lines->line(r->lines->user, object, r->number, err);
}

/* All whole lines of the buffer; what is left of the last one moves to its front. */
static enum hub_status take_lines(struct line_reader *r, struct hub_buf *buf, bool last,
                                  struct hub_error *err)
{
    size_t at = 0;
    while (at < buf->size) {
        const char *line = buf->data + at, *newline = memchr(line, '\n', buf->size - at);
        if (!newline && !last)
            break;
        const size_t size = newline ? (size_t)(newline - line) : buf->size - at;
        HUB_TRY(take_line(r, (struct hub_view){line, size}, newline != NULL, err));
        at += size + (newline != NULL);
    }
    if (at)
        memmove(buf->data, buf->data + at, buf->size - at);
    buf->size -= at;
    return HUB_OK;
}

/* One list of all objects in place of lines. */
static enum hub_status take_array(const struct lerobot_lines *lines, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *array = NULL;
    struct hub_error why = {0};
    const enum hub_status st = hub_json_file(lines->files, lines->path, NULL, &array, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (lines->sink)
        HUB_TRY(hub_sink_problem(lines->sink, "json-array", hub_view_of(lines->path), err, "%s%s",
                                 "one JSON list, but every line must be an object",
                                 st ? ": it is damaged" : ""));
    for (size_t i = 0; i < json_array_size(array); i++)
        if (json_is_object(json_array_get(array, i)))
            HUB_TRY(lines->line(lines->user, json_array_get(array, i), (uint32_t)i + 1, err));
    return HUB_OK;
}

/* What it begins with: '[' of a list, '{' of an object that goes on in the next line, or neither. */
static char first_sign(struct hub_byte_source *source)
{
    const uint8_t *at;
    size_t got, i = 0;
    if (hub_byte_source_peek(source, 0, 64, &at, &got, NULL))
        return 0;
    while (i < got && (at[i] == ' ' || at[i] == '\n' || at[i] == '\r' || at[i] == '\t'))
        i++;
    if (i < got && at[i] == '[')
        return '[';
    const bool open = i + 1 < got && at[i] == '{' && (at[i + 1] == '\n' || at[i + 1] == '\r');
    return open ? '{' : 0;
}

/* One object of many lines, as the written specification has it. HUB_NOT_FOUND: several, or damaged ones. */
static enum hub_status take_object(const struct lerobot_lines *lines, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *object = NULL;
    struct hub_error why = {0};
    const enum hub_status st = hub_json_file(lines->files, lines->path, NULL, &object, &why);
    if (st)
        return hub_is_local(st) ? HUB_NOT_FOUND : hub_pass(st, &why, err);
    if (lines->sink)
        HUB_TRY(hub_sink_problem(lines->sink, "other-spelling", hub_view_of(lines->path), err,
                                 "one JSON object over many lines, but every line must be an object"));
    return lines->line(lines->user, object, 1, err);
}

enum hub_status hub_lerobot_lines(const struct lerobot_lines *lines, struct hub_error *err)
{
    struct hub_files *files = lines->files;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf buf = HUB_BUF_INIT(MAX_LINE + READ_AHEAD);
    const uint32_t file = hub_files_find(files, lines->path);
    struct hub_byte_source source;
    if (file == HUB_NONE)
        return HUB_OK;
    hub_byte_source_file(&source, files, file);
    struct hub_error why = {0};
    const enum hub_status usable = hub_byte_source_usable(&source, &why);
    if (usable == HUB_CORRUPT || usable == HUB_DENIED) /* it has no lines then: the plan says so */
        return HUB_OK;
    if (usable)
        return hub_fail(err, usable, "%s", why.detail);
    const char sign = first_sign(&source);
    if (sign == '[')
        return take_array(lines, err);
    const enum hub_status whole = sign == '{' ? take_object(lines, err) : HUB_NOT_FOUND;
    if (whole != HUB_NOT_FOUND)
        return whole;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(2 * MAX_LINE);
    struct line_reader r = {lines, 0, &strict};
    size_t got = 1;
    for (uint64_t at = 0; got; at += got) {
        HUB_TRY(hub_buf_reserve(&buf, READ_AHEAD, err));
        HUB_TRY(hub_files_read(files, file, at, buf.data + buf.size, READ_AHEAD, &got, err));
        buf.size += got;
        HUB_TRY(take_lines(&r, &buf, got == 0, err));
    }
    return HUB_OK;
}

/* ---- small readings ---- */

int64_t hub_lerobot_line_episode(const json_t *line)
{
    const json_t *index = json_object_get(line, "episode_index");
    const char *id = hub_lerobot_text(line, "episode_id");
    int64_t n = -1;
    if (json_is_integer(index))
        n = json_integer_value(index);
    else if (id && !integer_at(id, id + strlen(id), &n))
        n = -1;
    return n < 0 ? -1 : n;
}

int64_t hub_lerobot_stated(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    return json_is_number(value) && json_number_value(value) >= 0 ? (int64_t)json_number_value(value) : -1;
}

int64_t hub_lerobot_episode_of(struct hub_view path, const char *extension)
{
    const size_t word = sizeof "episode_" - 1, end = strlen(extension);
    const struct hub_view name = hub_view_behind(path, '/');
    uint64_t n;
    if (!hub_view_starts(name, "episode_") || !hub_view_ends(name, extension) || name.size > word + 12 + end)
        return -1;
    return hub_number_read((struct hub_view){name.data + word, name.size - word - end}, INT64_MAX, &n)
               ? (int64_t)n
               : -1;
}

bool hub_lerobot_is_data(struct hub_view path)
{
    return hub_view_ends(path, ".parquet") && !hub_view_starts(path, "meta/") &&
           !hub_view_starts(path, "videos/");
}

int hub_lerobot_by_file(const void *a, const void *b)
{
    const struct lerobot_file *x = a, *y = b;
    const int order = hub_by_i64(a, b);
    return order ? order : (x->file > y->file) - (x->file < y->file);
}

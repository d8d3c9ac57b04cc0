/* Shards: see shards.h. Addresses with a brace for each run of numbers. */
#include "server/api/datasets/shards.h"

#include "storage/ids/spell.h"
#include "storage/model/format_marks.h"
#include "storage/text/uri.h"

#include <stdlib.h>

enum { MOST_RUNS = 1000 }; /* more are no series: then none are said */

/* A file's name around the last number in it. */
struct shard_name {
    struct hub_view before, digits, behind;
    uint64_t number;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The ending of a name that is one of a shard, or NULL. */
static const char *find_ending(const struct hub_format_traits *format, const char *name)
{
    for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.'))
        for (size_t i = 0; i < HUB_COUNT(format->shards) && format->shards[i]; i++)
            if (hub_mark_fits(format->shards[i], hub_view_of(at), false))
                return at;
    return NULL;
}

static bool read_shard(const struct hub_format_traits *format, const char *path, struct shard_name *out)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
               *end = find_ending(format, name);
    if (!end)
        return false;
    const char *last = end;
    while (last > name && !is_digit(last[-1]))
        last--;
    const char *first = last;
    while (first > name && is_digit(first[-1]) && last - first < 18)
        first--;
    *out = (struct shard_name){.before = {path, (size_t)(first - path)},
                               .digits = {first, (size_t)(last - first)},
                               .behind = hub_view_of(last)};
    for (const char *c = first; c < last; c++)
        out->number = out->number * 10 + (uint64_t)(*c - '0');
    return true;
}

static int compare_views(struct hub_view a, struct hub_view b)
{
    const int order = memcmp(a.data, b.data, HUB_MIN(a.size, b.size));
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int by_series(const void *a, const void *b)
{
    const struct shard_name *x = a, *y = b;
    int order = compare_views(x->before, y->before);
    order = order ? order : compare_views(x->behind, y->behind);
    order = order ? order : (x->number > y->number) - (x->number < y->number);
    return order ? order : compare_views(x->digits, y->digits);
}

/* Numbers of one width, or without zeros before them. */
static bool follows(const struct shard_name *a, const struct shard_name *b)
{
    const bool plain = *a->digits.data != '0' && *b->digits.data != '0';
    return a->digits.size && b->digits.size && (a->digits.size == b->digits.size || plain) &&
           b->number == a->number + 1 && hub_view_equal(a->before, b->before) &&
           hub_view_equal(a->behind, b->behind);
}

static enum hub_status add_encoded(struct hub_view path, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_spell_path(path, &text, err));
    return hub_uri_encode_path(hub_buf_view(&text), out, err);
}

static enum hub_status put_run(struct hub_json *json, const char *id, const struct shard_name *first,
                               const struct shard_name *last, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(256 * KIB);
    HUB_TRY(hub_buf_add_text(&text, "/api/v1/datasets/", err));
    HUB_TRY(hub_uri_encode_path(hub_view_of(id), &text, err));
    HUB_TRY(hub_buf_add_text(&text, "/files/", err));
    HUB_TRY(add_encoded(first->before, &text, err));
    const struct hub_view a = first->digits, b = last->digits;
    if (first == last)
        HUB_TRY(hub_buf_add_view(&text, a, err));
    else
        HUB_TRY(hub_buf_addf(&text, err, "{%.*s..%.*s}", (int)a.size, a.data, (int)b.size, b.data));
    HUB_TRY(add_encoded(first->behind, &text, err));
    hub_json_string(json, hub_buf_view(&text));
    return HUB_OK;
}

/* Where the run that begins at `first` ends. */
static const struct shard_name *end_of_run(const struct shard_name *first, const struct shard_name *end)
{
    while (first + 1 < end && follows(first, first + 1))
        first++;
    return first;
}

enum hub_status hub_shards_write(struct hub_json *json, const struct hub_dataset *dataset,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct shard_name *shards = NULL;
    const struct hub_format_traits *format = hub_format_traits_of(dataset->summary->format);
    uint32_t count = 0, runs = 0;
    if (!format->shards[0])
        return HUB_OK;
    HUB_TRY(hub_new(&shards, dataset->file_count + 1, sizeof *shards, err));
    for (uint32_t i = 0; i < dataset->file_count; i++)
        count += read_shard(format, dataset->files[i].path, &shards[count]);
    const struct shard_name *end = shards + count;
    qsort(shards, count, sizeof *shards, by_series);
    for (const struct shard_name *at = shards; at < end; at = end_of_run(at, end) + 1)
        runs++;
    if (!count || runs > MOST_RUNS)
        return HUB_OK;
    hub_json_put_array(json, "shards");
    for (const struct shard_name *at = shards, *last; at < end; at = last + 1) {
        last = end_of_run(at, end);
        HUB_TRY(put_run(json, dataset->summary->id, at, last, err));
    }
    hub_json_end_array(json);
    return HUB_OK;
}

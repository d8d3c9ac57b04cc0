/* A series of containers, each of them an episode: "episode_12.npz", or "episode_12/NAME.npz" in folders of
 * the same files. They have to hold the same arrays. A small JSON file beside one of the second kind has the
 * episode's attributes. */
#include "storage/formats/generic/generic.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_ATTRIBUTES = 64 * 1024 };

void generic_series_dispose(struct generic_series *s)
{
    free(s->items);
}

/* "episode_012" -> 12; `size` is how much of the name that is. */
static bool read_number(struct hub_view name, int64_t *number, size_t *size)
{
    static const char word[] = "episode";
    size_t at = strlen(word), end;
    if (!hub_view_starts(name, word) || at == name.size)
        return false;
    at += name.data[at] == '_' || name.data[at] == '-';
    for (end = at; end < name.size && name.data[end] >= '0' && name.data[end] <= '9'; end++)
        ;
    *size = end;
    while (at + 1 < end && name.data[at] == '0')
        at++;
    return end > at && hub_numbered((struct hub_view){name.data + at, end - at}, "", number);
}

static struct hub_view behind(struct hub_view path, size_t size)
{
    return (struct hub_view){path.data + size, path.size - size};
}

/* A file of the series has the rest of the first one: ".npz", or "/trajectory.npz". */
static enum hub_status add(struct generic_series *s, struct hub_files *files, uint32_t file,
                           struct hub_error *err)
{
    const struct hub_view path = files->entries[file].path;
    struct generic_item item = {.file = file, .beside = HUB_NONE};
    size_t size;
    if (files->entries[file].directory || !read_number(path, &item.number, &size))
        return HUB_OK;
    const struct hub_view rest = behind(path, size);
    if (!s->count && (*rest.data == '.' || *rest.data == '/'))
        s->container = generic_container_of(files, file);
    if (!s->container || (s->count ? !hub_view_equal(rest, s->rest) : !s->container->alike))
        return HUB_OK;
    item.name = (struct hub_view){path.data, size};
    s->rest = rest;
    HUB_TRY(hub_grow(&s->items, s->count, &s->capacity, sizeof *s->items, err));
    s->items[s->count++] = item;
    return HUB_OK;
}

enum hub_status generic_series_list(struct generic_series *s, struct hub_files *files,
                                    const uint32_t *numbers, uint32_t count, struct hub_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(add(s, files, numbers ? numbers[i] : i, err));
    if (s->count)
        qsort(s->items, s->count, sizeof *s->items, hub_by_i64);
    return HUB_OK;
}

bool generic_series_is_one(const struct generic_series *s, struct hub_files *files)
{
    for (uint32_t i = 1; i < s->count; i++)
        if (s->items[i].number == s->items[i - 1].number)
            return false;
    return s->count > 1 && s->container->alike(files, s->items[0].file, s->items[1].file) &&
           s->container->alike(files, s->items[0].file, s->items[s->count - 1].file);
}

/* Of folders: whether no other file in them is data, so that nothing is hidden. */
bool generic_series_is_all(const struct generic_series *s, const struct hub_files *files)
{
    uint32_t data = 0;
    for (uint32_t i = 0; i < files->count; i++)
        data += !files->entries[i].directory && hub_names_data(files->entries[i].path);
    return data == s->count;
}

/* ---- claims ---- */

static bool is_folder(const struct hub_file_entry *e)
{
    int64_t number;
    size_t size;
    return e->directory && read_number(e->path, &number, &size) && size == e->path.size;
}

/* Folders of episodes, and small files beside them: what is in the folders the plan sees. */
static bool are_folders(const struct hub_files *listing)
{
    uint32_t folders = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        const bool nested = memchr(e->path.data, '/', e->path.size);
        if (!nested && (e->directory ? !is_folder(e) : hub_names_data(e->path)))
            return false;
        folders += !nested && e->directory;
    }
    return folders > 1;
}

bool generic_claim_series(struct hub_files *listing)
{
    HUB_CLEANUP(generic_series_dispose) struct generic_series s = {0};
    for (uint32_t i = 0; i < listing->count; i++)
        if (listing->entries[i].directory)
            return are_folders(listing);
    return !generic_series_list(&s, listing, NULL, listing->count, NULL) &&
           generic_series_is_all(&s, listing) && generic_series_is_one(&s, listing);
}

bool generic_claim_series_files(struct hub_files *listing, struct hub_claim *claim)
{
    HUB_CLEANUP(generic_series_dispose) struct generic_series s = {0};
    if (claim->from || generic_series_list(&s, listing, NULL, listing->count, NULL) || !s.count ||
        memchr(s.rest.data, '/', s.rest.size) || !generic_series_is_one(&s, listing))
        return false;
    for (uint32_t i = 0; i < s.count; i++)
        claim->files[i] = s.items[i].file;
    claim->file_count = s.count;
    snprintf(claim->name, sizeof claim->name, "episode");
    return true;
}

/* ---- plan ---- */

static bool is_of(struct hub_view path, struct hub_view name)
{
    return path.size > name.size && memcmp(path.data, name.data, name.size) == 0 &&
           (path.data[name.size] == '/' || path.data[name.size] == '.');
}

static void look_beside(const struct hub_files *files, struct generic_item *item, uint32_t file,
                        uint32_t *found)
{
    const struct hub_view path = files->entries[file].path;
    if (!is_of(path, item->name) || !hub_view_ends(path, ".json"))
        return;
    item->beside = file;
    ++*found;
}

static bool begins(const struct hub_files *files, uint32_t file, struct hub_view name)
{
    const struct hub_view path = files->entries[file].path;
    return path.size >= name.size && memcmp(path.data, name.data, name.size) == 0;
}

/* The JSON file of an episode, where there is one: files that begin alike lie one behind the other. */
static void find_beside(const struct hub_files *files, struct generic_item *item)
{
    uint32_t found = 0;
    for (uint32_t i = item->file; i-- > 0 && begins(files, i, item->name);)
        look_beside(files, item, i, &found);
    for (uint32_t i = item->file + 1; i < files->count && begins(files, i, item->name); i++)
        look_beside(files, item, i, &found);
    if (found != 1)
        item->beside = HUB_NONE;
}

static enum hub_status send_part(struct generic_item *items, uint32_t count, struct hub_files *files,
                                 struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint32_t *numbers = calloc(2 * (size_t)count, sizeof *numbers);
    uint32_t n = 0;
    HUB_TRY(hub_allocated(numbers, err));
    for (uint32_t i = 0; i < count; i++) {
        find_beside(files, &items[i]);
        numbers[n++] = items[i].file;
        if (items[i].beside != HUB_NONE)
            numbers[n++] = items[i].beside;
    }
    return hub_sink_run(sink, items[0].number, numbers, n, err);
}

enum hub_status generic_plan_series(const struct generic_series *s, struct hub_files *files,
                                    struct hub_sink *sink, struct hub_error *err)
{
    for (uint32_t i = 0, n; i < s->count; i += n) {
        for (n = 1; i + n < s->count && s->items[i + n].number / HUB_RUN == s->items[i].number / HUB_RUN; n++)
            ;
        HUB_TRY(send_part(&s->items[i], n, files, sink, err));
    }
    return HUB_OK;
}

/* ---- inspect ---- */

/* What cannot be used says nothing: the rows are there all the same. */
static enum hub_status read_attributes(struct hub_files *files, const struct generic_item *item,
                                       struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *object = NULL;
    out->size = 0;
    if (item->beside == HUB_NONE)
        return HUB_OK;
    const enum hub_status st = hub_json_object_of(files, item->beside, MAX_ATTRIBUTES, out, &object, err);
    if (st)
        out->size = 0;
    return hub_is_local(st) ? HUB_OK : st;
}

static enum hub_status inspect_one(const struct generic_series *s, const struct generic_item *item,
                                   struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf attributes = HUB_BUF_INIT(MAX_ATTRIBUTES);
    struct hub_error why = {0};
    HUB_TRY(read_attributes(files, item, &attributes, err));
    const struct generic_one one = {item->file, item->number, item->name, hub_buf_view(&attributes)};
    const enum hub_status st = s->container->inspect(files, &one, sink, &why);
    if (!st || !hub_is_local(st))
        return st ? hub_pass(st, &why, err) : HUB_OK;
    return hub_sink_problem(sink, why.problem[0] ? why.problem : "unreadable-episode",
                            files->entries[item->file].path, err, "%s", why.detail);
}

enum hub_status generic_inspect_series(struct hub_files *files, const struct hub_part *part,
                                       struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(generic_series_dispose) struct generic_series s = {0};
    HUB_TRY(generic_series_list(&s, files, part->files, part->file_count, err));
    for (uint32_t i = 0; i < s.count; i++) {
        find_beside(files, &s.items[i]);
        HUB_TRY(inspect_one(&s, &s.items[i], files, sink, err));
        files->close(files, s.items[i].file);
    }
    return s.count ? HUB_OK : hub_fail(err, HUB_CHANGED, "other files than were planned");
}

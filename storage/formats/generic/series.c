/* A series of episodes: "episode_12.npz", or folders "episode_12/" with a file or several of the same names
 * each. They have to hold the same arrays. A small JSON file beside them in a folder has the episode's
 * attributes. */
#include "storage/formats/generic/generic.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_ATTRIBUTES = 64 * 1024 };

void generic_series_dispose(struct generic_series *s)
{
    free(s->items);
    free(s->files);
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

/* What a file that may be one is by its name: the first of that name says it. */
static enum hub_status find_shape(struct generic_series *s, struct hub_files *files, uint32_t file,
                                  struct hub_view rest, uint32_t *shape)
{
    for (*shape = 0; *shape < s->shape_count; ++*shape)
        if (hub_view_equal(s->shapes[*shape].rest, rest))
            return HUB_OK;
    const bool folders = s->shape_count && *s->shapes[0].rest.data == '/';
    const struct generic_container *container = s->names_alone
                                                    ? generic_container_named(files->entries[file].path)
                                                    : generic_container_of(files, file);
    s->many |= folders && container && s->shape_count == GENERIC_MAX_FILES;
    if (!container || !container->alike || s->many || (s->shape_count && (!folders || *rest.data != '/')))
        return HUB_NOT_FOUND;
    struct hub_view prefix = {"", 0};
    if (*rest.data == '/') {
        prefix = behind(rest, 1);
        prefix.size -= strlen(hub_ending_of(rest, container->endings));
    }
    s->shapes[s->shape_count++] = (struct generic_shape){rest, prefix, container};
    return HUB_OK;
}

static enum hub_status add(struct generic_series *s, struct hub_files *files, uint32_t file,
                           struct hub_error *err)
{
    const struct hub_view path = files->entries[file].path;
    struct generic_item item = {.first = s->file_count, .beside = HUB_NONE};
    size_t size;
    uint32_t shape;
    if (files->entries[file].directory || !read_number(path, &item.number, &size) || size == path.size ||
        !strchr("./", path.data[size]) || find_shape(s, files, file, behind(path, size), &shape))
        return HUB_OK;
    item.name = (struct hub_view){path.data, size};
    if (!s->count || !hub_view_equal(s->items[s->count - 1].name, item.name)) {
        HUB_TRY(hub_grow(&s->items, s->count, &s->capacity, sizeof *s->items, err));
        s->items[s->count++] = item;
    }
    s->items[s->count - 1].count++;
    HUB_TRY(hub_grow(&s->files, s->file_count, &s->file_capacity, sizeof *s->files, err));
    s->files[s->file_count++] = (struct generic_file){file, shape};
    return HUB_OK;
}

enum hub_status generic_series_list(struct generic_series *s, struct hub_files *files, struct hub_error *err)
{
    for (uint32_t i = 0; i < files->count; i++)
        HUB_TRY(add(s, files, i, err));
    if (s->count)
        qsort(s->items, s->count, sizeof *s->items, hub_by_i64);
    return HUB_OK;
}

/* Files of the same names that hold the same arrays. */
static bool are_alike(const struct generic_series *s, struct hub_files *files, const struct generic_item *a,
                      const struct generic_item *b)
{
    for (uint32_t i = 0; a->count == b->count && i < a->count; i++) {
        const struct generic_file *one = &s->files[a->first + i], *other = &s->files[b->first + i];
        if (one->shape != other->shape ||
            !s->shapes[one->shape].container->alike(files, one->file, other->file))
            return false;
    }
    return a->count == b->count;
}

/* "a.npz" and "a.parquet" would be fields of the same names. */
static bool have_own_names(const struct generic_series *s)
{
    for (uint32_t i = 0; i < s->shape_count; i++)
        for (uint32_t k = i + 1; k < s->shape_count; k++)
            if (hub_view_equal(s->shapes[i].prefix, s->shapes[k].prefix))
                return false;
    return !s->many;
}

bool generic_series_is_one(const struct generic_series *s, struct hub_files *files)
{
    for (uint32_t i = 1; i < s->count; i++)
        if (s->items[i].number == s->items[i - 1].number)
            return false;
    return s->count > 1 && have_own_names(s) && are_alike(s, files, &s->items[0], &s->items[1]) &&
           are_alike(s, files, &s->items[0], &s->items[s->count - 1]);
}

/* Of folders: whether no other file in them is data, so that nothing is hidden. */
bool generic_series_is_all(const struct generic_series *s, const struct hub_files *files)
{
    uint32_t data = 0;
    for (uint32_t i = 0; i < files->count; i++)
        data += !files->entries[i].directory && hub_names_data(files->entries[i].path);
    return data == s->file_count;
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
    return !generic_series_list(&s, listing, NULL) && generic_series_is_all(&s, listing) &&
           generic_series_is_one(&s, listing);
}

bool generic_claim_series_files(struct hub_files *listing, struct hub_claim *claim)
{
    HUB_CLEANUP(generic_series_dispose) struct generic_series s = {0};
    if (claim->from || generic_series_list(&s, listing, NULL) || !s.count || *s.shapes[0].rest.data == '/' ||
        !generic_series_is_one(&s, listing))
        return false;
    for (uint32_t i = 0; i < s.file_count; i++)
        claim->files[i] = s.files[i].file;
    claim->file_count = s.file_count;
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
static void find_beside(const struct generic_series *s, const struct hub_files *files,
                        struct generic_item *item)
{
    const uint32_t file = s->files[item->first].file;
    uint32_t found = 0;
    for (uint32_t i = file; i-- > 0 && begins(files, i, item->name);)
        look_beside(files, item, i, &found);
    for (uint32_t i = file + 1; i < files->count && begins(files, i, item->name); i++)
        look_beside(files, item, i, &found);
    if (found != 1)
        item->beside = HUB_NONE;
}

static enum hub_status send_part(const struct generic_series *s, struct generic_item *items, uint32_t count,
                                 struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint32_t *numbers = NULL;
    uint32_t n = 0;
    HUB_TRY(hub_new(&numbers, (size_t)count * (s->shape_count + 1), sizeof *numbers, err));
    for (uint32_t i = 0; i < count; i++) {
        find_beside(s, files, &items[i]);
        for (uint32_t k = 0; k < items[i].count; k++)
            numbers[n++] = s->files[items[i].first + k].file;
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
        HUB_TRY(send_part(s, &s->items[i], n, files, sink, err));
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
    struct generic_input inputs[GENERIC_MAX_FILES];
    const struct generic_file *first = &s->files[item->first];
    struct hub_error why = {0};
    HUB_TRY(read_attributes(files, item, &attributes, err));
    for (uint32_t i = 0; i < item->count; i++) {
        const struct generic_shape *shape = &s->shapes[first[i].shape];
        inputs[i] = (struct generic_input){
            .files = files, .sink = sink, .container = shape->container, .file = first[i].file};
        if (s->shape_count > 1)
            inputs[i].prefix = shape->prefix;
    }
    const struct generic_one one = {first->file, item->number, item->name, hub_buf_view(&attributes)};
    const enum hub_status st = generic_inspect_episode(inputs, item->count, &one, &why);
    if (!st || !hub_is_local(st))
        return st ? hub_pass(st, &why, err) : HUB_OK;
    return hub_sink_problem(sink, hub_problem_name_or(why.problem, "unreadable-episode"),
                            files->entries[first->file].path, err, "%s", why.detail);
}

static void close_files(const struct generic_series *s, const struct generic_item *item,
                        struct hub_files *files)
{
    for (uint32_t i = 0; i < item->count; i++)
        files->close(files, s->files[item->first + i].file);
}

/* What the series is, all its files say; the part has some of its episodes. */
enum hub_status generic_inspect_series(struct hub_files *files, const struct hub_part *part,
                                       struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(generic_series_dispose) struct generic_series s = {.names_alone = true};
    HUB_CLEANUP(hub_freep) bool *here = NULL;
    uint32_t found = 0;
    HUB_TRY(hub_new(&here, files->count, sizeof *here, err));
    for (uint32_t i = 0; i < part->file_count; i++)
        here[part->files[i]] = true;
    HUB_TRY(generic_series_list(&s, files, err));
    for (uint32_t i = 0; i < s.count; i++) {
        if (!here[s.files[s.items[i].first].file])
            continue;
        find_beside(&s, files, &s.items[i]);
        HUB_TRY(inspect_one(&s, &s.items[i], files, sink, err));
        close_files(&s, &s.items[i], files);
        found++;
    }
    return found ? HUB_OK : hub_fail(err, HUB_CHANGED, "other files than were planned");
}

/* See sets.h. */
#include "server/api/pushes/sets.h"

#include "storage/transfer/spaces.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_SETS = 10000 };

struct finding {
    struct hub_push_sets *sets;
    uint64_t files;
};

void hub_push_sets_dispose(struct hub_push_sets *sets)
{
    for (uint32_t i = 0; i < sets->count; i++)
        free(sets->items[i].begins);
    free(sets->items);
    *sets = (struct hub_push_sets){0};
}

static enum hub_status add_set(struct hub_push_sets *sets, const char *begins, size_t size,
                               struct hub_error *err)
{
    const char *last = sets->count ? sets->items[sets->count - 1].begins : NULL;
    if (last && strlen(last) == size && memcmp(last, begins, size) == 0)
        return HUB_OK; /* the other file of the same dataset */
    if (sets->count == MOST_SETS)
        return hub_fail(err, HUB_TOO_BIG, "a repo has at most %d datasets", MOST_SETS);
    HUB_TRY(hub_grow(&sets->items, sets->count, &sets->capacity, sizeof *sets->items, err));
    sets->items[sets->count].begins = strndup(begins, size);
    HUB_TRY(hub_allocated(sets->items[sets->count].begins, err));
    sets->count++;
    return HUB_OK;
}

/* Minari's datasets have one of these files, or both; its namespaces are the folders above. */
static enum hub_status look_at(void *user, const struct hub_push_file *file, struct hub_error *err)
{
    static const char *const marks[] = {"/data/main_data.hdf5", "/data/metadata.json"};
    struct finding *f = user;
    const size_t size = strlen(file->path);
    f->files += !hub_view_is(hub_view_behind(hub_view_of(file->path), '/'), hub_space_file);
    for (size_t i = 0; i < HUB_COUNT(marks); i++) {
        const size_t mark = strlen(marks[i]);
        if (size > mark && strcmp(file->path + size - mark, marks[i]) == 0)
            return add_set(f->sets, file->path, size - mark + 1, err);
    }
    return HUB_OK;
}

char *hub_push_set_id(const char *repo, const struct hub_push_set *set)
{
    char *id = NULL;
    const size_t size = strlen(set->begins);
    if (asprintf(&id, "%s%s%.*s", repo, size ? "/" : "", (int)(size ? size - 1 : 0), set->begins) < 0)
        return NULL;
    return id;
}

enum hub_status hub_push_sets_find(struct hub_truth *truth, const struct hub_push *push,
                                   struct hub_push_sets *out, struct hub_error *err)
{
    struct finding f = {.sets = out};
    HUB_TRY(hub_push_files_each(truth, push, "", "", look_at, &f, err));
    return out->count || !f.files ? HUB_OK : add_set(out, "", 0, err);
}

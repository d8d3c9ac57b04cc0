/* .npy files, one field "array"; .npz archives, a field a member. */
#include "storage/formats/generic/generic.h"
#include "storage/formats/kit/array.h"

#include <stdlib.h>

static bool is_npy(const uint8_t *head, size_t size)
{
    return size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static enum hub_status inspect_npy(struct hub_files *files, const struct generic_one *one,
                                   struct hub_sink *sink, struct hub_error *err)
{
    const struct hub_view path = HUB_VIEW("array");
    struct hub_source source;
    struct hub_npy npy = {0};
    struct hub_error why = {0};
    uint32_t index, file = one->file;
    hub_source_file(&source, files, one->file);
    enum hub_status st = hub_npy_read(&source, 0, source.size, &npy, &why);
    if (st == HUB_UNSUPPORTED && npy.utf32)
        st = hub_npy_texts(files, &source, &npy, &file, &why);
    if (st && st != HUB_UNSUPPORTED && !(npy.utf32 && hub_is_local(st)))
        return hub_pass(st, &why, err);
    const uint64_t steps = !st && npy.rank ? npy.shape[0] : 0;
    HUB_TRY(generic_episode(sink, one, steps, &index, err));
    return st ? hub_tell_unreadable(sink, path, index, why.detail, err)
              : hub_npy_place(sink, path, &npy, file, index, steps, err);
}

/* ---- archives ---- */

static uint64_t steps_of(const struct hub_npz *npz)
{
    struct hub_row_vote votes[HUB_MAX_FIELDS];
    size_t count = 0;
    for (uint32_t i = 0; i < npz->count && count < HUB_COUNT(votes); i++) {
        const struct hub_npy *npy = &npz->arrays[i].npy;
        if (!npz->arrays[i].reason[0] && npy->rank)
            votes[count++] = hub_row_vote_of(&npy->item, npy->shape, npy->rank);
    }
    return hub_common_rows(votes, count);
}

static enum hub_status inspect_npz(struct hub_files *files, const struct generic_one *one,
                                   struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_npz_dispose) struct hub_npz npz = {0};
    uint32_t index;
    HUB_TRY(hub_npz_open(&npz, files, one->file, err));
    const uint64_t steps = steps_of(&npz);
    HUB_TRY(generic_episode(sink, one, steps, &index, err));
    for (uint32_t i = 0; i < npz.count; i++) {
        const struct hub_npz_array *a = &npz.arrays[i];
        HUB_TRY(a->reason[0] ? hub_tell_unreadable(sink, a->path, index, a->reason, err)
                             : hub_npy_place(sink, a->path, &a->npy, a->file, index, steps, err));
    }
    return hub_npz_tell(&npz, sink, err);
}

/* Their directories have the same names. */
static bool alike_npz(struct hub_files *files, uint32_t a, uint32_t b)
{
    HUB_CLEANUP(hub_zip_dispose) struct hub_zip one = {0}, other = {0};
    struct hub_source sources[2];
    hub_source_file(&sources[0], files, a);
    hub_source_file(&sources[1], files, b);
    if (hub_zip_read(&one, &sources[0], NULL) || hub_zip_read(&other, &sources[1], NULL) ||
        one.count != other.count)
        return false;
    for (uint32_t i = 0; i < one.count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < other.count && !found; k++)
            found = hub_view_equal(one.members[i].name, other.members[(i + k) % other.count].name);
        if (!found)
            return false;
    }
    return true;
}

static const char *const npy_endings[] = {".npy", NULL}, *const npz_endings[] = {".npz", NULL};
const struct generic_container generic_npy = {npy_endings, is_npy, NULL, inspect_npy, NULL, NULL};
const struct generic_container generic_npz = {npz_endings, hub_zip_is, NULL, inspect_npz, NULL, alike_npz};

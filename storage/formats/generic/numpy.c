/* .npy files, one field "array"; .npz archives, a field a member. */
#include "storage/formats/generic/generic.h"
#include "storage/formats/kit/array.h"

#include <stdlib.h>

static bool is_npy(const uint8_t *head, size_t size)
{
    return size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static enum hub_status inspect_npy(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    const struct hub_view path = HUB_VIEW("array");
    struct hub_source source;
    struct hub_npy npy = {0};
    struct hub_error why = {0};
    uint32_t index, file = 0;
    hub_source_file(&source, files, 0);
    enum hub_status st = hub_npy_read(&source, 0, source.size, &npy, &why);
    if (st == HUB_UNSUPPORTED && npy.utf32)
        st = hub_npy_texts(files, &source, &npy, &file, &why);
    if (st && st != HUB_UNSUPPORTED && !(npy.utf32 && hub_is_local(st)))
        return hub_pass(st, &why, err);
    const uint64_t steps = !st && npy.rank ? npy.shape[0] : 0;
    HUB_TRY(generic_episode(sink, steps, &index, err));
    return st ? hub_tell_unreadable(sink, path, index, why.detail, err)
              : hub_npy_place(sink, path, &npy, file, index, steps, err);
}

/* ---- archives ---- */

static uint64_t steps_of(const struct hub_npz *npz)
{
    uint64_t rows[HUB_MAX_FIELDS];
    size_t count = 0;
    for (uint32_t i = 0; i < npz->count && count < HUB_COUNT(rows); i++)
        if (!npz->arrays[i].reason[0] && npz->arrays[i].npy.rank)
            rows[count++] = npz->arrays[i].npy.shape[0];
    return hub_common_rows(rows, count);
}

static enum hub_status inspect_npz(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_npz_dispose) struct hub_npz npz = {0};
    uint32_t index;
    HUB_TRY(hub_npz_open(&npz, files, 0, err));
    const uint64_t steps = steps_of(&npz);
    HUB_TRY(generic_episode(sink, steps, &index, err));
    for (uint32_t i = 0; i < npz.count; i++) {
        const struct hub_npz_array *a = &npz.arrays[i];
        HUB_TRY(a->reason[0] ? hub_tell_unreadable(sink, a->path, index, a->reason, err)
                             : hub_npy_place(sink, a->path, &a->npy, a->file, index, steps, err));
    }
    return hub_npz_tell(&npz, sink, err);
}

static const char *const npy_endings[] = {".npy", NULL}, *const npz_endings[] = {".npz", NULL};
const struct generic_container generic_npy = {npy_endings, is_npy, NULL, inspect_npy, NULL};
const struct generic_container generic_npz = {npz_endings, hub_zip_is, NULL, inspect_npz, NULL};

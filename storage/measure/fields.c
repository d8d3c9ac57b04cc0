/* What is kept of the fields of a part: names, shapes and folds, one behind the other. */
#include "storage/base/pack.h"
#include "storage/measure/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum hub_status hub_measured_field_pack(const struct hub_measured_field *f, struct hub_buf *out,
                                        struct hub_error *err)
{
    HUB_TRY(hub_pack_text(out, f->path, err));
    HUB_TRY(hub_pack_uint(out, f->type, err));
    HUB_TRY(hub_pack_uint(out, f->role, err));
    HUB_TRY(hub_pack_text(out, f->why, err));
    HUB_TRY(hub_pack_uint(out, f->episodes, err));
    HUB_TRY(hub_pack_uint(out, f->dims, err));
    HUB_TRY(hub_buf_add(out, &f->variant, sizeof f->variant, err));
    return hub_buf_add(out, f->folds, f->dims * sizeof *f->folds, err);
}

static bool take_text(struct hub_cursor *c, char *out, size_t size)
{
    const struct hub_view text = hub_unpack_view(c);
    return !c->failed && snprintf(out, size, "%.*s", (int)text.size, text.data) < (int)size;
}

bool hub_measured_field_unpack(struct hub_cursor *c, struct hub_measured_field *out, char path[4096])
{
    *out = (struct hub_measured_field){.path = path};
    if (c->failed || !hub_cursor_left(c) || !take_text(c, path, 4096))
        return false;
    out->type = (enum hub_field_type)hub_unpack_u32(c);
    out->role = (enum hub_role)hub_unpack_u32(c);
    if (!take_text(c, out->why, sizeof out->why))
        return false;
    out->episodes = hub_unpack_u32(c);
    out->dims = hub_unpack_u32(c);
    const void *variant = hub_cursor_bytes(c, sizeof out->variant);
    const void *folds =
        out->dims <= HUB_MEASURE_DIMS ? hub_cursor_bytes(c, out->dims * sizeof *out->folds) : NULL;
    if (c->failed || !variant || (out->dims && !folds))
        return false;
    memcpy(&out->variant, variant, sizeof out->variant);
    out->folds = malloc(out->dims * sizeof *out->folds + 1);
    if (!out->folds)
        return false;
    memcpy(out->folds, folds, out->dims * sizeof *out->folds);
    return true;
}

bool hub_measured_field_merge(struct hub_measured_field *into, const struct hub_measured_field *of)
{
    if (into->dims != of->dims || hub_numbers_wide(&into->variant) != hub_numbers_wide(&of->variant))
        return false;
    into->episodes += of->episodes;
    for (uint32_t d = 0; d < of->dims; d++)
        hub_fold_merge(&into->folds[d], &of->folds[d]);
    if (!into->why[0])
        memcpy(into->why, of->why, sizeof into->why);
    return true;
}

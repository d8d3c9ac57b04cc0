/*
 * Members of a shard that hold several values: .npz archives, pickles, arrays of objects, each of them
 * packed by gzip or not. In a plain shard their arrays are fields of the sample. Where they are whole
 * demonstrations (the dictionaries of obs, next_obs, acts, dones and infos that il-representations
 * converts) each member is one episode or several, cut where dones is true.
 */
#include "storage/formats/il/il.h"
#include "storage/formats/webdataset/webdataset.h"

#include <stdio.h>
#include <stdlib.h>

/* The last extension, but for .gz. */
static bool is_kind(struct hub_view field, const char *const *kinds)
{
    if (hub_view_ends(field, ".gz"))
        field.size -= 3;
    const struct hub_view last = hub_view_behind(field, '.');
    for (; *kinds; kinds++)
        if (hub_view_is(last, *kinds))
            return true;
    return false;
}

static bool is_pickle(struct hub_view field)
{
    static const char *const kinds[] = {"pkl", "pickle", NULL};
    return is_kind(field, kinds);
}

static bool is_npz(struct hub_view field)
{
    static const char *const kinds[] = {"npz", NULL};
    return is_kind(field, kinds);
}

bool hub_wds_is_container(struct hub_view field)
{
    return is_pickle(field) || is_npz(field);
}

bool hub_wds_is_npy(struct hub_view field)
{
    static const char *const kinds[] = {"npy", NULL};
    return is_kind(field, kinds);
}

/* A member as it is unpacked: all that is read of it lies in `source`, which ends with it. */
struct opened_member {
    struct hub_byte_source source;
    struct hub_tar_member member;
};

static enum hub_status open_member(const struct hub_wds_container *c, struct opened_member *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(0);
    struct hub_packed packed = {.source = c->source, .offset = c->member->offset, .size = c->member->size};
    struct hub_inflated unpacked;
    const uint8_t *magic;
    size_t got;
    out->member = *c->member;
    out->source = *c->source;
    if (!hub_view_ends(c->field, ".gz")) {
        out->source.size = out->member.offset + out->member.size;
        out->source.window_size = 0;
        return HUB_OK;
    }
    HUB_TRY(hub_byte_source_peek(c->source, c->member->offset, 4, &magic, &got, err));
    packed.packing = hub_packing_of(magic, got);
    if (packed.packing != HUB_PACKED_GZIP)
        return hub_fail(err, HUB_CORRUPT, "it is not compressed by gzip");
    HUB_TRY(hub_unpack(&packed, c->files, &head, &unpacked, err));
    out->member.offset = unpacked.offset;
    out->member.size = unpacked.size;
    hub_byte_source_side(&out->source, c->files, unpacked.offset + unpacked.size);
    return HUB_OK;
}

/* ---- fields of a sample ---- */

/* The pickle behind the header of an array of objects. */
static enum hub_status give_objects(const struct hub_wds_container *c, struct hub_byte_source *source,
                                    struct hub_view path, const struct hub_npy *npy, struct hub_error *err)
{
    struct hub_tar_member at = {.offset = npy->data_offset, .size = npy->data_bytes};
    struct hub_wds_pickled pickled = {c->columns, c->files, source, c->pickle, c->row, &at, true};
    return hub_wds_pickle_values(&pickled, path, err);
}

static enum hub_status give_array(const struct hub_wds_container *c, struct opened_member *m,
                                  struct hub_view path, const struct hub_npz_array *a, struct hub_error *err)
{
    struct hub_wds_column *column;
    struct hub_wds_value value;
    struct hub_byte_source side;
    struct hub_error why = {0};
    if (a->npy.objects) {
        hub_byte_source_side(&side, c->files, a->npy.data_offset + a->npy.data_bytes);
        const enum hub_status st =
            give_objects(c, a->file == HUB_SIDE_FILE ? &side : &m->source, path, &a->npy, &why);
        if (!hub_is_local(st))
            return st ? hub_pass(st, &why, err) : HUB_OK;
    }
    HUB_TRY(hub_wds_column(c->columns, path, c->row, &column, err));
    if (a->npy.objects || a->reason[0]) {
        hub_wds_spoil(column, "%.150s", a->npy.objects ? why.detail : a->reason);
        return HUB_OK;
    }
    const enum hub_status st = hub_wds_npy_value(&a->npy, a->file, &value, &why);
    if (!st)
        return hub_wds_give(c->columns, column, c->row, &value, err);
    hub_wds_spoil(column, "%.150s", why.detail);
    return hub_is_local(st) ? HUB_OK : hub_pass(st, &why, err);
}

static enum hub_status give_arrays(const struct hub_wds_container *c, struct opened_member *m,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_npz_reader_dispose) struct hub_npz_reader npz = {.source = m->source};
    HUB_TRY(hub_npz_reader_read(&npz, c->files, m->member.offset, err));
    HUB_TRY(hub_npz_reader_report_unchecked(&npz, c->sink, err));
    for (uint32_t i = 0; i < npz.count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(2 * HUB_TAR_MAX_NAME);
        HUB_TRY(hub_buf_add_view(&path, c->field, err));
        HUB_TRY(hub_buf_add_text(&path, "/", err));
        if (npz.arrays[i].path.size > HUB_TAR_MAX_NAME)
            continue; /* not a name */
        HUB_TRY(hub_buf_add_view(&path, npz.arrays[i].path, err));
        HUB_TRY(give_array(c, m, hub_buf_view(&path), &npz.arrays[i], err));
    }
    return HUB_OK;
}

static enum hub_status give_npy(const struct hub_wds_container *c, struct opened_member *m,
                                struct hub_error *err)
{
    struct hub_npz_array a = {.file = m->source.number};
    struct hub_error why = {0};
    enum hub_status st = hub_npy_read(&m->source, m->member.offset, m->member.size, &a.npy, &why);
    if (st == HUB_UNSUPPORTED && a.npy.utf32)
        st = hub_npy_texts(c->files, &m->source, &a.npy, &a.file, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st)
        snprintf(a.reason, sizeof a.reason, "%.100s", why.detail);
    return give_array(c, m, c->field, &a, err);
}

enum hub_status hub_wds_give_container(const struct hub_wds_container *c, struct hub_error *err)
{
    struct opened_member m;
    HUB_TRY(open_member(c, &m, err));
    if (hub_wds_is_npy(c->field))
        return give_npy(c, &m, err);
    if (is_npz(c->field))
        return give_arrays(c, &m, err);
    struct hub_wds_pickled pickled = {c->columns, c->files, &m.source, c->pickle, c->row, &m.member, true};
    return hub_wds_pickle_values(&pickled, c->field, err);
}

/* ---- demonstrations ---- */

static void dispose_file(struct il_file *f)
{
    hub_pickle_dispose(&f->pickle);
}

static enum hub_status report_pickle(const struct hub_wds_container *c, struct hub_byte_source *source,
                                     uint64_t offset, uint64_t size, uint32_t *episodes,
                                     struct hub_error *err)
{
    HUB_CLEANUP(dispose_file)
    struct il_file f = {
        .files = c->files, .sink = c->sink, .number = c->file, .name = c->key, .source = *source};
    hub_pickle_init(&f.pickle);
    HUB_TRY(hub_pickle_read(&f.pickle, &f.source, offset, size, err));
    const struct il_demos demos = il_demos_of(&f.pickle);
    return demos.era ? il_demos_report(&f, &demos, episodes, err) : HUB_OK;
}

static const struct hub_npz_array *array_of(const struct hub_npz_reader *npz, const char *name,
                                            const char *other)
{
    for (uint32_t i = 0; i < npz->count; i++)
        if (hub_view_is(npz->arrays[i].path, name) || hub_view_is(npz->arrays[i].path, other))
            return &npz->arrays[i];
    return NULL;
}

static bool has_rows(const struct hub_npz_array *a)
{
    return a && !a->reason[0] && a->npy.rank > 0;
}

/* Arrays of numbers, the steps of episodes one after another. */
struct dict {
    const struct hub_wds_container *c;
    struct hub_npz_reader *npz;
    uint64_t steps;
    struct hub_window *windows;
    uint32_t count;
};

static enum hub_status add_episode(struct dict *d, uint64_t first, uint64_t end, struct hub_error *err)
{
    char name[232];
    snprintf(name, sizeof name, "%.*s/%u", (int)HUB_MIN(d->c->key.size, 200), d->c->key.data, d->count);
    const struct hub_episode e = hub_episode_of(hub_view_of(name), d->c->file, end - first);
    struct hub_window *w = &d->windows[d->count];
    *w = (struct hub_window){.first = first, .count = end - first};
    HUB_TRY(hub_sink_episode(d->c->sink, &e, &w->episode, err));
    d->count++;
    return HUB_OK;
}

/* Cut behind each step that is done; without such an array, or where its items are no single numbers, the
 * member is one episode. */
static enum hub_status cut_episodes(struct dict *d, struct hub_error *err)
{
    const struct hub_npz_array *dones = array_of(d->npz, "dones", "terminals");
    uint64_t first = 0;
    struct hub_variant v = {0};
    const bool known = has_rows(dones) && dones->npy.rank == 1 && dones->npy.shape[0] >= d->steps &&
                       dones->npy.item.item_size <= 8;
    struct hub_byte_source *source = &d->npz->source, side;
    if (known && dones->file == HUB_SIDE_FILE) {
        hub_byte_source_side(&side, d->c->files, dones->npy.data_offset + dones->npy.data_bytes);
        source = &side;
    }
    if (known)
        v = dones->npy.item;
    for (uint64_t i = 0; known && i < d->steps; i++) {
        const uint8_t *at;
        size_t got;
        HUB_TRY(hub_byte_source_peek(source, dones->npy.data_offset + i * v.item_size, v.item_size, &at, &got,
                                     err));
        if (got < v.item_size || hub_variant_scalar(&v, at).real == 0)
            continue;
        HUB_TRY(add_episode(d, first, i + 1, err));
        first = i + 1;
    }
    return first < d->steps || d->count == 0 ? add_episode(d, first, d->steps, err) : HUB_OK;
}

static enum hub_status refuse(const struct dict *d, struct hub_view path, const char *why,
                              struct hub_error *err)
{
    for (uint32_t i = 0; i < d->count; i++)
        HUB_TRY(hub_report_unreadable(d->c->sink, path, d->windows[i].episode, why, err));
    return HUB_OK;
}

/* Rows of each episode; `later`: those one step on. */
static enum hub_status lay_out(const struct dict *d, struct hub_view path, const struct hub_npz_array *a,
                               unsigned later, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_window *windows = calloc((size_t)d->count + 1, sizeof *windows);
    HUB_TRY(hub_allocated(windows, err));
    for (uint32_t i = 0; i < d->count; i++) {
        windows[i] = d->windows[i];
        windows[i].first += later;
    }
    struct hub_npz_array array = *a;
    array.path = path;
    return hub_npz_reader_cut(d->c->sink, &array, HUB_AXIS_STEP, windows, d->count, err);
}

static enum hub_status lay_out_array(const struct dict *d, const struct hub_npz_array *a,
                                     struct hub_error *err)
{
    if (a->npy.objects)
        return il_objects_lay_out(d->c->files, d->c->sink,
                                  &(struct il_objects){d->npz, a, d->windows, d->count, d->steps}, err);
    if (a->reason[0])
        return refuse(d, a->path, a->reason, err);
    if (!has_rows(a) || a->npy.shape[0] < d->steps)
        return refuse(d, a->path, "no row for every step", err);
    return lay_out(d, a->path, a, 0, err);
}

/* As many transitions as actions; without next_obs one fewer than observations. */
static enum hub_status report_dict(const struct hub_wds_container *c, struct hub_npz_reader *npz,
                                   uint32_t *episodes, struct hub_error *err)
{
    struct dict d = {.c = c, .npz = npz};
    const struct hub_npz_array *obs = array_of(npz, "obs", "states"),
                               *acts = array_of(npz, "acts", "actions"),
                               *next = array_of(npz, "next_obs", "next_states");
    if (!has_rows(obs) || !has_rows(acts) || obs->npy.shape[0] < acts->npy.shape[0] ||
        obs->npy.shape[0] - acts->npy.shape[0] > 1 || acts->npy.shape[0] > WDS_MAX_SAMPLES)
        return HUB_OK;
    d.steps = acts->npy.shape[0];
    HUB_CLEANUP(hub_freep) struct hub_window *windows = calloc((size_t)d.steps + 1, sizeof *windows);
    HUB_TRY(hub_allocated(windows, err));
    d.windows = windows;
    const enum hub_status st = cut_episodes(&d, err);
    *episodes = d.count;
    if (st)
        return st;
    for (uint32_t i = 0; i < npz->count; i++)
        HUB_TRY(lay_out_array(&d, &npz->arrays[i], err));
    return !next && obs->npy.shape[0] > d.steps ? lay_out(&d, HUB_VIEW("next_obs"), obs, 1, err) : HUB_OK;
}

enum hub_status hub_wds_report_demos(const struct hub_wds_container *c, uint32_t *episodes,
                                     struct hub_error *err)
{
    struct opened_member m;
    *episodes = 0;
    HUB_TRY(open_member(c, &m, err));
    if (!is_npz(c->field))
        return report_pickle(c, &m.source, m.member.offset, m.member.size, episodes, err);
    HUB_CLEANUP(hub_npz_reader_dispose) struct hub_npz_reader npz = {.source = m.source};
    HUB_TRY(hub_npz_reader_read(&npz, c->files, m.member.offset, err));
    HUB_TRY(hub_npz_reader_report_unchecked(&npz, c->sink, err));
    const struct hub_npz_array *only = npz.count == 1 ? &npz.arrays[0] : NULL;
    if (!only || !only->npy.objects)
        return report_dict(c, &npz, episodes, err);
    if (only->file == HUB_SIDE_FILE)
        hub_byte_source_side(&m.source, c->files, only->npy.data_offset + only->npy.data_bytes);
    return report_pickle(c, &m.source, only->npy.data_offset, only->npy.data_bytes, episodes, err);
}

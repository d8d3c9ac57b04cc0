/* The rows of D4RL as arrays of one .npz: observations, actions, rewards, and flags where episodes end, which
 * are called terminals and timeouts, or dones where nobody says why. Problems: as of d4rl.c, repeated-member,
 * not-an-array. */
#include "storage/formats/d4rl/d4rl.h"
#include "storage/formats/kit/array.h"

#include <stdlib.h>

enum { SLAB_ROWS = 32 * 1024 };

static const struct {
    const char *name;
    uint8_t mark;
} flags[] = {{"terminals", D4RL_TERMINAL}, {"timeouts", D4RL_TIMEOUT}, {"dones", D4RL_DONE}};

/* ---- claim ---- */

static bool has(const struct hub_zip *zip, const char *name)
{
    for (uint32_t i = 0; i < zip->count; i++) {
        const struct hub_view member = zip->members[i].name;
        if (hub_view_ends(member, ".npy") &&
            hub_view_is((struct hub_view){member.data, member.size - 4}, name))
            return true;
    }
    return false;
}

bool d4rl_npz_claim(struct hub_files *files, uint32_t number)
{
    HUB_CLEANUP(hub_zip_dispose) struct hub_zip zip = {0};
    struct hub_byte_source source;
    const uint8_t *head;
    size_t got;
    bool ends = false;
    hub_byte_source_file(&source, files, number);
    if (hub_byte_source_peek(&source, 0, 4, &head, &got, NULL) || !hub_zip_is(head, got) ||
        hub_zip_read(&zip, &source, NULL))
        return false;
    for (size_t i = 0; i < HUB_COUNT(flags); i++)
        ends = ends || has(&zip, flags[i].name);
    return ends && has(&zip, "observations") && has(&zip, "actions") && has(&zip, "rewards");
}

bool d4rl_npz_is(const struct hub_files *files)
{
    return files->count == 1 && hub_view_ends(files->entries[0].path, ".npz");
}

enum hub_status d4rl_npz_plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    static const uint32_t first = 0;
    HUB_TRY(hub_files_usable(files, 0, err));
    return hub_sink_part(sink, &(struct hub_part){files->entries[0].path, &first, 1, HUB_VIEW("")}, err);
}

/* ---- numbers ---- */

struct flat {
    struct hub_files *files;
    struct hub_sink *sink;
    struct hub_npz_reader npz;
    struct d4rl_cuts c;
};

static void dispose(struct flat *f)
{
    hub_npz_reader_dispose(&f->npz);
    d4rl_cuts_dispose(&f->c);
}

static const struct hub_npz_array *find(const struct flat *f, const char *name)
{
    for (uint32_t i = 0; i < f->npz.count; i++)
        if (hub_view_is(f->npz.arrays[i].path, name))
            return &f->npz.arrays[i];
    return NULL;
}

static void source_of(const struct flat *f, const struct hub_npz_array *a, struct hub_byte_source *out)
{
    if (a->file == HUB_SIDE_FILE)
        hub_byte_source_side(out, f->files, a->npy.data_offset + a->npy.data_bytes);
    else
        hub_byte_source_file(out, f->files, a->file);
}

/* One number a row, (T,) or (T,1). */
static bool is_column(const struct hub_npz_array *a)
{
    return a && !a->reason[0] && a->npy.item.item_size <= 8 &&
           (a->npy.rank == 1 || (a->npy.rank == 2 && a->npy.shape[1] == 1));
}

/* False: it is no such column, or cannot be read. */
static bool each(const struct flat *f, const char *name, void (*take)(void *cuts, double value),
                 struct d4rl_cuts *cuts)
{
    const struct hub_npz_array *a = find(f, name);
    struct hub_byte_source source;
    if (!is_column(a))
        return false;
    const size_t item = a->npy.item.item_size;
    const uint64_t rows = hub_npy_rows(&a->npy);
    HUB_CLEANUP(hub_freep) uint8_t *bytes = malloc(SLAB_ROWS * item);
    source_of(f, a, &source);
    for (uint64_t first = 0, n; bytes && first < rows; first += n) {
        n = HUB_MIN(rows - first, (uint64_t)SLAB_ROWS);
        if (hub_byte_source_read(&source, a->npy.data_offset + first * item, bytes, (size_t)n * item, NULL))
            return false;
        for (uint64_t i = 0; i < n; i++)
            take(cuts, hub_variant_scalar(&a->npy.item, bytes + i * item).real);
    }
    return bytes;
}

/* ---- where episodes end ---- */

static enum hub_status find_ends(struct flat *f, struct hub_error *err)
{
    bool good[HUB_COUNT(flags)];
    for (size_t i = 0; i < HUB_COUNT(flags); i++) {
        d4rl_flags_begin(&f->c, flags[i].mark);
        const bool read = each(f, flags[i].name, d4rl_take_flag, &f->c);
        good[i] = d4rl_flags_end(&f->c, read);
        if (!good[i] && find(f, flags[i].name))
            HUB_TRY(d4rl_report_flags(&f->c, f->sink, flags[i].name, err));
    }
    f->c.terminals = good[0];
    f->c.timeouts = good[1];
    return good[1] || good[2] || !f->c.rows ? HUB_OK : d4rl_report_unknown(&f->c, f->sink, err);
}

/* ---- the episodes ---- */

static enum hub_status send_array(const struct flat *f, const struct hub_npz_array *a,
                                  struct hub_window *windows, struct hub_error *err)
{
    const uint64_t rows = a->reason[0] ? 0 : hub_npy_rows(&a->npy);
    const bool steps = rows == f->c.rows && a->npy.rank;
    const bool states = rows == f->c.rows + 1 && a->npy.rank && f->c.count == 1;
    const enum hub_axis axis = steps ? HUB_AXIS_STEP : states ? HUB_AXIS_STATE : HUB_AXIS_NONE;
    for (uint32_t i = 0; i < f->c.count; i++) {
        const struct hub_h5_cut *cut = &f->c.cuts[i];
        windows[i] = (struct hub_window){
            .episode = cut->episode, .first = steps ? cut->first : 0, .count = steps ? cut->count : rows};
        if (a->reason[0])
            HUB_TRY(hub_report_unreadable(f->sink, a->path, cut->episode, a->reason, err));
    }
    return a->reason[0] ? HUB_OK : hub_npz_reader_cut(f->sink, a, axis, windows, f->c.count, err);
}

enum hub_status d4rl_npz_inspect(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct flat f = {.files = files, .sink = sink};
    HUB_CLEANUP(hub_freep) struct hub_window *windows = NULL;
    HUB_TRY(hub_npz_reader_open(&f.npz, files, 0, err));
    const struct hub_npz_array *actions = find(&f, "actions");
    if (!actions || actions->reason[0] || !actions->npy.rank)
        return hub_fail(err, HUB_CORRUPT, "actions cannot be read: %s",
                        actions ? actions->reason : "they are missing");
    f.c.rows = hub_npy_rows(&actions->npy);
    HUB_TRY(d4rl_cuts_begin(&f.c, err));
    HUB_TRY(find_ends(&f, err));
    HUB_TRY(d4rl_cut_rows(&f.c, sink, err));
    const bool read = each(&f, "rewards", d4rl_take_reward, &f.c);
    HUB_TRY(d4rl_report(&f.c, read, sink, err));
    HUB_TRY(hub_new(&windows, (size_t)f.c.count + 1, sizeof *windows, err));
    for (uint32_t i = 0; i < f.npz.count; i++)
        HUB_TRY(send_array(&f, &f.npz.arrays[i], windows, err));
    return hub_npz_reader_report(&f.npz, sink, err);
}

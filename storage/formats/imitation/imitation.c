/*
 * Trajectories as imitation wrote them before release 0.4 (imitation.data.types.save): one .npz with the
 * rows of all trajectories behind each other, obs, acts, infos and rews, where indices says they are split;
 * obs has one row more in each; terminal has one value a trajectory. infos are Python objects: they are
 * named and not read. Later releases write folders of the library datasets: datasets/, and pushed.c where
 * they were pushed to a hub. A list of its Trajectory objects in a pickle, as its tests and scripts keep,
 * is read by il/, which knows them.
 *
 * Problems: rows-differ, repeated-member, not-an-array, not-checked.
 */
#include "storage/formats/imitation/imitation.h"

#include "storage/formats/il/il.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const endings[] = {".npz", ".pkl", ".pickle", NULL};

/* ---- claim ---- */

static bool is_pickled(struct hub_files *files, uint32_t number)
{
    struct hub_byte_source source;
    const uint8_t *head;
    size_t got;
    hub_byte_source_file(&source, files, number);
    return !hub_byte_source_peek(&source, 0, HUB_BYTE_SOURCE_WINDOW, &head, &got, NULL) &&
           il_is_of_imitation((struct hub_view){(const char *)head, got});
}

/* Nothing else writes these four together; only the directory of the archive is looked at. */
static bool is_archive(struct hub_files *files, uint32_t number)
{
    static const char *const members[] = {"obs.npy", "acts.npy", "terminal.npy", "indices.npy"};
    HUB_CLEANUP(hub_zip_dispose) struct hub_zip zip = {0};
    struct hub_byte_source source;
    const uint8_t *head;
    size_t got;
    uint32_t found = 0;
    hub_byte_source_file(&source, files, number);
    if (hub_byte_source_peek(&source, 0, 4, &head, &got, NULL) || !hub_zip_is(head, got) ||
        hub_zip_read(&zip, &source, NULL))
        return false;
    for (size_t i = 0; i < HUB_COUNT(members); i++)
        for (uint32_t k = 0; k < zip.count; k++)
            if (hub_view_is(zip.members[k].name, members[i])) {
                found++;
                break;
            }
    return found == HUB_COUNT(members);
}

static bool looks_mine(struct hub_files *files, uint32_t number)
{
    return hub_view_ends(files->entries[number].path, ".npz") ? is_archive(files, number)
                                                              : is_pickled(files, number);
}

static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    return hub_claim_file(listing, claim, endings, looks_mine, 60);
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    static const uint32_t first = 0;
    const char *era;
    if (imitation_is_pushed(files))
        return imitation_plan_pushed(files, sink, err);
    HUB_TRY(hub_files_usable(files, 0, err));
    if (!looks_mine(files, 0))
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "these are not trajectories of imitation");
    if (!hub_view_ends(files->entries[0].path, ".npz"))
        HUB_TRY(il_era_of(files, 0, NULL, &era, err)); /* it declines other pickles */
    return hub_sink_part(sink, &(struct hub_part){files->entries[0].path, &first, 1, HUB_VIEW("")}, err);
}

/* ---- the archive ---- */

struct demos {
    struct hub_files *files;
    struct hub_sink *sink;
    struct hub_npz_reader npz;
    uint64_t steps;            /* of all trajectories */
    uint64_t *starts;          /* of each trajectory, and the end of the last */
    uint32_t count;            /* trajectories */
    double *rewards, *endings; /* NULL: not there */
};

static void dispose(struct demos *d)
{
    hub_npz_reader_dispose(&d->npz);
    free(d->starts);
    free(d->rewards);
    free(d->endings);
}

static const struct hub_npz_array *member(const struct demos *d, const char *name)
{
    for (uint32_t i = 0; i < d->npz.count; i++)
        if (hub_view_is(d->npz.arrays[i].path, name))
            return &d->npz.arrays[i];
    return NULL;
}

/* An array of single numbers, `count` of them. Another one, or none, is not read: `*out` stays NULL. */
static enum hub_status numbers_of(const struct demos *d, const char *name, uint64_t count, double **out,
                                  struct hub_error *err)
{
    const struct hub_npz_array *a = member(d, name);
    if (!a || a->reason[0] || a->npy.rank != 1 || a->npy.shape[0] != count || a->npy.item.item_size > 8)
        return HUB_OK;
    const size_t item = a->npy.item.item_size;
    struct hub_byte_source source;
    HUB_CLEANUP(hub_freep) uint8_t *bytes = malloc((size_t)count * item + 1);
    HUB_CLEANUP(hub_freep) double *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    HUB_TRY(hub_allocated(bytes && numbers, err));
    hub_byte_source_file(&source, d->files, a->file == HUB_SIDE_FILE ? 0 : a->file);
    if (a->file == HUB_SIDE_FILE)
        hub_byte_source_side(&source, d->files, a->npy.data_offset + a->npy.data_bytes);
    HUB_TRY(hub_byte_source_read(&source, a->npy.data_offset, bytes, (size_t)count * item, err));
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = hub_variant_scalar(&a->npy.item, bytes + i * item).real;
    *out = numbers;
    numbers = NULL;
    return HUB_OK;
}

/* Where indices splits the steps: one number fewer than trajectories. */
static enum hub_status split(struct demos *d, struct hub_error *err)
{
    const struct hub_npz_array *acts = member(d, "acts"), *indices = member(d, "indices");
    HUB_CLEANUP(hub_freep) double *numbers = NULL;
    if (!acts || acts->reason[0] || acts->npy.rank == 0)
        return hub_fail(err, HUB_CORRUPT, "acts cannot be read: %s", acts ? acts->reason : "it is missing");
    if (!indices || indices->reason[0])
        return hub_fail(err, HUB_CORRUPT, "indices cannot be read: %s",
                        indices ? indices->reason : "it is missing");
    const uint64_t cuts = hub_npy_rows(&indices->npy);
    if (cuts >= HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d trajectories", HUB_MAX_EPISODES);
    HUB_TRY(numbers_of(d, "indices", cuts, &numbers, err));
    if (!numbers)
        return hub_fail(err, HUB_CORRUPT, "indices is not a list of numbers");
    d->steps = hub_npy_rows(&acts->npy);
    d->count = (uint32_t)cuts + 1;
    HUB_TRY(hub_new(&d->starts, (size_t)d->count + 1, sizeof *d->starts, err));
    for (uint64_t i = 0; i < cuts; i++) {
        if (!(numbers[i] >= (double)d->starts[i] && numbers[i] <= (double)d->steps))
            return hub_fail(err, HUB_CORRUPT, "indices do not increase within the %llu rows of acts",
                            (unsigned long long)d->steps);
        d->starts[i + 1] = (uint64_t)numbers[i];
    }
    d->starts[d->count] = d->steps;
    HUB_TRY(numbers_of(d, "rews", d->steps, &d->rewards, err));
    return numbers_of(d, "terminal", d->count, &d->endings, err);
}

/* ---- facts ---- */

static enum hub_status send_episodes(const struct demos *d, struct hub_error *err)
{
    for (uint32_t i = 0; i < d->count; i++) {
        char name[16];
        const uint64_t steps = d->starts[i + 1] - d->starts[i];
        uint32_t index;
        snprintf(name, sizeof name, "%u", i);
        struct hub_episode episode = hub_episode_of(hub_view_of(name), 0, steps);
        episode.number = i;
        episode.terminated = (int8_t)(d->endings ? d->endings[i] != 0 : -1);
        hub_episode_sum(&episode, d->rewards && steps ? d->rewards + d->starts[i] : NULL, steps);
        HUB_TRY(hub_sink_episode(d->sink, &episode, &index, err));
    }
    return HUB_OK;
}

/* How many rows a trajectory has of an array, by all of them; HUB_AXIS_COUNT: of no kind. */
static enum hub_axis axis_of(const struct demos *d, const struct hub_npz_array *a)
{
    const uint64_t rows = hub_npy_rows(&a->npy);
    return a->npy.rank == 0              ? HUB_AXIS_COUNT
           : rows == d->steps + d->count ? HUB_AXIS_STATE
           : rows == d->steps            ? HUB_AXIS_STEP
           : rows == d->count            ? HUB_AXIS_NONE
                                         : HUB_AXIS_COUNT;
}

static struct hub_window window_of(const struct demos *d, enum hub_axis axis, uint32_t i)
{
    const uint64_t steps = d->starts[i + 1] - d->starts[i];
    return axis == HUB_AXIS_NONE
               ? (struct hub_window){.episode = i, .first = i, .count = 1}
               : (struct hub_window){.episode = i,
                                     .first = d->starts[i] + (axis == HUB_AXIS_STATE ? i : 0),
                                     .count = steps + (axis == HUB_AXIS_STATE)};
}

static enum hub_status send_member(const struct demos *d, const struct hub_npz_array *a,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_window *windows = NULL;
    const bool objects = a->npy.objects && axis_of(d, a) == HUB_AXIS_STEP; /* infos */
    const enum hub_axis axis = a->reason[0] && !objects ? HUB_AXIS_COUNT : axis_of(d, a);
    char why[200];
    HUB_TRY(hub_new(&windows, d->count, sizeof *windows, err));
    for (uint32_t i = 0; i < d->count; i++)
        windows[i] = window_of(d, axis, i);
    if (objects)
        return il_objects_lay_out(d->files, d->sink,
                                  &(struct il_objects){&d->npz, a, windows, d->count, d->steps}, err);
    if (axis != HUB_AXIS_COUNT)
        return hub_npz_reader_cut(d->sink, a, axis, windows, d->count, err);
    snprintf(why, sizeof why, "%s", a->reason);
    if (!a->reason[0]) {
        snprintf(why, sizeof why, "%llu rows for %llu steps of %u trajectories",
                 (unsigned long long)hub_npy_rows(&a->npy), (unsigned long long)d->steps, d->count);
        HUB_TRY(hub_sink_problem(d->sink, "rows-differ", a->path, err, "%s", why));
    }
    for (uint32_t i = 0; i < d->count; i++)
        HUB_TRY(hub_report_unreadable(d->sink, a->path, i, why, err));
    return HUB_OK;
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct demos d = {.files = files, .sink = sink};
    if (part->file_count != 1)
        return hub_fail(err, HUB_INVALID, "a part is one file");
    if (imitation_is_pushed(files))
        return imitation_inspect_pushed(files, part, sink, err);
    if (!hub_view_ends(files->entries[part->files[0]].path, ".npz"))
        return il_inspect(files, part, sink, err);
    HUB_TRY(hub_npz_reader_open(&d.npz, files, part->files[0], err));
    HUB_TRY(split(&d, err));
    HUB_TRY(send_episodes(&d, err));
    for (uint32_t i = 0; i < d.npz.count; i++)
        if (!hub_view_is(d.npz.arrays[i].path, "indices"))
            HUB_TRY(send_member(&d, &d.npz.arrays[i], err));
    return hub_npz_reader_report(&d.npz, sink, err);
}

const struct hub_format hub_format_imitation = {
    .name = "imitation",
    .marks = hub_marks_imitation,
    .claim_directory = imitation_claim_pushed,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = inspect,
};

/*
 * What no format claims and can be read all the same: an HDF5 file, a .npy or .npz, a Parquet or Arrow
 * file, each a dataset of one episode `0` whose fields are its arrays or columns. The number of rows that
 * most arrays have is taken for the steps. And what is known by name and cannot be read: its dataset is
 * `unsupported`, and says what to do (refused.c). Bids lowest, so that whoever knows more of a file has it.
 *
 * Problems: unreadable-episode, unreadable-file, not-an-array, repeated-member, not-checked (of a .npz),
 * repeated-column, nulls, and those of storage/formats/kit/h5_kit.h.
 */
#include "storage/formats/generic/generic.h"

#include <stdio.h>

static const struct generic_container *const containers[] = {&generic_h5, &generic_npy, &generic_npz,
                                                             &generic_parquet, &generic_arrow};

/* ---- claim ---- */

const struct generic_container *generic_container_named(struct hub_view path)
{
    for (size_t i = 0; i < HUB_COUNT(containers); i++)
        if (hub_ending_of(path, containers[i]->endings))
            return containers[i];
    return NULL;
}

/* A file is a container by its name and its head; one that Git LFS has not fetched by its name alone. */
const struct generic_container *generic_container_of(struct hub_files *files, uint32_t number)
{
    const struct generic_container *c = generic_container_named(files->entries[number].path);
    uint8_t head[GENERIC_HEAD];
    struct hub_error why = {0};
    size_t got = 0;
    if (!c || hub_files_read(files, number, 0, head, sizeof head, &got, NULL))
        return NULL;
    const bool pointer = hub_files_usable(files, number, &why) == HUB_CORRUPT;
    return pointer || (c->is ? c->is(head, got) : c->found(files, number)) ? c : NULL;
}

static int claim_directory(struct hub_files *listing)
{
    return generic_refuse_directory(listing) || generic_claim_series(listing) ? 2 : 0;
}

static bool is_mine(struct hub_files *files, uint32_t number)
{
    return files->entries[number].size &&
           (generic_container_of(files, number) || generic_refuse_file(files, number));
}

/* What is refused keeps its whole name. */
static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    static const char *const endings[] = {".hdf5", ".h5",      ".hdf",   ".he5",     ".mat", ".npy",
                                          ".npz",  ".parquet", ".arrow", ".feather", "",     NULL};
    if (generic_claim_series_files(listing, claim))
        return 2;
    const int confidence = hub_claim_file(listing, claim, endings, is_mine, 1);
    if (confidence)
        generic_widen(listing, claim);
    return confidence;
}

/* ---- the dataset ---- */

/* One file. */
static enum hub_status plan_one(struct hub_files *files, const struct generic_container *container,
                                struct hub_sink *sink, struct hub_error *err)
{
    static const uint32_t first = 0;
    HUB_TRY(container->plan ? container->plan(files, sink, err) : hub_files_usable(files, 0, err));
    return hub_sink_part(sink, &(struct hub_part){files->entries[0].path, &first, 1, HUB_VIEW("")}, err);
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(generic_series_dispose) struct generic_series series = {0};
    const struct generic_container *container = files->count == 1 ? generic_container_of(files, 0) : NULL;
    if (container)
        return plan_one(files, container, sink, err);
    const char *remedy = generic_refuse_files(files);
    if (remedy || (remedy = generic_refuse_directory(files)))
        return hub_fail(err, HUB_UNSUPPORTED, "%s", remedy);
    HUB_TRY(generic_series_list(&series, files, err));
    if (!generic_series_is_all(&series, files) || !generic_series_is_one(&series, files))
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "this is not a container of arrays");
    return generic_plan_series(&series, files, sink, err);
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    static const struct generic_one one = {.name = {"0", 1}, .attributes = {"", 0}};
    struct generic_input input = {.files = files, .sink = sink};
    if (files->count > 1)
        return generic_inspect_series(files, part, sink, err);
    input.container = files->count == 1 ? generic_container_of(files, 0) : NULL;
    return input.container ? generic_inspect_episode(&input, 1, &one, err)
                           : hub_fail(err, HUB_CHANGED, "another file than was planned");
}

const struct hub_format hub_format_generic = {
    .name = "generic",
    .marks = hub_marks_generic,
    .claim_directory = claim_directory,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = inspect,
};

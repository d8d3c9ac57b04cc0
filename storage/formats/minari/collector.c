/*
 * The folder in which a DataCollector of Minari records: tmp???????? beside the datasets, as Python names
 * temporary folders, with the files that a dataset has in its data/. Its content becomes a dataset when it is
 * saved as one, elsewhere; a collector that is killed leaves the folder behind. So it is pending while it
 * changes, and broken afterwards.
 */
#include "storage/formats/minari/minari.h"

static const char main_path[] = "main_data.hdf5", metadata_path[] = "metadata.json";

static bool is_file(const struct hub_files *files, const char *path)
{
    const uint32_t number = hub_files_find(files, path);
    return number != HUB_NONE && !files->entries[number].directory;
}

/* What MinariStorage writes into its metadata at once. */
static bool is_metadata(struct hub_files *listing)
{
    char head[4096];
    size_t got = 0;
    return is_file(listing, metadata_path) &&
           !hub_files_read(listing, hub_files_find(listing, metadata_path), 0, head, sizeof head, &got,
                           NULL) &&
           memmem(head, got, "\"data_format\"", 13);
}

/* The name of the folder is known to the plan only, which declines others. */
static int claim(struct hub_files *listing)
{
    return hub_files_find(listing, "data") == HUB_NONE &&
                   (is_file(listing, main_path) || is_metadata(listing))
               ? 70
               : 0;
}

static bool is_temporary(struct hub_view name)
{
    static const char prefix[] = "tmp", letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    enum { RANDOM = 8 };
    if (!hub_view_starts(name, prefix) || name.size != sizeof prefix - 1 + RANDOM)
        return false;
    for (size_t i = sizeof prefix - 1; i < name.size; i++)
        if (!memchr(letters, name.data[i], sizeof letters - 1))
            return false;
    return true;
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    (void)sink;
    if (!is_temporary(hub_view_behind(files->place, '/')))
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "not the folder of a DataCollector");
    return hub_fail_as(
        err, HUB_CORRUPT, HUB_PROBLEM_NOT_FINALIZED,
        "a DataCollector of Minari keeps here what it collects, until it is saved as a dataset; "
        "remove the folder if the collector no longer runs");
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    (void)files, (void)part, (void)sink;
    return hub_fail(err, HUB_INVALID, "it has no parts");
}

const struct hub_format hub_format_data_collector = {
    .name = "data-collector",
    .marks = hub_marks_data_collector,
    .claim_directory = claim,
    .plan = plan,
    .inspect = inspect,
};

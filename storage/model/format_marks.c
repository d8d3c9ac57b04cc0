/* The names of the formats: see format_marks.h. */
#include "storage/model/format_marks.h"

/* ---- the table ---- */

#define MARKS(row) const struct hub_format_mark hub_marks_##row[]
#define LEROBOT_DATA "data/chunk-*/", "data/*.parquet", "videos/"
#define TFDS_INFO                                                                                            \
    {                                                                                                        \
        "features.json", "dataset_info.json"                                                                 \
    }

/* A file of the first name that is no HDF5 is a broken dataset, not another format. */
MARKS(minari_hdf5) = {
    {.name = "data/main_data.hdf5", .bid = 95},
    {.name = "data/metadata.json", .bid = 80},
    {0},
};
MARKS(minari_arrow) = {{.name = "data/metadata.json"}, {0}}; /* which says "data_format" */
MARKS(minari_parquet) = {{.name = "data/metadata.json"}, {0}};
MARKS(data_collector) = {
    {.name = "main_data.hdf5"}, {.name = "metadata.json"}, {0}}; /* in tmp???????? only */

/* Metadata of that kind stands beside other data, too. Releases before v2 write meta_data/. */
MARKS(lerobot) = {
    {.name = "meta/info.json",
     .bid = 60,
     .beside = {"meta/episodes.jsonl", "meta/tasks.jsonl", "meta/tasks.parquet", LEROBOT_DATA}},
    {.name = "meta/episodes.jsonl", .bid = 60, .beside = {LEROBOT_DATA}},
    {.name = "meta/tasks.jsonl", .bid = 60, .beside = {LEROBOT_DATA}},
    {.name = "meta/tasks.parquet", .bid = 60, .beside = {LEROBOT_DATA}},
    {.name = "meta_data/info.json", .bid = 60},
    {.name = "meta_data/", .bid = 60, .beside = {"data/", "videos/"}},
    {.name = "meta_data/", .bid = 30},
    {0},
};
MARKS(datasets) = {
    {.name = "state.json", .bid = 90, .beside = {"dataset_info.json", "*.arrow"}},
    {.name = "dataset_dict.json", .bid = 85},
    {0},
};
MARKS(robomimic) = {{.name = "*.hdf5"}, {.name = "*.h5"}, {0}};
MARKS(d4rl) = {{.name = "*.hdf5"}, {.name = "*.h5"}, {.name = "*.npz"}, {0}};
MARKS(aloha) = {{.name = "episode*.hdf5"}, {.name = "episode*.h5"}, {.name = "data/episode*.hdf5"}, {0}};
MARKS(maniskill) = {{.name = "*.h5"}, {.name = "*.hdf5"}, {0}};
MARKS(molmospaces) = {
    {.name = "house_#/", .bid = 55},
    {.name = "train/house_#/", .bid = 55},
    {.name = "val/house_#/", .bid = 55},
    {.name = "test/house_#/", .bid = 55},
    {.name = "traj*.h5"},
    {0},
};
MARKS(molmospaces_shards) = {{.name = "*.tar"},
                             {.name = "train_shards/*.tar"},
                             {.name = "val_shards/*.tar"},
                             {.name = "test_shards/*.tar"},
                             {0}};
MARKS(webdataset) = {{.name = "*.tar"},
                     {.name = "*.tar.gz"},
                     {.name = "*.tgz"},
                     {.name = "*.tar.zst"},
                     {.name = "*.tar.xz"},
                     {.name = "*.tar.bz2"},
                     {0}};
MARKS(il) = {{.name = "*.pkl.gz"}, {.name = "*.pickle.gz"}, {.name = "*.pkl"},
             {.name = "*.pickle"}, {.name = "*.npz"},       {0}};
MARKS(imitation) = {
    {.name = "*.npz"}, {.name = "*.pkl"}, {.name = "*.pickle"}, {.name = "data/*-of-*.parquet"}, {0}};
MARKS(generic) = {
    {.name = ".zgroup", .bid = 2}, /* what is refused by name: storage/formats/generic/refused.c */
    {.name = ".zarray", .bid = 2},
    {.name = "zarr.json", .bid = 2},
    {.name = "*.tfrecord*", .bid = 2, .beside = TFDS_INFO},
    {.name = "*.array_record*", .bid = 2, .beside = TFDS_INFO},
    {.name = "*.riegeli*", .bid = 2, .beside = TFDS_INFO},
    {.name = "*.hdf5"}, /* containers */
    {.name = "*.h5"},
    {.name = "*.hdf"},
    {.name = "*.he5"},
    {.name = "*.mat"},
    {.name = "*.npy"},
    {.name = "*.npz"},
    {.name = "*.parquet"},
    {.name = "*.arrow"},
    {.name = "*.feather"},
    {.name = "episode*/"},
    {.name = "*.zarr.zip"}, /* single files that are refused */
    {.name = "*.mcap"},
    {.name = "*.bag"},
    {.name = "*.db3"},
    {.name = "*.rrd"},
    {.name = "*_ckpt.*.gz"},
    {.name = "*.pkl"},
    {.name = "*.pickle"},
    {.name = "*.pkl.gz"},
    {.name = "*.mp4"},
    {.name = "*.zip"},
    {.name = "*.tar"},
    {.name = "*.tar.gz"},
    {.name = "*.tgz"},
    {.name = "*.tar.zst"},
    {0},
};

/* ---- names ---- */

/* How much of a text is a number without leading zeros. */
static size_t number_size(const char *text, size_t size)
{
    size_t n = 0;
    while (n < size && text[n] >= '0' && text[n] <= '9')
        n++;
    return n > 1 && *text == '0' ? 0 : n;
}

/* When what follows a '*' does not fit, it takes one byte more. */
static bool matches(struct hub_view pattern, struct hub_view name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, taken = 0;
    while (n < name.size) {
        const char c = p < pattern.size ? pattern.data[p] : '\0';
        const size_t fits = c == '#' ? number_size(name.data + n, name.size - n) : c == name.data[n];
        if (c == '*') {
            star = p++;
            taken = n;
        } else if (fits) {
            p++;
            n += fits;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size && pattern.data[p] == '*')
        p++;
    return p == pattern.size;
}

/* The first segment of a path, and what is behind it: no data where there is one only. */
static struct hub_view cut(struct hub_view path, struct hub_view *rest)
{
    const char *slash = path.size ? memchr(path.data, '/', path.size) : NULL;
    const size_t size = slash ? (size_t)(slash - path.data) : path.size;
    *rest = slash ? (struct hub_view){slash + 1, path.size - size - 1} : (struct hub_view){NULL, 0};
    return (struct hub_view){path.data, size};
}

bool hub_mark_fits(const char *pattern, struct hub_view path, bool directory)
{
    if (*pattern != '*' && (!path.size || *pattern != *path.data))
        return false; /* nearly always, of the many names of a large folder */
    struct hub_view wanted = hub_view_of(pattern), below, inner;
    const bool of_directory = hub_view_ends(wanted, "/");
    if (directory != of_directory)
        return false;
    wanted.size -= of_directory;
    wanted = cut(wanted, &below);
    path = cut(path, &inner);
    return !below.data == !inner.data && matches(wanted, path) && (!below.data || matches(below, inner));
}

bool hub_mark_looks_into(const char *pattern, struct hub_view name)
{
    struct hub_view below;
    const struct hub_view first = cut(hub_view_of(pattern), &below);
    return below.size && matches(first, name);
}

/* ---- bids ---- */

static bool fits_any(const char *const *patterns, size_t count, struct hub_view path, bool directory)
{
    for (size_t i = 0; i < count && patterns[i]; i++)
        if (hub_mark_fits(patterns[i], path, directory))
            return true;
    return false;
}

void hub_marks_see(const struct hub_format_mark *marks, struct hub_view path, bool directory,
                   struct hub_marks_seen *seen)
{
    for (unsigned i = 0; marks[i].bid; i++) {
        const struct hub_format_mark *mark = &marks[i];
        if (hub_mark_fits(mark->name, path, directory))
            seen->names |= UINT32_C(1) << i;
        if (!mark->beside[0] || fits_any(mark->beside, HUB_COUNT(mark->beside), path, directory))
            seen->beside |= UINT32_C(1) << i;
    }
}

const struct hub_format_mark *hub_marks_best(const struct hub_format_mark *marks,
                                             const struct hub_marks_seen *seen)
{
    const struct hub_format_mark *best = NULL;
    for (unsigned i = 0; marks[i].bid; i++)
        if (seen->names & seen->beside & UINT32_C(1) << i && (!best || marks[i].bid > best->bid))
            best = &marks[i];
    return best;
}

#define POINT(row, ...) hub_marks_##row,
static const struct hub_format_mark *const marks_of[HUB_FORMAT_COUNT] = {HUB_FORMATS(POINT)};

void hub_formats_see(struct hub_formats_seen *seen, struct hub_view path, bool directory)
{
    for (size_t i = 0; i < HUB_FORMAT_COUNT; i++)
        hub_marks_see(marks_of[i], path, directory, &seen->of[i]);
}

void hub_formats_see_file(struct hub_formats_seen *seen, struct hub_view path)
{
    for (size_t i = 0, depth = 0; i <= path.size && depth < 2; i++) {
        if (i < path.size && path.data[i] != '/')
            continue;
        hub_formats_see(seen, (struct hub_view){path.data, i}, i < path.size);
        depth++;
    }
}

const char *hub_formats_best(const struct hub_formats_seen *seen)
{
    const char *best = NULL;
    int most = 0;
    for (size_t i = 0; i < HUB_FORMAT_COUNT; i++) {
        const struct hub_format_mark *mark = hub_marks_best(marks_of[i], &seen->of[i]);
        if (!mark || mark->bid <= most)
            continue;
        best = hub_format_rows[i].name;
        most = mark->bid;
    }
    return best;
}

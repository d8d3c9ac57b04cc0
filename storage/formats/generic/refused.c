/* Formats that are recognised so that they can be refused by name, each with what to do: a row each. */
#include "storage/formats/generic/generic.h"
#include "storage/formats/webdataset/webdataset.h"

struct row {
    const char *remedy;     /* what it is, and what to do */
    const char *files[5];   /* whole names: a directory that has one of these is one */
    const char *with;       /* ... beside a file whose name has this in it; NULL: alone */
    const char *endings[6]; /* of single files */
    const char *within;     /* may: what such a name has in it */
    struct hub_view magic;  /* with which they begin */
    uint64_t below;         /* they have fewer bytes; 0: any number */
    bool (*is)(struct hub_files *files, uint32_t number); /* may: what else is looked at */
};

static bool holds_lerobot(struct hub_files *files, uint32_t number)
{
    return hub_wds_look(files, number) == HUB_WDS_LEROBOT;
}

static const struct row rows[] = {
    {.remedy = "a Zarr store is not read yet: convert it to HDF5 with zarr.copy_all of zarr 2, or "
               "download its files and open them with zarr",
     .files = {".zgroup", ".zarray", "zarr.json"},
     .endings = {".zarr.zip"},
     .magic = {"PK", 2}},
    {.remedy = "TFRecord shards (RLDS, TensorFlow Datasets) are not read: convert the set to LeRobot or "
               "HDF5, or download its files and open them with tfds.builder_from_directory",
     .files = {"features.json", "dataset_info.json"},
     .with = ".tfrecord",
     .endings = {".tfrecord"},
     .magic = {"", 0}},
    {.remedy =
         "shards of ArrayRecord (TensorFlow Datasets) are not read: convert the set to LeRobot or HDF5, "
         "or download its files and open them with tfds.builder_from_directory",
     .files = {"features.json", "dataset_info.json"},
     .with = ".array_record"},
    {.remedy = "shards of Riegeli (TensorFlow Datasets) are not read: convert the set to LeRobot or HDF5, or "
               "download its files and open them with tfds.builder_from_directory",
     .files = {"features.json", "dataset_info.json"},
     .with = ".riegeli"},
    {.remedy = "an MCAP log is not read: convert it to LeRobot or HDF5, or download it and open it with "
               "mcap or Foxglove",
     .endings = {".mcap"},
     .magic = {"\x89MCAP0\r\n", 8}},
    {.remedy = "a ROS bag is not read: convert it to LeRobot or HDF5, or open it with rosbags",
     .endings = {".bag"},
     .magic = {"#ROSBAG V2.0", 12}},
    {.remedy = "a ROS 2 bag is not read: convert it to LeRobot or HDF5, or open it with rosbags",
     .endings = {".db3"},
     .magic = {"SQLite format 3", 16}},
    {.remedy = "a gzipped replay buffer of Dopamine is not read: load it with numpy (np.load of "
               "gzip.open) and save it as .npz",
     .endings = {".gz"}, /* "$store$_observation_ckpt.0.gz", "add_count_ckpt.0.gz" */
     .within = "_ckpt.",
     .magic = {"\x1f\x8b", 2}},
    {.remedy = "a LeRobot set in a tar is not read: unpack it (tar -xf) and serve the folder",
     .endings = {".tar", ".tar.gz", ".tgz", ".tar.zst"},
     .magic = {"", 0},
     .is = holds_lerobot},
    /* of files that are known by their first bytes; what names alone tell is told so by its own driver */
    {.remedy = "a Git LFS pointer: the file itself was never fetched (git lfs pull)",
     .endings = {".pkl", ".pickle", ".pkl.gz", ".mp4", ".zip"},
     .magic = {"version https://", 16},
     .below = 1024},
};

static bool contains(struct hub_view text, const char *word)
{
    return memmem(text.data, text.size, word, strlen(word)) != NULL;
}

static bool has_beside(const struct hub_files *listing, const char *word)
{
    for (uint32_t i = 0; i < listing->count; i++)
        if (!listing->entries[i].directory && contains(listing->entries[i].path, word))
            return true;
    return false;
}

static bool is_directory_of(const struct hub_files *listing, const struct row *row)
{
    for (size_t i = 0; i < HUB_COUNT(row->files) && row->files[i]; i++) {
        const uint32_t at = hub_files_find(listing, row->files[i]);
        if (at != HUB_NONE && !listing->entries[at].directory &&
            (!row->with || has_beside(listing, row->with)))
            return true;
    }
    return false;
}

const char *generic_refuse_directory(struct hub_files *listing)
{
    for (size_t i = 0; i < HUB_COUNT(rows); i++)
        if (is_directory_of(listing, &rows[i]))
            return rows[i].remedy;
    return NULL;
}

static bool named(const struct row *row, struct hub_view path, const char *ending)
{
    return hub_view_ends(path, ending) && path.size > strlen(ending) &&
           (!row->within || contains(path, row->within));
}

const char *generic_refuse_file(struct hub_files *files, uint32_t number)
{
    char head[16];
    size_t got;
    for (size_t i = 0; i < HUB_COUNT(rows); i++)
        for (size_t j = 0; j < HUB_COUNT(rows[i].endings) && rows[i].endings[j]; j++)
            if (named(&rows[i], files->entries[number].path, rows[i].endings[j]) &&
                (!rows[i].below || files->entries[number].size < rows[i].below) &&
                !hub_files_read(files, number, 0, head, sizeof head, &got, NULL) &&
                got >= rows[i].magic.size && memcmp(head, rows[i].magic.data, rows[i].magic.size) == 0 &&
                (!rows[i].is || rows[i].is(files, number)))
                return rows[i].remedy;
    return NULL;
}

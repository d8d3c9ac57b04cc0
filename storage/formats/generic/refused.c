/* Formats that are recognised so that they can be refused by name, each with what to do: a row each. */
#include "storage/formats/generic/generic.h"
#include "storage/formats/webdataset/webdataset.h"
#include "storage/inspect/formats.h"
#include <stdio.h>

struct refused_format {
    const char *remedy;     /* what it is, and what to do */
    const char *marks[4];   /* of hub_marks_generic: a directory that has one of these is one */
    const char *endings[6]; /* of single files */
    const char *within;     /* may: what such a name has in it */
    struct hub_view magic;  /* with which they begin */
    uint64_t below;         /* they have fewer bytes; 0: any number */
    bool (*is)(struct hub_files *files, uint32_t number); /* may: what else is looked at */
    bool shards;   /* "x.tfrecord-00000-of-00010" has the ending, too, and all of x are one */
    bool pointers; /* many of the same ending in a folder are one */
};

enum { MANY_POINTERS = 8 };

/* Files of any name are looked into by their size alone. */
static bool may_be_pointer(struct hub_files *files, uint32_t number)
{
    return hub_maybe_pointer(files->entries[number].size);
}

static bool holds_lerobot(struct hub_files *files, uint32_t number)
{
    return hub_wds_look(files, number) == HUB_WDS_LEROBOT;
}

static const struct refused_format rows[] = {
    /* of files whose first bytes say what they are; of others their own driver says so */
    {.remedy = "a Git LFS pointer instead of the file: run git lfs pull",
     .endings = {".pkl", ".pickle", ".pkl.gz", ".mp4", ".zip"},
     .magic = {"version https://", 16},
     .below = 1024},
    {.remedy = "a Git LFS pointer instead of the file: run git lfs pull",
     .endings = {""},
     .magic = {"version https://git-lfs", 23},
     .is = may_be_pointer,
     .pointers = true},
    {.remedy = "a Zarr store is not read yet: convert it to HDF5 with zarr.copy_all of zarr 2, or "
               "download its files and open them with zarr",
     .marks = {".zgroup", ".zarray", "zarr.json"},
     .endings = {".zarr.zip"},
     .magic = {"PK", 2}},
    {.remedy = "TFRecord shards (RLDS, TensorFlow Datasets) are not read: convert the set to LeRobot or "
               "HDF5, or download its files and open them with tfds.builder_from_directory",
     .marks = {"*.tfrecord*"},
     .endings = {".tfrecord"},
     .magic = {"", 0},
     .shards = true},
    {.remedy =
         "shards of ArrayRecord (TensorFlow Datasets) are not read: convert the set to LeRobot or HDF5, "
         "or download its files and open them with tfds.builder_from_directory",
     .marks = {"*.array_record*"}},
    {.remedy = "shards of Riegeli (TensorFlow Datasets) are not read: convert the set to LeRobot or HDF5, or "
               "download its files and open them with tfds.builder_from_directory",
     .marks = {"*.riegeli*"}},
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
    {.remedy =
         "a recording of Rerun is not read: convert it to LeRobot or HDF5, or download it and open it with "
         "rerun",
     .endings = {".rrd"},
     .magic = {"RRF", 3}},
    {.remedy = "a gzipped replay buffer of Dopamine is not read: load it with numpy (np.load of "
               "gzip.open) and save it as .npz",
     .endings = {".gz"}, /* "$store$_observation_ckpt.0.gz", "add_count_ckpt.0.gz" */
     .within = "_ckpt.",
     .magic = {"\x1f\x8b", 2}},
    {.remedy = "a LeRobot set in a tar is not read: unpack it (tar -xf) and serve the folder",
     .endings = {".tar", ".tar.gz", ".tgz", ".tar.zst"},
     .magic = {"", 0},
     .is = holds_lerobot},
};

static bool contains(struct hub_view text, const char *word)
{
    return memmem(text.data, text.size, word, strlen(word)) != NULL;
}

static const struct refused_format *row_of_mark(const char *mark)
{
    for (size_t i = 0; i < HUB_COUNT(rows); i++)
        for (size_t k = 0; k < HUB_COUNT(rows[i].marks) && rows[i].marks[k]; k++)
            if (strcmp(rows[i].marks[k], mark) == 0)
                return &rows[i];
    return NULL;
}

const char *generic_refuse_directory(struct hub_files *listing)
{
    const struct hub_format_mark *mark = hub_files_mark(listing, hub_marks_generic, NULL);
    const struct refused_format *row = mark ? row_of_mark(mark->name) : NULL;
    return row ? row->remedy : NULL;
}

/* "x.tfrecord-00000-of-00010" without what numbers it. */
static struct hub_view unnumbered(struct hub_view path)
{
    static const char between[] = "-of-";
    const size_t of = hub_wds_digits(path);
    const struct hub_view before = {path.data, path.size - of};
    if (!of || !hub_view_ends(before, between))
        return path;
    const struct hub_view numbered = {path.data, before.size - strlen(between)};
    const size_t digits = hub_wds_digits(numbered);
    return digits && digits < numbered.size && numbered.data[numbered.size - digits - 1] == '-'
               ? (struct hub_view){path.data, numbered.size - digits - 1}
               : path;
}

static bool named(const struct refused_format *row, struct hub_view path, const char *ending)
{
    const struct hub_view name = row->shards ? unnumbered(path) : path;
    return hub_view_ends(name, ending) && name.size > strlen(ending) &&
           (!row->within || contains(name, row->within));
}

static bool has_name(const struct refused_format *row, struct hub_view path)
{
    for (size_t i = 0; i < HUB_COUNT(row->endings) && row->endings[i]; i++)
        if (named(row, path, row->endings[i]))
            return true;
    return false;
}

static bool is_file_of(struct hub_files *files, uint32_t number, const struct refused_format *row)
{
    char head[32];
    size_t got;
    const struct hub_file_entry *e = &files->entries[number];
    return has_name(row, e->path) && (!row->below || e->size < row->below) &&
           (!row->is || row->is(files, number)) &&
           !hub_files_read(files, number, 0, head, sizeof head, &got, NULL) && got >= row->magic.size &&
           memcmp(head, row->magic.data, row->magic.size) == 0;
}

static const struct refused_format *row_of(struct hub_files *files, uint32_t number)
{
    for (size_t i = 0; i < HUB_COUNT(rows); i++)
        if (is_file_of(files, number, &rows[i]))
            return &rows[i];
    return NULL;
}

/* ---- several files as one ---- */

static struct hub_view ending_of(struct hub_view path)
{
    const char *dot = memrchr(path.data, '.', path.size);
    const size_t before = dot ? (size_t)(dot + 1 - path.data) : path.size;
    return (struct hub_view){path.data + before, path.size - before};
}

/* Of one row: shards of the same name, or pointers of the same ending. */
static bool belong_together(struct hub_files *files, const struct refused_format *row, uint32_t a, uint32_t b)
{
    const struct hub_view one = files->entries[a].path, other = files->entries[b].path;
    if (row->shards)
        return unnumbered(one).size < one.size && hub_view_equal(unnumbered(one), unnumbered(other));
    return row->pointers && hub_view_equal(ending_of(one), ending_of(other)) && is_file_of(files, b, row);
}

const char *generic_refuse_file(struct hub_files *files, uint32_t number)
{
    const struct refused_format *row = row_of(files, number);
    return row ? row->remedy : NULL;
}

const char *generic_refuse_files(struct hub_files *files)
{
    const struct refused_format *row = files->count ? row_of(files, 0) : NULL;
    for (uint32_t i = 1; row && i < files->count; i++)
        if (!belong_together(files, row, 0, i))
            row = NULL;
    return row ? row->remedy : NULL;
}

void generic_widen(struct hub_files *listing, struct hub_claim *claim)
{
    const uint32_t first = claim->files[0];
    const struct refused_format *row = row_of(listing, first);
    const struct hub_view path = listing->entries[first].path;
    if (!row || (!row->shards && !row->pointers))
        return;
    for (uint32_t i = first + 1; i < listing->count; i++) {
        const struct hub_file_entry *e = &listing->entries[i];
        if (!e->directory && e->path.size && !memchr(e->path.data, '/', e->path.size) &&
            belong_together(listing, row, first, i))
            claim->files[claim->file_count++] = i;
    }
    if (row->pointers && claim->file_count <= MANY_POINTERS)
        claim->file_count = 1;
    const struct hub_view name = row->shards ? unnumbered(path) : ending_of(path);
    if (row->shards || claim->file_count > 1)
        snprintf(claim->name, sizeof claim->name, "%.*s%s", (int)HUB_MIN(name.size, (size_t)200), name.data,
                 row->shards ? "" : "-pointers");
}

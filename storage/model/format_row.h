/**
 * The formats: one table, a row a format. All that code outside of a format's own folder knows of it stands
 * in its row, so that the hub, its facades, remotes and clients ask for a trait and name no format. A format
 * that is not in the table (a newer hub has it) has no traits. Never changes: safe from any thread.
 */
#ifndef HUB_MODEL_FORMAT_ROW_H
#define HUB_MODEL_FORMAT_ROW_H

#include "storage/base/buf.h"

/* Libraries whose protocols the hub speaks, or whose tools it gives recipes for. */
#define HUB_LIBRARY_MINARI "Minari"
#define HUB_LIBRARY_LEROBOT "LeRobot"

/** How Python loads a download that has such a file. In the line %D is the dataset's folder, %F the file, %P
 * the folder that the file lies in, each as a text of Python, %I the dataset's id, and %E the episodes it was
 * downloaded for, where they are listed. */
struct hub_loading_line {
    const char *file; /* a pattern of its path, or of the last name in that */
    const char *line;
};

/** What a row says; what does not apply is left out. */
struct hub_format_traits {
    const char *name;    /* as stored in the catalogue, never renamed */
    const char *library; /* what loads it, for people */
    /* Among the tags of its repos on Hugging Face: its library looks for repos that have it. */
    const char *repo_tag;
    const char *data_format; /* what a metadata.json of Minari calls it */
    /* What the names of its shards end in, as marks have it (".tar*"): a library reads them in series by
     * their URLs, and documents list them. */
    const char *shards[2];
    const struct hub_loading_line *loading; /* the first that fits counts; ended by one without a file */
    /* Each of its files is of some episodes, and what reads the format does without those of the others. */
    bool episodes_apart;
    /* Its era is the version of the format ("v2.1"). Clients ask for it as a tag of the repo, and an id may
     * end in it: "arm-v21" and "arm-v30" are the same data in two versions, neither of them newer. */
    bool era_is_version;
    bool judged;    /* its library leaves out episodes whose attribute `valid` is 0 */
    bool recording; /* something writes it now: it is not offered as a dataset yet */
};

/** The rows, in the order that decides between equal bids. Each has a driver, hub_format_ROW, and marks,
 * hub_marks_ROW; lines that load it stand in format_row.c. */
/* clang-format off */
#define HUB_FORMATS(row) \
    row(minari_hdf5, .name = "minari-hdf5", .library = HUB_LIBRARY_MINARI, .data_format = "hdf5") \
    row(minari_arrow, .name = "minari-arrow", .library = HUB_LIBRARY_MINARI, .data_format = "arrow", \
        .episodes_apart = true) \
    row(minari_parquet, .name = "minari-parquet", .library = HUB_LIBRARY_MINARI, .data_format = "parquet", \
        .episodes_apart = true) \
    row(data_collector, .name = "data-collector", .recording = true) \
    row(lerobot, .name = "lerobot", .library = HUB_LIBRARY_LEROBOT, .repo_tag = "LeRobot", \
        .episodes_apart = true, .era_is_version = true) \
    row(datasets, .name = "datasets", .library = "datasets") \
    row(robomimic, .name = "robomimic", .loading = robomimic) \
    row(d4rl, .name = "d4rl") \
    row(aloha, .name = "aloha", .episodes_apart = true) \
    row(maniskill, .name = "maniskill") \
    row(molmospaces, .name = "molmospaces", .episodes_apart = true, .judged = true) \
    row(molmospaces_shards, .name = "molmospaces-shards", .episodes_apart = true) \
    row(webdataset, .name = "webdataset", .loading = webdataset, .episodes_apart = true, \
        .shards = {".tar*", ".tgz"}) \
    row(il, .name = "il-native", .loading = il, .episodes_apart = true) \
    row(imitation, .name = "imitation", .loading = imitation) \
    row(generic, .name = "generic")
/* clang-format on */

#define HUB_NUMBER_FORMAT(row, ...) HUB_FORMAT_##row,
enum { HUB_FORMATS(HUB_NUMBER_FORMAT) HUB_FORMAT_COUNT };
extern const struct hub_format_traits hub_format_rows[HUB_FORMAT_COUNT];

/** What is known of the format of this name; never NULL: one that is unknown has no traits, nor a name. */
const struct hub_format_traits *hub_format_traits_of(const char *name);

/** The library that loads a format, or NULL. Of a format that is unknown, or a name that stands for a family
 * ("minari"), the library of those that have the first word of its name. */
const char *hub_format_library(const char *name);
/** Whether it is that library. `name` may be NULL. */
bool hub_format_is_of(const char *name, const char *library);

/** The name that stands where there is no format: of files that no driver takes for a dataset. */
#define HUB_FILES_FORMAT "files"
/** Whether it is that name. `name` may be NULL. */
static inline bool hub_format_is_files(const char *name)
{
    return name && strcmp(name, HUB_FILES_FORMAT) == 0;
}

/** The name of the format that a metadata.json of Minari states; for NULL, and for what no row has, that of
 * the first row that has one. */
const char *hub_format_stated(const char *data_format);

#endif

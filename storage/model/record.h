/**
 * What a driver says about a dataset, as structs: passed to the sink in the inspector, sent as frames,
 * checked by the hub and stored. Views borrow; JSON texts are strict RFC 8259 objects, arrays or values whose
 * non-finite numbers are the strings "NaN", "Infinity", "-Infinity" and whose integers beyond 2^53-1 are
 * decimal strings.
 */
#ifndef HUB_MODEL_RECORD_H
#define HUB_MODEL_RECORD_H

#include "storage/io/fs.h"
#include "storage/model/dtype.h"

/* Ceilings on what one inspection may say. */
enum {
    HUB_MAX_PARTS = 100000,
    HUB_MAX_FIELDS = 4096,          /* of a dataset */
    HUB_MAX_EPISODES = 4000000,     /* of a part */
    HUB_MAX_PROBLEMS = 200,         /* of a part; further ones are counted */
    HUB_MAX_PATH = 1024,            /* bytes of a field or file path */
    HUB_MAX_TEXT = 4 * 1024 * 1024, /* one text about a dataset */
    HUB_MAX_ATTRIBUTES = 64 * 1024, /* attributes of one episode, as JSON */
};
/* Of an episode: 2^53 - 1, so that it stays a number in JSON. */
#define HUB_MAX_NUMBER ((int64_t)9007199254740991)
#define HUB_MAX_STEPS ((uint64_t)1 << 40) /* of one episode: the sums of all stay numbers */

/**
 * Facts about the whole dataset, each sent once under its key. Unknown keys are refused. Strings: "era"
 * ("E3" "E4a" "E4b" "E5"), "id" (as the files claim it), "stated_version" (of the library that wrote it),
 * "description", "observation_space_text", "action_space_text" (as stored, where it is kept here),
 * "claimed_in" (the path of the file that "claimed_episodes" and "claimed_steps" come from). Places:
 * "observation_space_place", "action_space_place" (where the stored text lies in a file). JSON: "authors"
 * (array of strings), "metadata" (object, as stored but for the spaces), "observation_space",
 * "action_space" (in a few KB whatever their shape: storage/formats/json_stream.h), "env_spec", "combined"
 * (array of ids), "splits" (object name -> count), "statistics" (object), "requirements" (array), "fps"
 * (number), "robot_type" (string), "tasks" and "subtasks" (arrays of {"index", "task" or "subtask",
 * "description"?}), "dimensions" (object: field -> {"names", "groups"?, "min"?, "max"?}), "cameras" (array
 * of {"camera", "type", "width"?, "height"?, "fps"?, "codec"?}), "card" (object: what a README.md says of
 * license, tags and name). Integers: "claimed_episodes", "claimed_steps" (what the files say; compared with
 * what was found).
 */
struct hub_fact {
    struct hub_view key;
    struct hub_view text; /* a string's UTF-8, a JSON text, or decimal digits */
};

/** Where a long text lies: read from there when it is asked for, at any size. */
struct hub_location {
    uint32_t file;
    bool escaped; /* inside a JSON string: hub_json_unescape makes its `stored` bytes `decoded` ones */
    uint64_t offset, stored, decoded;
};
#define HUB_LOCATION_CHARS 80

/** As a fact: "file offset stored decoded escaped". */
void hub_location_write(const struct hub_location *location, char out[HUB_LOCATION_CHARS]);
bool hub_location_read(struct hub_view text, struct hub_location *out);

/** A file of a dataset. */
struct hub_dataset_file {
    const char *path; /* below the dataset's directory */
    struct hub_stamp stamp;
};

/** A unit of inspection, named by the plan. */
struct hub_part {
    /* unique in the dataset; stable while its files are ("main_data.hdf5", "chunk-000") */
    struct hub_view name;
    /* the dataset's files it depends on: only these may be opened while inspecting it */
    const uint32_t *files;
    uint32_t file_count;
    struct hub_view hint; /* the driver's own note to its inspect function, at most 4 KiB */
};

struct hub_field {
    struct hub_view path; /* "observations/achieved_goal"; '/' separates; a key that holds '/' is nested by
                             its writer already */
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
};

struct hub_episode {
    int64_t number; /* the format's own, unique in the dataset; -1: position in the part order decides */
    struct hub_view name; /* "episode_12", "demo_3" */
    uint32_t file;        /* where it lies, number in the file table */
    uint64_t steps;
    struct hub_view seed; /* decimal digits or text as stored; empty: unknown */
    bool has_return;
    double episode_return;                 /* sum of rewards */
    bool return_computed;                  /* false: the file states it */
    int8_t success, terminated, truncated; /* -1 unknown, 0, 1 */
    struct hub_view task;                  /* empty: unknown */
    struct hub_view splits;                /* JSON array of strings or empty */
    struct hub_view attributes;            /* JSON object, the file's own, or empty */
    struct hub_view statistics;            /* JSON object {field: {sum,mean,std,min,max}} or empty */
};

/** What a camera saw of an episode: a run of frames of a video file, which may hold those of others too. */
struct hub_media {
    uint32_t episode;       /* index within the part */
    struct hub_view camera; /* the key of its feature: "observation.images.front" */
    uint32_t file;          /* HUB_NONE: it is missing, and `problem` says so */
    struct hub_view codec;  /* as RFC 6381 writes it where the file was read, else as claimed; or empty */
    uint32_t width, height;
    uint32_t fps_num, fps_den;    /* frames a second as a ratio; both 0: unknown */
    uint64_t samples;             /* frames of the whole file, 0: unknown */
    uint64_t first_frame, frames; /* the episode's, in the order they are shown; no frames: the whole file */
    double from, to;              /* seconds into the file; `to` 0: unknown */
    struct hub_view problem;      /* why frames of it cannot be cut out, one line; or empty */
};
/** Frames a second as the nearest ratio of thousandths, in lowest terms. */
void hub_media_rate(struct hub_media *media, double fps);

/** Something wrong that hides nothing else. Codes are stable kebab-case names, listed in
 * storage/formats/README.md. */
struct hub_problem {
    struct hub_view code;
    struct hub_view path;   /* field, file or object path it is about, or empty */
    struct hub_view detail; /* one line */
};

#endif

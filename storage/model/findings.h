/**
 * What an inspection found, as the hub keeps it: record.h with everything owned by struct hub_findings,
 * proven (storage/inspect). Texts are terminated and valid UTF-8.
 */
#ifndef HUB_MODEL_FINDINGS_H
#define HUB_MODEL_FINDINGS_H

#include "storage/model/record.h"
#include "storage/text/json.h"

struct hub_found_claim {
    const char *format;
    uint32_t listing;
    int confidence;
    const char *name; /* single files: the dataset's last id segment; directory: NULL */
    uint32_t *files;  /* single files: entry numbers */
    uint32_t file_count;
};

struct hub_found_part {
    const char *name, *hint; /* hint: "" when there is none */
    uint32_t *files;         /* ascending */
    uint32_t file_count;
};
struct hub_found_fact {
    const char *key, *text;
};
struct hub_found_problem {
    const char *code, *path, *detail; /* path NULL or "": about the whole */
};

struct hub_found_field {
    const char *path;
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
    const char *unreadable; /* why no episode's rows can be read, in the layout; NULL: some can */
    void *layout;           /* checked blob (malloc), or NULL: no episode of this part has the field */
    size_t layout_size;
};

struct hub_found_episode {
    int64_t number;
    const char *name, *seed, *task, *splits, *attributes, *statistics; /* NULL: unknown */
    uint32_t file;
    uint64_t steps;
    bool has_return, return_computed;
    double episode_return;
    int8_t success, terminated, truncated;
};

struct hub_found_media {
    uint32_t episode, file;
    const char *camera, *codec, *problem; /* codec, problem: NULL when there is none */
    uint32_t width, height, fps_num, fps_den;
    uint64_t samples, first_frame, frames;
    double from, to;
};

struct hub_found_video {
    uint32_t file;
    void *table; /* checked (malloc): storage/model/video.h */
    size_t size;
};

/** Where the texts and lists of findings lie, a chain. */
struct hub_findings_block {
    struct hub_findings_block *next;
    size_t used, size;
    _Alignas(16) char data[];
};

struct hub_findings {
    struct hub_found_claim *claims;
    uint32_t claim_count; /* CLAIM: by listing; the directory's best bid first, else file claims */
    struct hub_found_fact *facts;
    uint32_t fact_count; /* PLAN */
    struct hub_found_part *parts;
    uint32_t part_count; /* PLAN */
    struct hub_found_problem *problems;
    uint32_t problem_count;
    struct hub_found_field *fields;
    uint32_t field_count; /* INSPECT */
    struct hub_found_episode *episodes;
    uint32_t episode_count;
    struct hub_found_media *media;
    uint32_t media_count;
    struct hub_found_video *videos;
    uint32_t video_count;
    uint64_t side_size;
    struct hub_findings_block *blocks; /* where all texts and lists lie; layouts are allocated one by one */
};

void hub_findings_dispose(struct hub_findings *findings);

/** The text of a fact of a plan; NULL: it has none. */
const char *hub_findings_fact(const struct hub_findings *plan, const char *key);

/** What is known of a video but its camera and its file, as members of an object. */
void hub_media_put(struct hub_json *json, const struct hub_found_media *media);

#endif

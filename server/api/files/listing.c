/* The listing of a dataset's files: see listing.h. */
#include "server/api/files/listing.h"

#include "server/api/put.h"
#include "storage/rows/open.h"
#include "storage/text/time.h"
#include "storage/truth/damage.h"
#include "storage/truth/digests.h"

static const struct {
    const char *suffix, *type;
} types[] = {
    {".json", "application/json"},
    {".jsonl", "application/x-ndjson"},
    {".hdf5", "application/x-hdf5"},
    {".h5", "application/x-hdf5"},
    {".parquet", "application/vnd.apache.parquet"},
    {".tar", "application/x-tar"},
    {".npz", "application/x-npz"},
    {".npy", "application/x-npy"},
    {".mp4", "video/mp4"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".gif", "image/gif"},
    {".md", "text/markdown; charset=utf-8"},
    {".txt", "text/plain; charset=utf-8"},
};

const char *hub_file_type(const char *path)
{
    for (size_t i = 0; i < HUB_COUNT(types); i++)
        if (hub_view_ends(hub_view_of(path), types[i].suffix))
            return types[i].type;
    return "application/octet-stream";
}

void hub_file_members(struct hub_json *json, const struct hub_dataset_file *file,
                      const struct hub_file_digests *digests)
{
    char modified[HUB_TIME_CHARS];
    hub_time_rfc3339_ns((int64_t)file->stamp.mtime_ns, modified); /* whole: a revision is made of it */
    hub_put_path(json, "path", file->path);
    hub_json_put_uint(json, "size", file->stamp.size);
    if (file->stamp.mtime_ns) /* else it is on its way, and nobody said so */
        hub_json_put_text(json, "modified", modified);
    hub_json_put_text(json, "type", hub_file_type(file->path));
    hub_put_if_set(json, "sha256", digests->sha256);
    hub_put_if_set(json, "crc32c", digests->crc32c);
    hub_put_if_set(json, "md5", digests->md5);
}

void hub_file_item(struct hub_json *json, const struct hub_dataset_file *file,
                   const struct hub_file_digests *digests)
{
    hub_json_object(json);
    hub_file_members(json, file, digests);
    hub_json_end_object(json);
}

void hub_file_put_damage(struct hub_json *json, struct hub_truth *truth, const struct hub_dataset *dataset,
                         const struct hub_dataset_file *file)
{
    const struct hub_summary *summary = dataset->summary;
    struct hub_error why = {0};
    char path[PATH_MAX];
    if (hub_damage_count(truth, summary->root, summary->path) && !hub_files_path(dataset, file, path, NULL) &&
        hub_damage_check(truth, summary->root, path, &file->stamp, &why))
        hub_json_put_text(json, "damaged", why.detail);
}

enum hub_status hub_files_digests(struct hub_truth *truth, const struct hub_dataset *dataset,
                                  struct hub_file_digests **out, struct hub_error *err)
{
    HUB_TRY(hub_new(out, dataset->file_count + 1, sizeof **out, err));
    return hub_digest_list(truth, dataset->summary->root, dataset->summary->path, dataset->files,
                           dataset->file_count, *out, err);
}

enum hub_status hub_files_write(struct hub_json *json, struct hub_truth *truth, const struct hub_state *state,
                                const bool *only, bool *hashed, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    HUB_CLEANUP(hub_freep) struct hub_file_digests *digests = NULL;
    uint64_t bytes = 0, count = 0;
    HUB_TRY(hub_files_digests(truth, dataset, &digests, err));
    *hashed = true;
    for (uint32_t i = 0; i < dataset->file_count; i++)
        if (!only || only[i]) {
            bytes += dataset->files[i].stamp.size;
            count++;
        }
    hub_json_put_text(json, "id", dataset->summary->id);
    hub_json_put_text(json, "revision", dataset->summary->revision);
    hub_json_put_uint(json, "size", only ? bytes : dataset->summary->size);
    hub_json_put_uint(json, "total", count);
    hub_json_put_array(json, "items");
    for (uint32_t i = 0; i < dataset->file_count; i++) {
        if (only && !only[i])
            continue;
        hub_json_object(json);
        hub_file_members(json, &dataset->files[i], &digests[i]);
        hub_file_put_damage(json, truth, dataset, &dataset->files[i]);
        hub_json_end_object(json);
        *hashed = *hashed && *digests[i].sha256;
    }
    hub_json_end_array(json);
    return hub_json_status(json);
}

/* ---- as a document ---- */

#define FILE_US 1.0 /* measured */

static uint64_t states_of(const struct hub_snapshot *snapshot, const struct hub_summary *summary)
{
    (void)snapshot;
    return summary->serial;
}

static double cost_us(const struct hub_dataset *dataset)
{
    return dataset->file_count * FILE_US;
}

static uint64_t memory_bytes(const struct hub_dataset *dataset)
{
    return dataset->file_count * (uint64_t)sizeof(struct hub_file_digests);
}

static enum hub_status write_document(struct hub_truth *truth, const struct hub_state *state,
                                      const struct hub_target *target, struct hub_buf *out,
                                      struct hub_document_facts *known, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    (void)target;
    known->measured = true;
    hub_json_object(&json);
    HUB_TRY(hub_files_write(&json, truth, state, NULL, &known->hashed, err));
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

const struct hub_document_kind hub_files_document = {.plain = HUB_KEPT_FILES,
                                                     .gzip = HUB_KEPT_FILES_GZIP,
                                                     .work = HUB_WORK_FILES,
                                                     .states = states_of,
                                                     .cost_us = cost_us,
                                                     .memory_bytes = memory_bytes,
                                                     .write = write_document};

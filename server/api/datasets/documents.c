/* Documents of datasets: see documents.h. */
#include "server/api/datasets/documents.h"
#include "server/api/datasets/fields.h"
#include "server/api/datasets/origin.h"
#include "server/api/datasets/shards.h"
#include "server/api/episodes/coverage.h"
#include "server/api/files/listing.h"
#include "server/api/put.h"
#include "storage/statistics/distribution.h"

#include "storage/base/digest.h"
#include "storage/ids/hf_cache.h"
#include "storage/ids/revision.h"
#include "storage/ids/version.h"
#include "storage/model/facet.h"
#include "storage/model/problem.h"
#include "storage/text/time.h"
#include "storage/truth/commits.h"
#include "storage/truth/damage.h"
#include "storage/truth/digests.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define EPISODE_US 0.1                        /* measured: a document sums them up */
#define PROBLEMS UINT64_C(0x8CB92BA72F3D8DD7) /* the list of problems: measuring adds some */

static uint64_t states_of(const struct hub_snapshot *snapshot, const struct hub_summary *summary)
{
    const struct hub_summary *const *first = NULL;
    uint64_t states = summary->serial;
    const uint32_t n = hub_snapshot_versions(snapshot, hub_view_of(summary->key), &first);
    for (uint32_t i = 0; i < n; i++)
        states = states * UINT64_C(0x9e3779b97f4a7c15) + first[i]->serial;
    return states + summary->problems * PROBLEMS;
}

/* ---- writing ---- */

void hub_summary_write(struct hub_json *json, struct hub_truth *truth, const struct hub_summary *summary)
{
    const uint32_t damaged = hub_damage_count(truth, summary->root, summary->path);
    const struct hub_load_rule *rule = hub_load_rule_find(summary->rule);
    hub_json_put_text(json, "id", summary->id);
    hub_put_if_set(json, "namespace", summary->ns);
    hub_json_put_text(json, "name", summary->name);
    if (summary->version >= 0)
        hub_json_put_int(json, "version", summary->version);
    hub_json_put_text(json, "format", summary->format);
    hub_put_if_set(json, "era", summary->era);
    hub_json_put_text(json, "status", hub_dataset_status_name(summary->status));
    hub_put_if_set(json, "reason", summary->reason);
    hub_json_put_uint(json, "episodes", summary->episodes);
    hub_json_put_uint(json, "steps", summary->steps);
    hub_json_put_uint(json, "size", summary->size);
    if (rule)
        hub_put_if_set(json, rule->version_key, summary->stated_version);
    hub_put_json(json, "loadable_by", hub_view_of(summary->loadable_by));
    if (hub_summary_refused(summary))
        hub_json_put_bool(json, "loadable", false);
    hub_put_if_set(json, "description", summary->description);
    hub_json_put_raw(json, "authors", *summary->authors ? hub_view_of(summary->authors) : HUB_VIEW("[]"));
    hub_facet_put(json, summary->known);
    hub_put_if_set(json, "revision", summary->revision);
    if (summary->modified_ns > 0)
        hub_put_time(json, "modified", summary->modified_ns);
    if (summary->costly)
        hub_json_put_uint(json, "costly_problems", summary->costly);
    if (damaged)
        hub_json_put_uint(json, "damaged", damaged);
}

void hub_versions_write(struct hub_json *json, struct hub_truth *truth, const struct hub_target *target)
{
    const struct hub_summary *const *first = NULL;
    const uint32_t n = hub_snapshot_versions(target->snapshot, hub_view_of(target->summary->key), &first);
    hub_json_put_array(json, "versions");
    for (uint32_t i = 0; i < n; i++) {
        hub_json_object(json);
        const bool same = first[i]->row == target->summary->row && hub_summary_is_here(first[i]);
        hub_summary_write(json, truth, same ? target->summary : first[i]);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

/* Facts that stand in the document under their own name, all of them JSON. */
static const char *const facts[] = {
    "metadata",     "observation_space", "action_space",  "env_spec", "splits",     "combined",
    "requirements", "claimed_episodes",  "claimed_steps", "fps",      "robot_type", "tasks",
    "subtasks",     "dimensions",        "cameras",       "card"};

static enum hub_status write_facts(struct hub_json *json, const struct hub_state *state,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(16 * MIB);
    for (size_t i = 0; i < HUB_COUNT(facts); i++) {
        text.size = 0;
        HUB_TRY(strcmp(facts[i], "splits") == 0 ? hub_dataset_splits(state, &text, err)
                                                : hub_dataset_fact(state, facts[i], &text, err));
        hub_put_json(json, facts[i], hub_buf_view(&text));
    }
    return hub_json_status(json);
}

/* ---- its numbers ---- */

/* Of its episodes; nothing where none has one. */
static enum hub_status write_series(struct hub_json *json, const struct hub_state *state,
                                    enum hub_property_kind kind, uint32_t *count, struct hub_error *err)
{
    HUB_CLEANUP(hub_series_dispose) struct hub_series s = {0};
    HUB_TRY(hub_series_read(state, NULL, kind, &s, err));
    *count = s.count;
    if (!s.count)
        return HUB_OK;
    hub_json_put_object(json, hub_property_word(kind));
    (void)hub_numbers_put(json, &s);
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* Episodes without a return may get one when their rewards are measured. */
static enum hub_status write_coverage(struct hub_json *json, const struct hub_state *state, uint32_t returns,
                                      bool *measured, struct hub_error *err)
{
    const uint32_t of = state->dataset->episode_count;
    struct hub_coverage coverage = {.complete = true};
    if (returns < of)
        HUB_TRY(hub_coverage_read(state, HUB_MEASURED_REWARDS, &coverage, err));
    *measured = coverage.complete;
    hub_json_put_object(json, "coverage");
    hub_json_put_uint(json, "episodes", coverage.complete ? of - coverage.lost.episodes : returns);
    hub_json_put_uint(json, "of", of);
    hub_coverage_put_end(json, &coverage);
    hub_json_end_object(json);
    return HUB_OK;
}

static enum hub_status write_statistics(struct hub_json *json, const struct hub_state *state, bool *measured,
                                        struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf claims = HUB_BUF_INIT(16 * MIB);
    uint32_t returns, others;
    HUB_TRY(hub_dataset_fact(state, "statistics", &claims, err));
    hub_json_put_object(json, "statistics");
    HUB_TRY(write_series(json, state, HUB_PROPERTY_RETURN, &returns, err));
    HUB_TRY(write_series(json, state, HUB_PROPERTY_STEPS, &others, err));
    HUB_TRY(write_series(json, state, HUB_PROPERTY_SCORE, &others, err));
    HUB_TRY(write_coverage(json, state, returns, measured, err));
    hub_put_json(json, "claimed", hub_buf_view(&claims));
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* ---- the document ---- */

/* "content" names the data once all files are hashed; until then it is left out. */
static enum hub_status write_content(struct hub_json *json, struct hub_truth *truth,
                                     const struct hub_state *state, char hex[HUB_CONTENT_CHARS + 1],
                                     struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    HUB_CLEANUP(hub_freep) struct hub_file_digests *digests = NULL;
    HUB_CLEANUP(hub_freep) struct hub_revision_file *files = calloc(dataset->file_count + 1, sizeof *files);
    HUB_CLEANUP(hub_freep) uint8_t *sums = calloc(dataset->file_count + 1, HUB_SHA256_BYTES);
    HUB_TRY(hub_allocated(files && sums, err));
    HUB_TRY(hub_files_digests(truth, dataset, &digests, err));
    for (uint32_t i = 0; i < dataset->file_count; i++) {
        uint8_t *sum = sums + (size_t)i * HUB_SHA256_BYTES;
        if (!hub_unhex(hub_view_of(digests[i].sha256), sum, HUB_SHA256_BYTES))
            return HUB_OK;
        files[i] = (struct hub_revision_file){
            .path = dataset->files[i].path, .size = dataset->files[i].stamp.size, .sha256 = sum};
    }
    HUB_TRY(hub_content(files, dataset->file_count, hex, err));
    hub_json_put_text(json, "content", hex);
    return HUB_OK;
}

struct damage_members {
    struct hub_json *json;
    size_t folder; /* bytes of a path before the file's own */
    bool changed;  /* some of them in place */
};

static void put_damaged(void *user, const struct hub_damage *damage)
{
    struct damage_members *d = user;
    hub_json_object(d->json);
    hub_json_put_text(d->json, "code", hub_damage_code(damage));
    hub_put_path(d->json, "path", damage->path + d->folder);
    hub_json_put_text(d->json, "detail", damage->why);
    if (!damage->served)
        hub_json_put_text(d->json, "costs", hub_problem_cost_name(HUB_COSTS_EPISODES));
    hub_json_end_object(d->json);
    d->changed |= damage->served;
}

/* Files came or went, or nobody found yet which were changed in place: they are served as they are. */
static void put_changed(struct hub_json *json, const struct hub_commit *head)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf detail = HUB_BUF_INIT(8 * KIB);
    if (hub_buf_addf(&detail, NULL,
                     "its files are not those of commit %.7s: `minari-hub check --deep %s` says which, and "
                     "`minari-hub adopt %s` makes a commit of them",
                     head->id, head->dataset, head->dataset))
        return;
    hub_json_object(json);
    hub_json_put_text(json, "code", "object-changed");
    hub_json_put_text(json, "detail", detail.data);
    hub_json_end_object(json);
}

/* Damaged files first, then what the inspection found. `head` is zeroed where nothing was published; its tree
 * is another one than `content`, unless that is not known. */
static void write_problems(struct hub_json *json, struct hub_truth *truth, const struct hub_state *state,
                           const struct hub_commit *head, const char *content, struct hub_view found)
{
    const struct hub_summary *summary = state->dataset->summary;
    struct damage_members d = {json, strlen(summary->path) + (*summary->path != '\0'), false};
    hub_json_put_array(json, "problems");
    (void)hub_damage_each(truth, summary->root, summary->path, put_damaged, &d);
    if (!d.changed && *head->tree && *content && strcmp(head->tree, content) != 0)
        put_changed(json, head);
    if (found.size > 2) /* without its brackets */
        hub_json_raw(json, (struct hub_view){found.data + 1, found.size - 2});
    hub_json_end_array(json);
}

/* Of a dataset that was published here; its head, too. */
static void write_commit(struct hub_json *json, struct hub_truth *truth, const struct hub_summary *summary,
                         struct hub_commit *head)
{
    const struct hub_view kept = hub_hf_cache_commit(hub_view_of(summary->path));
    if (kept.size)
        hub_json_put_string(json, "commit", kept);
    else if (!hub_commit_head(truth, summary->id, head, NULL) && head->kind != HUB_COMMIT_DELETE)
        hub_json_put_text(json, "commit", head->id);
}

static enum hub_status write_document(struct hub_truth *truth, const struct hub_state *state,
                                      const struct hub_target *target, struct hub_buf *out,
                                      struct hub_document_facts *known, struct hub_error *err)
{
    const struct hub_summary *summary = target->summary;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf problems = HUB_BUF_INIT(16 * MIB);
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    char content[HUB_CONTENT_CHARS + 1] = "";
    struct hub_json json = hub_json_to(out, err);
    hub_json_object(&json);
    hub_summary_write(&json, truth, summary);
    HUB_TRY(write_facts(&json, state, err));
    HUB_TRY(write_statistics(&json, state, &known->measured, err));
    HUB_TRY(hub_field_documents(&json, state, err));
    HUB_TRY(hub_cameras_write(&json, state, err));
    HUB_TRY(write_content(&json, truth, state, content, err));
    known->hashed = *content;
    hub_versions_write(&json, truth, target);
    hub_json_put_uint(&json, "files", summary->files);
    HUB_TRY(hub_shards_write(&json, state->dataset, err));
    hub_origin_write(&json, truth, summary);
    write_commit(&json, truth, summary, &head);
    HUB_TRY(hub_dataset_problems(state, &problems, err));
    write_problems(&json, truth, state, &head, content, hub_buf_view(&problems));
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_buf_add_text(out, "\n", err);
}

static double cost_us(const struct hub_dataset *dataset)
{
    return dataset->episode_count * EPISODE_US;
}

static uint64_t memory_bytes(const struct hub_dataset *dataset)
{
    const uint64_t of_file =
        sizeof(struct hub_file_digests) + sizeof(struct hub_revision_file) + HUB_SHA256_BYTES;
    return dataset->file_count * of_file + (uint64_t)dataset->episode_count * HUB_SERIES;
}

const struct hub_document_kind hub_dataset_document = {.plain = HUB_KEPT_DATASET,
                                                       .gzip = HUB_KEPT_DATASET_GZIP,
                                                       .work = HUB_WORK_EPISODES,
                                                       .states = states_of,
                                                       .cost_us = cost_us,
                                                       .memory_bytes = memory_bytes,
                                                       .write = write_document};

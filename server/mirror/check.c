/* The job of kind "check": see check.h. What it knows of a file is, in this order, what it was when it was
 * copied from a remote, what it was when it was hashed last, and what the record of a download says. Where
 * the file has another size or time than it had then, somebody changed it, and that is no damage; where it
 * has the same and other bytes, it is. */
#include "server/mirror/check.h"

#include "server/mirror/check_run.h"
#include "storage/text/time.h"
#include "storage/truth/commits.h"
#include "storage/truth/repos.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPEC_BYTES = 1024 * 1024, MAX_TARGET = 1000 };

/* ---- datasets ---- */

static bool is_requested(const json_t *ids, const struct hub_summary *summary)
{
    return hub_summary_is_here(summary) && hub_check_is_requested(ids, summary->id);
}

static enum hub_status check_all(struct hub_check_run *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(c->w->mirrors->options.catalog);
    for (uint32_t i = 0; i < snapshot->count; i++)
        if (is_requested(c->ids, snapshot->summaries[i]))
            c->w->total += snapshot->summaries[i]->size;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        c->summary = snapshot->summaries[i];
        if (is_requested(c->ids, c->summary))
            HUB_TRY(hub_check_dataset(c, err));
    }
    return hub_mirror_keep_now(c->w, err); /* how far it is */
}

static void dispose(struct hub_check_run *c)
{
    while (c->count)
        free((char *)c->batch[--c->count].path);
    json_decref(c->result);
    free(c->seen);
    free(c->block);
    free(c);
}

static void disposep(struct hub_check_run **c)
{
    if (*c)
        dispose(*c);
}

/* As far as it was. */
static enum hub_status begin_result(struct hub_check_run *c, struct hub_error *err)
{
    static const char *const counters[] = {"datasets", "files",          "bytes",   "first",
                                           "changed",  "missing",        "damaged", "repaired",
                                           "fetched",  "object-changed", "objects", "orphaned"};
    const char *before = c->w->job.result;
    if (*before)
        HUB_TRY(hub_json_parse(hub_view_of(before), 16 * MIB, &c->result, err));
    else
        c->result = json_pack("{s:[]}", "findings");
    for (size_t i = 0; c->result && i < HUB_COUNT(counters); i++)
        hub_check_count(c, counters[i], 0);
    (void)json_object_set_new(c->result, "datasets", json_integer(0)); /* all are gone through again */
    return hub_allocated(c->result, err);
}

enum hub_status hub_check_job(struct hub_mirror_work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *payload = NULL;
    HUB_CLEANUP(disposep) struct hub_check_run *c = NULL;
    HUB_TRY(hub_json_parse(hub_view_of(w->job.payload), SPEC_BYTES, &payload, err));
    HUB_TRY(hub_new(&c, 1, sizeof *c, err));
    c->w = w;
    c->ids = json_object_get(payload, "ids");
    c->repair = json_is_true(json_object_get(payload, "repair"));
    c->deep = json_is_true(json_object_get(payload, "deep"));
    c->rate = hub_member_uint(payload, "rate");
    c->since_ms = (int64_t)hub_member_uint(payload, "since");
    c->begun_us = hub_time_mono_us();
    c->flushed_ms = hub_time_mono_ms();
    c->block = malloc(HUB_CHECK_BLOCK);
    HUB_TRY(hub_allocated(c->block, err));
    HUB_TRY(begin_result(c, err));
    return c->deep ? hub_check_deep(c, err) : check_all(c, err);
}

/* ---- asking ---- */

struct asked {
    const json_t *ids;
    bool found;
};

static enum hub_status mark(void *user, const struct hub_commit *head, struct hub_error *err)
{
    struct asked *asked = user;
    (void)err;
    asked->found = asked->found || hub_check_is_requested(asked->ids, head->dataset);
    return HUB_OK;
}

static enum hub_status mark_repo(void *user, const struct hub_repo_row *repo, struct hub_error *err)
{
    struct asked *asked = user;
    (void)err;
    asked->found = asked->found || hub_check_is_requested(asked->ids, repo->id);
    return HUB_OK;
}

/* What a deep check is asked for may be gone, and have its commits alone, or be a repo and no dataset. */
static bool has_commit(struct hub_truth *truth, const json_t *ids)
{
    struct asked asked = {ids, false};
    return !hub_commits_heads(truth, mark, &asked, NULL) && !hub_repos_each(truth, mark_repo, &asked, NULL) &&
           asked.found;
}

static enum hub_status check_ids(struct hub_truth *truth, struct hub_catalog *catalog, const json_t *ids,
                                 bool deep, struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(catalog);
    const json_t *id;
    size_t i;
    json_array_foreach(ids, i, id)
    {
        HUB_CLEANUP(hub_json_decrefp) json_t *one = json_pack("[O]", id);
        bool found = false;
        if (!json_is_string(id))
            return hub_fail(err, HUB_INVALID,
                            "ids must be texts: ids of datasets, or patterns like 'D4RL/*'");
        for (uint32_t k = 0; one && k < snapshot->count && !found; k++)
            found = is_requested(one, snapshot->summaries[k]);
        if (!found && !(deep && has_commit(truth, one)))
            return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
                               "there is no dataset '%.200s'; `minari-cli list` shows all",
                               json_string_value(id));
    }
    return HUB_OK;
}

/* What it is about, in a word: two of the same are one. */
static enum hub_status name_target(const json_t *ids, bool deep, char *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(SPEC_BYTES);
    const json_t *id;
    size_t i;
    HUB_TRY(hub_buf_addf(&text, err, "%s%s", deep ? "--deep " : "", ids ? "" : "*"));
    json_array_foreach(ids, i, id)
        HUB_TRY(hub_buf_addf(&text, err, "%s%s", i ? " " : "", json_string_value(id)));
    if (text.size < MAX_TARGET)
        snprintf(out, MAX_TARGET, "%s", text.data);
    else
        snprintf(out, MAX_TARGET, "%.200s ... (%zu of them, %016" PRIx64 ")", text.data, json_array_size(ids),
                 hub_hash(HUB_HASH_START, text.data, text.size));
    return HUB_OK;
}

enum hub_status hub_check_request(struct hub_truth *truth, struct hub_catalog *catalog, const json_t *spec,
                                  int64_t *id, struct hub_error *err)
{
    const json_t *ids = json_object_get(spec, "ids"), *rate = json_object_get(spec, "rate");
    char target[MAX_TARGET];
    if (!json_is_object(spec) || (ids && (!json_is_array(ids) || !json_array_size(ids))))
        return hub_fail(err, HUB_INVALID, "a check must be a JSON object with ids, repair and rate");
    if (rate && (!json_is_integer(rate) || json_integer_value(rate) < 64 * 1024))
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "rate", "",
                              "the rate must be at least 64K per second");
    const bool deep = json_is_true(json_object_get(spec, "deep"));
    HUB_TRY(check_ids(truth, catalog, ids, deep, err));
    HUB_TRY(name_target(ids, deep, target, err));
    HUB_CLEANUP(hub_json_decrefp)
    json_t *payload = json_pack("{s:I, s:b, s:b}", "since", (json_int_t)(hub_time_now_ns() / 1000000),
                                "repair", json_is_true(json_object_get(spec, "repair")), "deep", deep);
    if (ids && payload)
        (void)json_object_set(payload, "ids", (json_t *)ids);
    if (rate && payload)
        (void)json_object_set(payload, "rate", (json_t *)rate);
    HUB_CLEANUP(hub_freep) char *text = payload ? json_dumps(payload, JSON_COMPACT) : NULL;
    HUB_TRY(hub_allocated(text, err));
    const struct hub_job_draft draft = {.kind = HUB_JOB_CHECK, .target = target, .rule = "", .payload = text};
    return hub_job_add(truth, &draft, id, err);
}

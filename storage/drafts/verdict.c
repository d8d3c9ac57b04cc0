/* The verdict over a tree: see verdict.h. */
#include "storage/drafts/verdict.h"

#include "storage/discover/claim.h"
#include "storage/model/claims.h"
#include "storage/model/problem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_BIDS = 16, PROBLEM_BYTES = 256 * 1024 };

const char *const hub_verdict_names[] = {
    [HUB_VERDICT_READY] = "ready", [HUB_VERDICT_BROKEN] = "broken", [HUB_VERDICT_FILES] = "files", NULL};

void hub_verdict_dispose(struct hub_verdict *verdict)
{
    free(verdict->format);
    verdict->format = NULL;
    hub_buf_dispose(&verdict->problems);
}

/* One inspection: the walk, its files and what was found so far. */
struct inspection {
    struct hub_inspector *inspector;
    const struct hub_walk *walk;
    struct hub_discovery discovery;
    struct hub_fileset files;
    struct hub_job_file *job_files;
    struct hub_verdict *verdict;
};

/* Trouble of this machine says nothing of the files. */
static bool is_local(enum hub_status st)
{
    return st == HUB_IO || st == HUB_NO_MEMORY || st == HUB_CANCELLED || st == HUB_TIMEOUT ||
           st == HUB_NO_SPACE;
}

static enum hub_status open_file(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    const struct inspection *i = user;
    return hub_roots_open(i->walk->roots, 0, i->files.files[number].path, O_RDONLY, fd, err);
}

/* ---- problems ---- */

static void say_broken(struct hub_verdict *verdict, const char *what, const char *why)
{
    if (verdict->status != HUB_VERDICT_BROKEN)
        snprintf(verdict->reason, sizeof verdict->reason, "%s%s%.300s", what, *what ? ": " : "", why);
    verdict->status = HUB_VERDICT_BROKEN;
}

/* What its own library refuses is broken: most often a file was cut, or left out. */
static enum hub_status add_problem(struct hub_verdict *verdict, const struct hub_found_problem *problem,
                                   struct hub_error *err)
{
    const char *path = problem->path ? problem->path : "";
    if (hub_problem_cost(hub_view_of(problem->code)) == HUB_COSTS_LOADING)
        say_broken(verdict, path, problem->detail);
    else if (!*verdict->doubt)
        snprintf(verdict->doubt, sizeof verdict->doubt, "%s%s%.300s", path, *path ? ": " : "",
                 problem->detail);
    if (++verdict->problem_count > HUB_VERDICT_PROBLEMS)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(&verdict->problems, verdict->problems.size ? "," : "", err));
    struct hub_json json = hub_json_to(&verdict->problems, err);
    hub_json_object(&json);
    hub_json_put_text(&json, "code", problem->code);
    if (*path)
        hub_json_put_text(&json, "path", path);
    hub_json_put_text(&json, "detail", problem->detail);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static enum hub_status add_problems(struct hub_verdict *verdict, const struct hub_found_problem *problems,
                                    uint32_t count, struct hub_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(add_problem(verdict, &problems[i], err));
    return HUB_OK;
}

/* ---- parts ---- */

static enum hub_status inspect_part(struct inspection *i, const struct hub_found_part *part,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_findings_dispose) struct hub_findings found = {0};
    HUB_CLEANUP(hub_closep) const int side = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    struct hub_error why = {0};
    const struct hub_job job = {.kind = HUB_JOB_INSPECT,
                                .format = i->verdict->format,
                                .files = i->job_files,
                                .file_count = i->files.count,
                                .part = part->name,
                                .hint = part->hint,
                                .part_files = part->files,
                                .part_file_count = part->file_count,
                                .side_fd = side,
                                .open_file = open_file,
                                .user = i,
                                .cancel = i->discovery.cancel};
    const enum hub_status st = hub_inspector_run(i->inspector, &job, &found, &why);
    if (is_local(st))
        return hub_pass(st, &why, err);
    if (st) {
        say_broken(i->verdict, part->name, why.detail);
        HUB_TRY(
            add_problem(i->verdict, &(struct hub_found_problem){"part-broken", part->name, why.detail}, err));
    }
    i->verdict->episodes += found.episode_count;
    for (uint32_t e = 0; e < found.episode_count; e++)
        i->verdict->steps += found.episodes[e].steps;
    return add_problems(i->verdict, found.problems, found.problem_count, err);
}

/* ---- the dataset ---- */

static enum hub_status take_files(struct inspection *i, struct hub_error *err)
{
    HUB_TRY(hub_walk_collect(i->walk, 0, "", NULL, NULL, &i->files, err));
    HUB_TRY(hub_new(&i->job_files, i->files.count + (size_t)1, sizeof *i->job_files, err));
    for (uint32_t n = 0; n < i->files.count; n++)
        i->job_files[n] = (struct hub_job_file){i->files.files[n].path, i->files.files[n].stamp.size, false};
    return HUB_OK;
}

static enum hub_status plan(struct inspection *i, const char *const *formats, uint32_t count,
                            struct hub_findings *out, struct hub_error *err)
{
    struct hub_error why = {0};
    const char *format = NULL;
    const struct hub_job job = {.files = i->job_files,
                                .file_count = i->files.count,
                                .hint = i->walk->roots->roots[0].path,
                                .side_fd = -1,
                                .open_file = open_file,
                                .user = i,
                                .cancel = i->discovery.cancel};
    const enum hub_status st = hub_inspector_plan(i->inspector, job, formats, count, &format, out, &why);
    if (is_local(st))
        return hub_pass(st, &why, err);
    if (st == HUB_NOT_ACCEPTABLE)
        return HUB_OK;
    HUB_TRY(hub_dup(&i->verdict->format, format, err));
    i->verdict->status = HUB_VERDICT_READY;
    if (st) {
        say_broken(i->verdict, "", why.detail);
        HUB_TRY(add_problem(i->verdict, &(struct hub_found_problem){"dataset-broken", "", why.detail}, err));
    }
    return add_problems(i->verdict, out->problems, out->problem_count, err);
}

static enum hub_status add_difference(void *user, const struct hub_found_problem *problem,
                                      struct hub_error *err)
{
    return add_problem(user, problem, err);
}

/* One that is refused all the same says of each broken part why, up to as many as are listed. */
static bool says_enough(const struct hub_verdict *verdict)
{
    return verdict->status == HUB_VERDICT_BROKEN && verdict->problem_count >= HUB_VERDICT_PROBLEMS;
}

static enum hub_status inspect_claimed(struct inspection *i, const struct hub_bids *bids,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_findings_dispose) struct hub_findings found = {0};
    const char *formats[MOST_BIDS];
    const uint32_t count = HUB_MIN(bids->count, (uint32_t)MOST_BIDS);
    for (uint32_t n = 0; n < count; n++)
        formats[n] = bids->bids[n].format;
    HUB_TRY(plan(i, formats, count, &found, err));
    i->verdict->parts = found.part_count;
    for (uint32_t n = 0; n < found.part_count && !says_enough(i->verdict); n++)
        HUB_TRY(inspect_part(i, &found.parts[n], err));
    const struct hub_claims claims = hub_claims_of(&found);
    return i->verdict->status != HUB_VERDICT_READY
               ? HUB_OK
               : hub_claims_check(&claims, i->verdict->episodes, i->verdict->steps, add_difference,
                                  i->verdict, err);
}

static enum hub_status inspect(struct inspection *i, struct hub_error *err)
{
    HUB_CLEANUP(hub_listing_dispose) struct hub_listing listing = {0};
    HUB_CLEANUP(hub_bids_dispose) struct hub_bids bids = {0};
    HUB_TRY(hub_walk_list(i->walk, 0, "", &listing, err));
    HUB_TRY(hub_claim_request(&i->discovery, 0, "", &listing, &bids, err));
    HUB_TRY(take_files(i, err));
    HUB_TRY(add_problems(i->verdict, i->files.problems, i->files.problem_count, err));
    if (bids.count && !bids.bids[0].name) /* one that has a name is of single files */
        HUB_TRY(inspect_claimed(i, &bids, err));
    if (i->verdict->status == HUB_VERDICT_FILES)
        snprintf(i->verdict->reason, sizeof i->verdict->reason,
                 "no format that this hub reads claims these files as one dataset");
    return HUB_OK;
}

enum hub_status hub_tree_inspect(struct hub_inspector *inspector, const char *directory, atomic_bool *cancel,
                                 struct hub_verdict *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots roots = {0};
    *out = (struct hub_verdict){.status = HUB_VERDICT_FILES, .problems = HUB_BUF_INIT(PROBLEM_BYTES)};
    HUB_TRY(hub_roots_add(&roots, directory, NULL, err));
    const struct hub_walk walk = {.roots = &roots, .max_directories = HUB_MAX_DIRECTORIES, .stop = cancel};
    struct inspection i = {
        .inspector = inspector,
        .walk = &walk,
        .discovery = {.walk = &walk, .inspector = inspector, .drivers = HUB_VERSION, .cancel = cancel},
        .verdict = out};
    const enum hub_status st = inspect(&i, err);
    hub_fileset_dispose(&i.files);
    free(i.job_files);
    return st;
}

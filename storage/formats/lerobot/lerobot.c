/*
 * LeRobot v2.0 and v2.1: meta/info.json, one Parquet file an episode, videos beside them
 * (https://github.com/huggingface/lerobot). Here: whose directory it is, and the plan. The files and
 * episodes.jsonl say what is there; info.json is kept as a claim, for its counts are often wrong. v1
 * (meta_data/) and v3 (many episodes to a file) are recognised and refused by name.
 *
 * Problems: bad-metadata, missing-file, unlisted-episodes, repeated-episode, bad-split, other-spelling,
 * bad-json-line, count-mismatch; of an episode's file or video: not-fetched (Git LFS), permission-denied;
 * of a file: unreadable-episode, no-episode-number, number-mismatch, length-mismatch, unknown-task; of a video:
 * bad-video, cut-video, videos-not-checked; of a field: missing-column, missing-video, shape-mismatch,
 * dtype-mismatch, nulls, unreadable-in-episodes.
 */
#include "storage/formats/lerobot/lerobot.h"

#include <stdlib.h>

#define HEAD (64 * KIB)

/* ---- claim ---- */

static bool has_directory(const struct hub_files *listing, const char *name)
{
    const uint32_t i = hub_files_find(listing, name);
    return i != HUB_NONE && listing->entries[i].directory;
}

/* LeRobot's other files are there: what stands in place of info.json is a broken one. */
static bool has_company(const struct hub_files *listing)
{
    return hub_files_find(listing, LEROBOT_EPISODES) != HUB_NONE ||
           hub_files_find(listing, LEROBOT_TASKS) != HUB_NONE;
}

static int claim(struct hub_files *listing)
{
    char head[HEAD + 1];
    size_t got = 0;
    const uint32_t info = hub_files_find(listing, LEROBOT_INFO);
    if (info == HUB_NONE) {
        const uint32_t old = hub_files_find(listing, "meta_data/info.json");
        return old != HUB_NONE || (has_directory(listing, "meta_data") &&
                                   (has_directory(listing, "data") || has_directory(listing, "videos")))
                   ? 60
               : has_directory(listing, "meta_data") ? 30
               : has_company(listing)                ? 60
                                                     : 0;
    }
    if (hub_files_read(listing, info, 0, head, HEAD, &got, NULL))
        return has_company(listing) || has_directory(listing, "data") ? 60 : 0;
    head[got] = '\0';
    if (strstr(head, "\"codebase_version\""))
        return 95;
    if (strstr(head, "\"version\"") && strstr(head, "\"features\""))
        return 70;
    return has_company(listing) ? 60 : 0;
}

/* ---- plan ---- */

struct plan {
    struct hub_files *files;
    struct hub_sink *sink;
    const json_t *info;
    struct lerobot_file *episodes; /* by number */
    uint32_t count;
    uint64_t listed, missing; /* lines of episodes.jsonl, and those without a file */
    int64_t first_missing;
};

static bool is_data(struct hub_view path)
{
    return hub_view_ends(path, ".parquet") && !hub_view_starts(path, "meta/") &&
           !hub_view_starts(path, "videos/");
}

static enum hub_status find_episodes(struct plan *p, struct hub_error *err)
{
    uint32_t numbered = 0;
    HUB_TRY(hub_new(&p->episodes, (size_t)p->files->count + 1, sizeof *p->episodes, err));
    for (uint32_t i = 0; i < p->files->count; i++) {
        const struct hub_view path = p->files->entries[i].path;
        if (!is_data(path))
            continue;
        p->episodes[p->count] = (struct lerobot_file){hub_lerobot_episode_of(path, ".parquet"), i};
        numbered += p->episodes[p->count++].episode >= 0;
    }
    qsort(p->episodes, p->count, sizeof *p->episodes, hub_lerobot_by_file);
    if (numbered) { /* then a table of another name is no episode */
        memmove(p->episodes, p->episodes + (p->count - numbered), numbered * sizeof *p->episodes);
        p->count = numbered;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct lerobot_file *e = &p->episodes[i];
        if (kept && e->episode >= 0 && p->episodes[kept - 1].episode == e->episode)
            HUB_TRY(hub_sink_problem(p->sink, "repeated-episode", p->files->entries[e->file].path, err,
                                     "episode %lld has another file already", (long long)e->episode));
        else
            p->episodes[kept++] = *e;
    }
    p->count = kept;
    return HUB_OK;
}

static enum hub_status listed_episode(void *user, json_t *line, uint32_t number, struct hub_error *err)
{
    struct plan *p = user;
    const int64_t wanted = hub_lerobot_line_episode(line);
    (void)number;
    (void)err;
    if (wanted < 0)
        return HUB_OK;
    p->listed++;
    const bool found = p->count && bsearch(&wanted, p->episodes, p->count, sizeof *p->episodes, hub_by_i64);
    if (!found && p->missing++ == 0)
        p->first_missing = wanted;
    return HUB_OK;
}

static enum hub_status check_listed(struct plan *p, struct hub_error *err)
{
    HUB_TRY(hub_lerobot_lines(
        &(struct lerobot_lines){p->files, p->sink, LEROBOT_EPISODES, 0, INT64_MAX, listed_episode, p}, err));
    if (p->count && p->episodes[0].episode < 0) { /* the files do not say which they are */
        p->missing = 0;
        return HUB_OK;
    }
    if (p->missing)
        HUB_TRY(hub_sink_problem(p->sink, "missing-file", HUB_VIEW(LEROBOT_EPISODES), err,
                                 "%llu of %llu listed episodes have no data file; the first is %lld",
                                 (unsigned long long)p->missing, (unsigned long long)p->listed,
                                 (long long)p->first_missing));
    if (p->listed && p->listed - p->missing < p->count)
        HUB_TRY(hub_sink_problem(p->sink, "unlisted-episodes", HUB_VIEW(LEROBOT_EPISODES), err,
                                 "%llu of %u data files are not listed",
                                 (unsigned long long)(p->count - (p->listed - p->missing)), p->count));
    return HUB_OK;
}

static enum hub_status send_count(struct plan *p, const char *fact, const char *key, struct hub_error *err)
{
    const json_t *count = json_object_get(p->info, key);
    if (json_integer_value(count) < 0)
        return hub_sink_problem(p->sink, "bad-metadata", HUB_VIEW(LEROBOT_INFO), err, "%s is negative: %lld",
                                key, (long long)json_integer_value(count));
    return json_is_integer(count) ? hub_sink_count(p->sink, fact, json_integer_value(count), err) : HUB_OK;
}

static uint64_t episodes_within(const struct plan *p, int64_t from, int64_t to)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->count; i++)
        n += p->episodes[i].episode >= from && p->episodes[i].episode < to;
    return n;
}

static enum hub_status send_splits(struct plan *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    struct hub_json json = hub_json_to(&text, err);
    json_t *splits = json_object_get(p->info, "splits");
    const char *name;
    json_t *range;
    hub_json_object(&json);
    json_object_foreach(splits, name, range)
    {
        int64_t from, to;
        if (!hub_lerobot_range(range, &from, &to)) {
            HUB_TRY(
                hub_sink_problem(p->sink, "bad-split", hub_view_of(name), err, "not a range of episodes"));
            continue;
        }
        const uint64_t count = episodes_within(p, from, to);
        hub_json_put_uint(&json, name, count);
        if (count != (uint64_t)(to - from))
            HUB_TRY(hub_sink_problem(p->sink, "bad-split", hub_view_of(name), err,
                                     "\"%s\" names %lld episodes, %llu are there", json_string_value(range),
                                     (long long)(to - from), (unsigned long long)count));
    }
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return json_object_size(splits) ? hub_sink_fact(p->sink, "splits", hub_buf_view(&text), err) : HUB_OK;
}

static enum hub_status send_statistics(struct plan *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *stats = NULL;
    struct hub_error why = {0};
    const enum hub_status st = hub_json_file(p->files, LEROBOT_STATS, &text, &stats, &why);
    if (st == HUB_NOT_FOUND)
        return HUB_OK;
    if (st || !json_is_object(stats))
        return hub_sink_problem(p->sink, "bad-metadata", HUB_VIEW(LEROBOT_STATS), err, "%s",
                                st ? why.detail : "not an object");
    return hub_sink_fact(p->sink, "statistics", hub_buf_view(&text), err);
}

static enum hub_status send_part(struct plan *p, const char *name, const struct lerobot_file *episodes,
                                 uint32_t count, struct hub_error *err)
{
    static const char *const meta[] = {LEROBOT_INFO, LEROBOT_EPISODES, LEROBOT_TASKS, LEROBOT_EPISODES_STATS};
    HUB_CLEANUP(hub_freep) uint32_t *files = calloc((size_t)count + HUB_COUNT(meta), sizeof *files);
    char hint[64];
    uint32_t n = 0;
    HUB_TRY(hub_allocated(files, err));
    for (uint32_t i = 0; i < count; i++)
        files[n++] = episodes[i].file;
    for (size_t i = 0; i < HUB_COUNT(meta); i++)
        if (hub_files_find(p->files, meta[i]) != HUB_NONE)
            files[n++] = hub_files_find(p->files, meta[i]);
    snprintf(hint, sizeof hint, "%lld:%lld", (long long)episodes[0].episode,
             (long long)episodes[count - 1].episode);
    return hub_sink_part(p->sink, &(struct hub_part){hub_view_of(name), files, n, hub_view_of(hint)}, err);
}

/* Runs by number, not by place: a run stays what it is when episodes are added behind it. */
static enum hub_status send_parts(struct plan *p, struct hub_error *err)
{
    char name[64];
    for (uint32_t i = 0, n; i < p->count; i += n) {
        const int64_t run = p->episodes[i].episode / LEROBOT_RUN;
        for (n = 1; i + n < p->count && p->episodes[i].episode >= 0 &&
                    p->episodes[i + n].episode / LEROBOT_RUN == run;
             n++)
            ;
        if (p->episodes[i].episode >= 0)
            snprintf(name, sizeof name, "episodes-%06lld", (long long)(run * LEROBOT_RUN));
        else
            snprintf(name, sizeof name, "file-%06u", i);
        HUB_TRY(send_part(p, name, &p->episodes[i], n, err));
    }
    return HUB_OK;
}

static enum hub_status check_version(struct plan *p, struct hub_error *err)
{
    const char *version = hub_lerobot_version(p->info);
    if (!version)
        return hub_fail(err, has_company(p->files) ? HUB_CORRUPT : HUB_NOT_ACCEPTABLE,
                        LEROBOT_INFO " states no codebase_version");
    if (strncmp(version, "2.", 2) != 0)
        return hub_fail(err, HUB_UNSUPPORTED, "LeRobot v%.20s: only v2.0 and v2.1 are supported", version);
    if (!json_object_get(p->info, "codebase_version"))
        return hub_sink_problem(p->sink, "other-spelling", HUB_VIEW(LEROBOT_INFO), err,
                                "\"version\" instead of \"codebase_version\"");
    return HUB_OK;
}

/* ---- totals ---- */

static enum hub_status compare_total(struct plan *p, const char *key, const char *path, uint64_t found,
                                     struct hub_error *err)
{
    const json_t *stated = json_object_get(p->info, key);
    if (!json_is_integer(stated) || json_integer_value(stated) == (json_int_t)found)
        return HUB_OK;
    return hub_sink_problem(p->sink, "count-mismatch", hub_view_of(path), err,
                            "info.json states %s %lld, there are %llu", key,
                            (long long)json_integer_value(stated), (unsigned long long)found);
}

static enum hub_status count_line(void *user, json_t *line, uint32_t number, struct hub_error *err)
{
    (void)line;
    (void)number;
    (void)err;
    ++*(uint64_t *)user;
    return HUB_OK;
}

static enum hub_status check_totals(struct plan *p, struct hub_error *err)
{
    uint64_t tasks = 0, videos = 0;
    HUB_TRY(hub_lerobot_lines(
        &(struct lerobot_lines){p->files, p->sink, LEROBOT_TASKS, 0, INT64_MAX, count_line, &tasks}, err));
    if (tasks) /* else the file is missing, empty or unreadable, which is told of it */
        HUB_TRY(compare_total(p, "total_tasks", LEROBOT_TASKS, tasks, err));
    HUB_TRY(hub_lerobot_check_videos(p->files, p->sink, &videos, err));
    return compare_total(p, "total_videos", "videos", videos, err);
}

/* ---- what LeRobot needs ---- */

/* A file that LeRobot opens before anything else. */
static enum hub_status check_needed(struct plan *p, const char *name, bool optional, struct hub_error *err)
{
    bool usable;
    const struct hub_view path = hub_view_of(name);
    const uint32_t number = hub_files_find(p->files, name);
    if (number == HUB_NONE)
        return optional ? HUB_OK
                        : hub_sink_problem(p->sink, "not-loadable", path, err,
                                           "LeRobot needs it, and it is missing");
    HUB_TRY(hub_report_unusable(p->files, number, p->sink, "LeRobot needs it, and it cannot be read", &usable,
                                err));
    return usable && !p->files->entries[number].size
               ? hub_sink_problem(p->sink, "not-loadable", path, err, "LeRobot needs it, and it is empty")
               : HUB_OK;
}

static enum hub_status check_loadable(struct plan *p, struct hub_error *err)
{
    const json_int_t claimed = json_integer_value(json_object_get(p->info, "total_episodes"));
    const char *version = hub_lerobot_version(p->info);
    if (p->count == 0 && claimed > 0)
        return hub_fail(err, HUB_CORRUPT, LEROBOT_INFO " states %lld episodes, but there is no data file",
                        (long long)claimed);
    if (p->count == 0)
        HUB_TRY(hub_sink_problem(p->sink, "not-loadable", HUB_VIEW("data"), err, "there is no data file"));
    if (!json_object_get(p->info, "codebase_version"))
        HUB_TRY(hub_sink_problem(p->sink, "not-loadable", HUB_VIEW(LEROBOT_INFO), err,
                                 "LeRobot looks for \"codebase_version\""));
    HUB_TRY(check_needed(p, LEROBOT_EPISODES, false, err));
    HUB_TRY(check_needed(p, LEROBOT_TASKS, false, err));
    HUB_TRY(check_needed(p, LEROBOT_EPISODES_STATS, strcmp(version, "2.1") != 0, err));
    return p->missing ? hub_sink_problem(p->sink, "not-loadable", HUB_VIEW(LEROBOT_EPISODES), err,
                                         "LeRobot needs the data file of every episode that is listed")
                      : HUB_OK;
}

static enum hub_status report(struct plan *p, struct hub_view info, struct hub_error *err)
{
    HUB_TRY(check_version(p, err));
    HUB_TRY(find_episodes(p, err));
    HUB_TRY(hub_sink_fact(p->sink, "metadata", info, err));
    HUB_TRY(send_count(p, "claimed_episodes", "total_episodes", err));
    HUB_TRY(send_count(p, "claimed_steps", "total_frames", err));
    HUB_TRY(check_listed(p, err));
    HUB_TRY(check_loadable(p, err));
    HUB_TRY(check_totals(p, err));
    HUB_TRY(send_splits(p, err));
    HUB_TRY(send_statistics(p, err));
    return send_parts(p, err);
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *info = NULL;
    if (hub_files_find(files, LEROBOT_INFO) == HUB_NONE) {
        HUB_CLEANUP(hub_json_decrefp) json_t *old = NULL;
        if (!hub_json_file(files, "meta_data/info.json", NULL, &old, NULL) && hub_lerobot_version(old))
            return hub_fail(err, HUB_UNSUPPORTED, "LeRobot v%.20s: only v2.0 and v2.1 are supported",
                            hub_lerobot_version(old));
        return hub_fail(err, has_company(files) ? HUB_CORRUPT : HUB_NOT_ACCEPTABLE,
                        LEROBOT_INFO " is missing");
    }
    HUB_TRY(hub_files_usable(files, hub_files_find(files, LEROBOT_INFO), err));
    HUB_TRY(hub_json_file(files, LEROBOT_INFO, &text, &info, err));
    if (!json_is_object(info))
        return hub_fail(err, HUB_CORRUPT, LEROBOT_INFO " is not an object");
    struct plan p = {.files = files, .sink = sink, .info = info};
    const enum hub_status st = report(&p, hub_buf_view(&text), err);
    free(p.episodes);
    return st;
}

static const char *const names[] = {LEROBOT_INFO,          LEROBOT_EPISODES, LEROBOT_TASKS,
                                    "meta_data/info.json", "meta_data/",     NULL};

const struct hub_format hub_format_lerobot = {
    .name = "lerobot",
    .names = names,
    .claim_directory = claim,
    .plan = plan,
    .inspect = hub_lerobot_inspect,
};

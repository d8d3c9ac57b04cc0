/* The job of kind "adopt": see adopt.h. All files of a dataset are hashed before anything of it is changed;
 * each digest is kept, so that another run need not read the file again. */
#include "server/mirror/adopt.h"

#include "server/mirror/occupied.h"
#include "server/mirror/work.h"
#include "storage/drafts/adopt.h"
#include "storage/ids/kept.h"
#include "storage/model/format_row.h"
#include "storage/text/time.h"
#include "storage/truth/commits.h"
#include "storage/truth/damage.h"
#include "storage/truth/digests.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SPEC_BYTES = 1024 * 1024, MAX_TARGET = 1000, MOST_ITEMS = 1000 };
enum { INSPECTED_MS = 60000, LOOK_MS = 200 };

/* A dataset under way. */
struct adoption {
    struct hub_mirror_work *w;
    const struct hub_mirrors_options *o;
    const struct hub_summary *summary;
    const char *root; /* its directory */
    const char *who;
    json_t *result;
    struct hub_commit head, made; /* `head` without a dataset: it has none */
    struct hub_adoption files;
    struct hub_digest_item *digests; /* of the files, in their order */
};

static void adoption_dispose(struct adoption *a)
{
    for (uint32_t i = 0; a->digests && i < a->files.files.count; i++)
        free((char *)a->digests[i].path);
    free(a->digests);
    hub_adoption_dispose(&a->files);
    hub_commit_dispose(&a->head);
}

/* ---- what it is ---- */

static enum hub_status check_origin(const struct adoption *a, struct hub_error *err)
{
    struct hub_upstream up;
    struct hub_view below;
    HUB_TRY(hub_mirror_check_id(a->o->truth, a->o->roots, a->summary->id, err));
    const enum hub_status st =
        hub_upstream_around(a->o->truth, a->summary->root, a->summary->path, false, &up, &below, NULL);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : hub_fail(err, st, "its origin cannot be looked up in hub.db");
    (void)hub_fail(err, HUB_EXISTS,
                   "it is a copy that the rule '%.64s' keeps as %.200s has it: push to another id, or "
                   "download it from there again without the rule",
                   up.rule, up.remote);
    hub_upstream_dispose(&up);
    return HUB_EXISTS;
}

static enum hub_status check_kind(const struct adoption *a, struct hub_error *err)
{
    const struct hub_summary *s = a->summary;
    if (!hub_summary_is_here(s))
        return hub_fail(err, HUB_INVALID, "an upstream has it, and nothing of it is here");
    if (hub_kept_commit(hub_view_of(s->id)).size)
        return hub_fail(err, HUB_INVALID, "it is an earlier revision: name the dataset itself");
    if (hub_format_is_files(s->format))
        return hub_fail(err, HUB_INVALID,
                        "it is not a dataset of a format that this hub reads, but loose files of a folder");
    if (s->status == HUB_DATASET_PENDING)
        return hub_fail(err, HUB_BUSY, "it is still to be inspected: try again when it is listed as ready");
    return a->o->roots->roots[s->root].read_only
               ? hub_fail(err, HUB_DENIED, "its root is read-only in the configuration (:ro)")
               : HUB_OK;
}

static enum hub_status find_head(struct adoption *a, bool *owned, struct hub_error *err)
{
    const enum hub_status st = hub_commit_head(a->o->truth, a->summary->id, &a->head, err);
    if (st && st != HUB_NOT_FOUND)
        return st;
    const bool there = !st && a->head.kind != HUB_COMMIT_DELETE;
    if (!there)
        hub_commit_dispose(&a->head);
    *owned = there && hub_adopt_is_owned(a->root, a->summary->path, a->head.id);
    return HUB_OK;
}

/* What its folder holds beside it would become a part of it. */
static enum hub_status check_files(const struct adoption *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    const struct hub_remote_files *files = &a->files.files;
    HUB_TRY(hub_dataset_get(a->o->catalog, a->summary, true, &dataset, err));
    uint32_t at = 0;
    for (uint32_t i = 0; i < files->count; i++) {
        const struct hub_file_facts *file = &files->items[i];
        while (at < dataset->file_count && strcmp(dataset->files[at].path, file->path) < 0)
            at++;
        if (at == dataset->file_count || strcmp(dataset->files[at].path, file->path) != 0)
            return hub_fail(
                err, HUB_INVALID,
                "'%.200s' lies in the folder '%.200s' as well, and is not a file of it: move the one "
                "or the other away",
                file->path, a->summary->path);
        if (dataset->files[at].stamp.size != file->size ||
            (int64_t)dataset->files[at].stamp.mtime_ns != file->modified_ns)
            return hub_fail(err, HUB_CHANGED,
                            "'%.200s' was changed and is still to be inspected: try again in a moment",
                            file->path);
    }
    return HUB_OK;
}

/* ---- its digests ---- */

static enum hub_status tick(void *user, struct hub_error *err)
{
    return hub_mirror_keep(user, err);
}

static enum hub_status hash(struct adoption *a, uint32_t i, struct hub_digest_item *item,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_file_hasher_dispose) struct hub_file_hasher hasher = {0};
    HUB_CLEANUP(hub_closep) int fd = -1, again = -1;
    const uint64_t size = a->files.files.items[i].size;
    HUB_TRY(hub_adopt_open(&a->files, i, &fd, err));
    HUB_TRY(hub_file_hasher_begin(&hasher, HUB_BY_MD5, size, err));
    HUB_TRY(hub_file_hasher_read(&hasher, fd, size, tick, a->w, err));
    HUB_TRY(hub_digests_end(&hasher, &item->digests, err));
    HUB_TRY(hub_adopt_open(&a->files, i, &again, err));
    return hub_digests_store(a->o->truth, a->summary->root, item, 1, err);
}

static enum hub_status find_digest(struct adoption *a, uint32_t i, struct hub_error *err)
{
    struct hub_digest_item *item = &a->digests[i];
    struct hub_file_facts *file = &a->files.files.items[i];
    struct hub_digest_note note;
    item->stamp = a->files.stamps[i];
    item->path = hub_path_join(a->summary->path, file->path);
    HUB_TRY(hub_allocated(item->path, err));
    HUB_TRY(hub_damage_check(a->o->truth, a->summary->root, item->path, &item->stamp, err));
    if (!hub_digest_request(a->o->truth, a->summary->root, item->path, &item->stamp, &note, NULL) &&
        note.same && *note.digests.sha256)
        item->digests = note.digests;
    else
        HUB_TRY(hash(a, i, item, err));
    a->w->done += file->size;
    file->has_sha256 = hub_unhex(hub_view_of(item->digests.sha256), file->sha256, sizeof file->sha256);
    return file->has_sha256 ? HUB_OK : hub_fail(err, HUB_CORRUPT, "hub.db has no digest of '%s'", file->path);
}

static enum hub_status find_digests(struct adoption *a, struct hub_error *err)
{
    HUB_TRY(hub_new(&a->digests, a->files.files.count, sizeof *a->digests, err));
    for (uint32_t i = 0; i < a->files.files.count; i++)
        HUB_TRY(find_digest(a, i, err));
    return HUB_OK;
}

/* ---- its commit ---- */

static void fill_commit(struct adoption *a)
{
    struct hub_commit *made = &a->made;
    made->kind = HUB_COMMIT_ADOPT;
    made->dataset = a->summary->id;
    made->who = a->who;
    made->message = "";
    made->root = a->summary->root;
    made->path = a->summary->path;
    made->files = a->files.files.count;
    made->bytes = a->files.files.bytes;
    memcpy(made->parent, a->head.id, sizeof made->parent);
}

/* The stamps are others, since no link moves them any more. */
static void keep_digests(struct adoption *a)
{
    for (uint32_t i = 0; i < a->files.files.count; i++)
        a->digests[i].stamp = a->files.stamps[i];
    for (uint32_t i = 0; i < a->files.files.count; i++) /* whoever changed it, it is that of the commit now */
        (void)!hub_damage_clear(a->o->truth, a->summary->root, a->digests[i].path, NULL);
    (void)!hub_digests_store(a->o->truth, a->summary->root, a->digests, a->files.files.count, NULL);
}

/* Nobody publishes in the root meanwhile. */
static enum hub_status take(struct adoption *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1;
    HUB_TRY(hub_private_lock(&a->files.place, &lock, err));
    HUB_TRY(hub_mirror_keep_now(a->w, err));
    HUB_TRY(hub_adopt_own(&a->files, err));
    fill_commit(a);
    HUB_TRY(hub_commit_name(a->made.id, err));
    HUB_TRY(hub_draft_tree_name(&a->files.files, a->made.tree, err));
    const struct hub_draft_place place = {
        .id = a->summary->id, .path = a->summary->path, .commit = a->made.id, .base = ""};
    HUB_TRY(hub_adopt_record(&a->files, &place, err));
    return hub_commit_adopt(a->o->truth, &a->made, err);
}

static enum hub_status adopt(struct adoption *a, bool *owned, struct hub_error *err)
{
    HUB_TRY(check_kind(a, err));
    HUB_TRY(check_origin(a, err));
    HUB_TRY(find_head(a, owned, err));
    if (*owned)
        return HUB_OK;
    HUB_TRY(hub_adopt_look(a->root, a->summary->path, &a->files, err));
    HUB_TRY(check_files(a, err));
    HUB_TRY(find_digests(a, err));
    HUB_TRY(take(a, err));
    keep_digests(a);
    if (a->o->scanner)
        hub_scanner_look(a->o->scanner, a->summary->root, a->summary->path);
    return HUB_OK;
}

/* ---- all that are asked for ---- */

static void count(const json_t *result, const char *what, uint64_t more)
{
    const json_int_t now = json_integer_value(json_object_get(result, what));
    (void)json_object_set_new((json_t *)result, what, json_integer(now + (json_int_t)more));
}

static void note_item(const struct adoption *a, json_t *item)
{
    json_t *items = json_object_get(a->result, "items");
    if (item && json_array_size(items) < MOST_ITEMS)
        (void)json_array_append(items, item);
    json_decref(item);
}

static void note_adopted(const struct adoption *a)
{
    count(a->result, "adopted", 1);
    count(a->result, "files", a->made.files);
    count(a->result, "bytes", a->made.bytes);
    note_item(a, json_pack("{s:s, s:s, s:I, s:I}", "dataset", a->summary->id, "commit", a->made.id, "files",
                           (json_int_t)a->made.files, "bytes", (json_int_t)a->made.bytes));
}

static void note_refused(const struct adoption *a, const char *why)
{
    count(a->result, "refused", 1);
    note_item(a, json_pack("{s:s, s:s}", "dataset", a->summary->id, "refused", why));
}

static enum hub_status keep_result(const struct adoption *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *text = json_dumps(a->result, JSON_COMPACT);
    HUB_TRY(hub_allocated(text, err));
    return hub_job_note(a->o->truth, hub_job_lease(&a->w->job), text, err);
}

/* Of the work, and not of one dataset. */
static bool ends_all(enum hub_status st, const struct hub_error *why)
{
    return st == HUB_CANCELLED || st == HUB_NO_MEMORY || st == HUB_NO_SPACE ||
           why->problem == HUB_PROBLEM_FENCED || why->problem == HUB_PROBLEM_STORAGE_UNAVAILABLE ||
           why->problem == HUB_PROBLEM_READ_ONLY;
}

struct inspection_wait {
    int64_t end_ms;
    bool looked;
};

/* It is inspected just now, or will be, or another one publishes it. */
static bool may_wait(const struct adoption *a, enum hub_status st, struct inspection_wait *wait)
{
    struct hub_scanner *scanner = a->o->scanner;
    struct hub_scan_progress now;
    if ((st != HUB_BUSY && st != HUB_CHANGED) || !scanner || hub_time_mono_ms() >= wait->end_ms)
        return false;
    if (!wait->looked) /* it may have changed a moment ago */
        hub_scanner_look(scanner, a->summary->root, a->summary->path);
    wait->looked = true;
    hub_scanner_prioritize(scanner, a->summary->id);
    hub_scanner_progress(scanner, &now);
    return !now.idle; /* else it was given up */
}

static enum hub_status note(const struct adoption *a, enum hub_status st, bool owned, const char *why,
                            struct hub_error *err)
{
    if (st)
        note_refused(a, why);
    else if (owned)
        count(a->result, "owned", 1);
    else
        note_adopted(a);
    return keep_result(a, err);
}

/* As it is listed now. HUB_AGAIN: in a moment. */
static enum hub_status try_one(struct hub_mirror_work *w, const char *id, const char *who, json_t *result,
                               struct inspection_wait *wait, struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *all = hub_catalog_snapshot(w->mirrors->options.catalog);
    HUB_CLEANUP(adoption_dispose)
    struct adoption a = {.w = w,
                         .o = &w->mirrors->options,
                         .summary = hub_snapshot_find(all, hub_view_of(id)),
                         .who = who,
                         .result = result,
                         .files = HUB_ADOPTION_INIT};
    struct hub_error why = {0};
    const uint64_t done = w->done;
    bool owned = false;
    if (!a.summary)
        return HUB_OK; /* somebody removed it meanwhile */
    a.root = hub_summary_is_here(a.summary) ? a.o->roots->roots[a.summary->root].path : "";
    const enum hub_status st = adopt(&a, &owned, &why);
    if (st && ends_all(st, &why))
        return hub_pass(st, &why, err);
    if (!may_wait(&a, st, wait))
        return note(&a, st, owned, why.detail, err);
    w->done = done;
    return HUB_AGAIN;
}

static enum hub_status adopt_one(struct hub_mirror_work *w, const char *id, const char *who, json_t *result,
                                 struct hub_error *err)
{
    struct inspection_wait wait = {.end_ms = hub_time_mono_ms() + INSPECTED_MS};
    enum hub_status st;
    while ((st = try_one(w, id, who, result, &wait, err)) == HUB_AGAIN) {
        HUB_TRY(hub_mirror_keep(w, err));
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
    }
    return st;
}

/* Of a prefix those are left out that are nobody's to adopt. */
static bool is_asked_for(const json_t *spec, const struct hub_summary *summary)
{
    const char *prefix = hub_member_text(spec, "all");
    const json_t *id;
    size_t i;
    json_array_foreach(json_object_get(spec, "ids"), i, id)
    {
        if (strcmp(json_string_value(id), summary->id) == 0)
            return true;
    }
    return prefix && hub_summary_is_here(summary) && !hub_format_is_files(summary->format) &&
           hub_path_below(summary->id, prefix);
}

static enum hub_status adopt_all(struct hub_mirror_work *w, const json_t *spec, json_t *result,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *all = hub_catalog_snapshot(w->mirrors->options.catalog);
    for (uint32_t i = 0; i < all->count; i++)
        w->total += is_asked_for(spec, all->summaries[i]) ? all->summaries[i]->size : 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (is_asked_for(spec, all->summaries[i]))
            HUB_TRY(adopt_one(w, all->summaries[i]->id, hub_member_text(spec, "who"), result, err));
    return hub_mirror_keep_now(w, err); /* how far it is */
}

enum hub_status hub_adopt_job(struct hub_mirror_work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *result = NULL;
    static const char *const counters[] = {"adopted", "refused", "owned", "files", "bytes"};
    HUB_TRY(hub_json_parse(hub_view_of(w->job.payload), 2 * SPEC_BYTES, &spec, err));
    if (*w->job.result) /* as far as it was; what was refused is looked at again */
        HUB_TRY(hub_json_parse(hub_view_of(w->job.result), 16 * MIB, &result, err));
    else
        result = json_pack("{s:[]}", "items");
    HUB_TRY(hub_allocated(result, err));
    for (size_t i = 0; i < HUB_COUNT(counters); i++)
        count(result, counters[i], 0);
    return adopt_all(w, spec, result, err);
}

/* ---- asking ---- */

static enum hub_status check_spec(const json_t *spec, struct hub_error *err)
{
    const json_t *ids = json_object_get(spec, "ids"), *all = json_object_get(spec, "all"), *id;
    size_t i;
    if (!json_is_object(spec) || !ids == !all || (all && !json_is_string(all)) ||
        (ids && (!json_is_array(ids) || !json_array_size(ids))))
        return hub_fail(err, HUB_INVALID,
                        "an adoption is a JSON object with ids, or with all: the prefix of ids");
    json_array_foreach(ids, i, id)
    {
        if (!json_is_string(id))
            return hub_fail(err, HUB_INVALID, "ids must be texts: ids of datasets");
    }
    return HUB_OK;
}

static enum hub_status check_found(struct hub_catalog *catalog, const json_t *spec, struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *all = hub_catalog_snapshot(catalog);
    const json_t *ids = json_object_get(spec, "ids"), *id;
    bool some = false;
    size_t i;
    json_array_foreach(ids, i, id)
    {
        if (!hub_snapshot_find(all, hub_view_of(json_string_value(id))))
            return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
                               "there is no dataset '%.200s'; `minari-cli list` shows all",
                               json_string_value(id));
    }
    for (uint32_t k = 0; !ids && !some && k < all->count; k++)
        some = is_asked_for(spec, all->summaries[k]);
    return ids || some ? HUB_OK
                       : hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
                                     "there is no dataset below '%.200s'; `minari-cli list` shows all",
                                     hub_member_text(spec, "all"));
}

/* A prefix is whole segments: "lab/" and "lab" are one. */
static json_t *make_payload(const json_t *spec, const char *who)
{
    json_t *payload = json_copy((json_t *)spec);
    const char *all = hub_member_text(spec, "all");
    const size_t size = all ? strlen(all) : 0;
    if (payload && size && all[size - 1] == '/')
        (void)json_object_set_new(payload, "all", json_stringn(all, size - 1));
    if (payload)
        (void)json_object_set_new(payload, "who", json_string(who));
    return payload;
}

enum hub_status hub_adopt_request(struct hub_truth *truth, struct hub_catalog *catalog, const json_t *spec,
                                  const char *who, int64_t *id, struct hub_error *err)
{
    char target[MAX_TARGET];
    HUB_TRY(check_spec(spec, err));
    HUB_CLEANUP(hub_json_decrefp) json_t *payload = make_payload(spec, who);
    HUB_TRY(hub_allocated(payload, err));
    HUB_TRY(check_found(catalog, payload, err));
    HUB_CLEANUP(hub_freep) char *text = json_dumps(payload, JSON_COMPACT);
    HUB_TRY(hub_allocated(text, err));
    const json_t *ids = json_object_get(payload, "ids");
    const char *first = ids ? json_string_value(json_array_get(ids, 0)) : hub_member_text(payload, "all");
    snprintf(target, sizeof target, "%.500s%s", first, ids ? "" : *first ? "/*" : "*");
    if (json_array_size(ids) > 1)
        snprintf(target, sizeof target, "%.500s ... (%zu of them, %016llx)", first, json_array_size(ids),
                 (unsigned long long)hub_hash(HUB_HASH_START, text, strlen(text)));
    const struct hub_job_draft draft = {.kind = HUB_JOB_ADOPT, .target = target, .rule = "", .payload = text};
    return hub_job_add(truth, &draft, id, err);
}

/* One dataset of a rule: what is here already, the transfer, and what is known of it afterwards. */
#include "server/mirror/listed.h"
#include "server/mirror/pull_job.h"
#include "server/mirror/spec.h"
#include "server/mirror/work.h"
#include "storage/io/fs.h"
#include "storage/scan/presence.h"
#include "storage/text/number.h"
#include "storage/transfer/publish.h"
#include "storage/transfer/record.h"
#include "storage/transfer/spaces.h"
#include "storage/transfer/transfer.h"
#include "storage/truth/damage.h"
#include "storage/truth/digests.h"
#include "storage/truth/upstream.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* What of the dataset is here, as the last transfer left it. */
struct here {
    struct hub_upstream known;
    struct hub_record record;
    struct hub_file_facts *files;
    struct hub_reuse have;
    bool is_copy, is_part; /* in hub.db or by its record; of a copy around it */
};

static void release(struct here *here)
{
    hub_closep(&here->have.directory);
    free(here->files);
    hub_upstream_dispose(&here->known);
    hub_record_dispose(&here->record);
}

static bool is_damaged(const struct hub_mirror_work *w, const char *dataset, const char *file)
{
    const struct hub_mirrors_options *o = &w->mirrors->options;
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(dataset, file);
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    if (!hub_damage_count(o->truth, w->root, NULL) || !path ||
        hub_roots_open(o->roots, w->root, path, O_PATH, &fd, NULL) || fstat(fd, &st))
        return false;
    const struct hub_stamp stamp = hub_stamp_of(&st);
    return hub_damage_check(o->truth, w->root, path, &stamp, NULL) != HUB_OK;
}

/* The digests of a file have the SHA-256 by now, or soon, where it was hashed only after it came. A digest of
 * other bytes than those that came does not count: the file was damaged by then. */
static void take_sha256(const struct hub_mirror_work *w, const char *dataset, struct hub_file_facts *to)
{
    const struct hub_mirrors_options *o = &w->mirrors->options;
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct hub_file_digests digests;
    struct stat st;
    char crc32c[9];
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(dataset, to->path);
    if (!path || to->other != HUB_BY_CRC32C || hub_roots_open(o->roots, w->root, path, O_PATH, &fd, NULL) ||
        fstat(fd, &st))
        return;
    hub_hex(to->sum, 4, crc32c);
    const struct hub_stamp stamp = hub_stamp_of(&st);
    to->has_sha256 = !hub_digest_find(o->truth, w->root, path, &stamp, &digests, NULL) &&
                     strcmp(digests.crc32c, crc32c) == 0 &&
                     hub_unhex(hub_view_of(digests.sha256), to->sha256, sizeof to->sha256);
}

/* @param cut  bytes of the paths of the copy that are those of this folder in it */
static void take_files(const struct hub_mirror_work *w, const char *path, const struct hub_file_facts *files,
                       size_t count, size_t cut, struct here *out)
{
    if (hub_new(&out->files, count, sizeof *out->files, NULL))
        return;
    for (size_t i = 0; i < count; i++) {
        struct hub_file_facts *to = &out->files[out->have.count];
        *to = files[i];
        to->path += cut;
        if (is_damaged(w, path, to->path))
            continue; /* to be fetched */
        if (!to->has_sha256)
            take_sha256(w, path, to);
        out->have.count++;
    }
}

/* What others put there is theirs. A copy that is not in hub.db as it lies here was published a moment
 * before a kill, or fetched from the same remote by the command line: its record says what came. */
static void look(const struct hub_mirror_work *w, const struct hub_private *place, const char *id,
                 const char *path, struct here *out)
{
    const struct hub_record *record = &out->record;
    HUB_CLEANUP(hub_freep)
    char *directory = hub_path_join(w->mirrors->options.roots->roots[w->root].path, path);
    struct hub_view below;
    const bool known =
        !hub_upstream_around(w->mirrors->options.truth, w->root, path, true, &out->known, &below, NULL);
    const bool recorded = directory && !hub_record_read(directory, &out->record, NULL) &&
                          strcmp(record->remote, w->remote.base) == 0;
    out->is_copy = known || recorded;
    out->is_part = known && below.size;
    if (recorded && strcmp(record->id, id) == 0 &&
        (!known || strcmp(record->revision, out->known.revision) != 0))
        take_files(w, path, record->files, record->count, 0, out);
    else if (known)
        take_files(w, path, out->known.files, out->known.file_count, below.size ? below.size + 1 : 0, out);
    if (out->have.count && hub_fs_open_beneath(place->root, path, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS,
                                               &out->have.directory, NULL))
        out->have.count = 0;
    out->have.files = out->files;
}

static bool same_member(const json_t *a, const json_t *b, const char *member)
{
    const json_t *one = json_object_get(a, member), *other = json_object_get(b, member);
    return one == other || json_equal(one, other);
}

bool hub_mirror_owns(const struct hub_mirror_work *w, const struct hub_upstream *copy, const char *id)
{
    struct hub_rule other;
    if (strcmp(copy->rule, w->rule.name) == 0)
        return true;
    if (strcmp(copy->remote, w->remote.base) != 0 || strcmp(copy->id, id) != 0 ||
        hub_rule_find_uncounted(w->mirrors->options.truth, copy->rule, &other, NULL))
        return false;
    const bool same = !hub_rule_pulls(&other) && same_member(other.spec, w->rule.spec, "include") &&
                      same_member(other.spec, w->rule.spec, "exclude");
    hub_rule_dispose(&other);
    return same;
}

/* Another rule's copy is not replaced, or the two would take turns for ever; nor is what is no copy. */
static enum hub_status check_target(const struct hub_mirror_work *w, const struct hub_private *place,
                                    const struct here *here, const char *id, const char *path,
                                    struct hub_error *err)
{
    struct hub_rule other;
    struct stat st;
    const char *rule = here->known.rule ? here->known.rule : "";
    if (fstatat(place->root, path, &st, AT_SYMLINK_NOFOLLOW))
        return HUB_OK;
    if (!here->is_copy)
        return hub_fail(err, HUB_EXISTS,
                        "'%.200s' already exists and is not a copy from this remote: move it away, or put "
                        "the copy elsewhere with --as NAME/",
                        path);
    if (!*rule || hub_mirror_owns(w, &here->known, id) ||
        hub_rule_find_uncounted(w->mirrors->options.truth, rule, &other, NULL))
        return HUB_OK;
    const bool keeps = !hub_rule_pulls(&other);
    hub_rule_dispose(&other);
    return keeps ? hub_fail(err, HUB_EXISTS,
                            "'%.200s' already exists, as a copy of the rule '%.64s' from %.200s: give one of "
                            "the two rules "
                            "--as NAME/, or remove one",
                            path, rule, here->known.remote)
                 : HUB_OK;
}

/* A folder of a larger copy, of which the remote lists the parts by now, becomes a copy of its own: it is
 * replaced as one. */
static enum hub_status mark_part(const struct hub_private *place, const struct here *here, const char *path,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int folder = -1;
    if (!here->is_part ||
        hub_fs_open_beneath(place->root, path, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, &folder, NULL))
        return HUB_OK;
    return hub_fs_write(folder, HUB_RECORD_FILE, HUB_VIEW("{}\n"), 0644, err);
}

static enum hub_status progress(const struct hub_transfer *t, void *user, struct hub_error *err)
{
    enum { FILE_BYTES = sizeof(struct hub_file_facts) + 128 /* its path */ };
    struct hub_mirror_work *w = user;
    hub_mirror_hold(w, (uint64_t)t->files.count * FILE_BYTES);
    w->total = t->bytes_total;
    if (t->phase == HUB_TRANSFER_FETCH)
        w->done = t->bytes_done;
    if (w->pull)
        hub_pull_progress(w->pull, w->done, w->total);
    return hub_mirror_keep(w, err);
}

/* The last moment: who lost the lease publishes nothing. */
static enum hub_status ready(const struct hub_transfer *t, void *user, struct hub_error *err)
{
    (void)t;
    return hub_mirror_keep_now(user, err);
}

/* Nobody changed it since. */
static bool is_as_it_came(const struct stat *st, const struct hub_file_facts *from)
{
    const struct hub_stamp stamp = hub_stamp_of(st);
    return stamp.size == from->size && (int64_t)stamp.mtime_ns == from->modified_ns;
}

/* Files that were hashed as they came are not hashed again; others soon are. Links have new stamps: they are
 * taken here as well. */
static enum hub_status keep_digests(const struct hub_mirror_work *w, const struct hub_transfer *t,
                                    struct hub_error *err)
{
    const struct hub_mirrors_options *o = &w->mirrors->options;
    HUB_CLEANUP(hub_freep) struct hub_digest_item *items = NULL;
    size_t count = 0;
    HUB_TRY(hub_new(&items, t->files.count, sizeof *items, err));
    for (uint32_t i = 0; i < t->files.count; i++) {
        const struct hub_file_facts *from = &t->files.items[i];
        struct hub_digest_item *item = &items[count];
        HUB_CLEANUP(hub_closep) int fd = -1;
        struct stat st;
        char *path = hub_path_join(t->target, from->path);
        if (!path || hub_roots_open(o->roots, w->root, path, O_PATH, &fd, NULL) || fstat(fd, &st) ||
            !is_as_it_came(&st, from)) {
            free(path);
            continue;
        }
        *item = (struct hub_digest_item){.path = path, .stamp = hub_stamp_of(&st)};
        hub_digests_stated(from, &item->digests);
        count++;
    }
    const enum hub_status st = hub_digests_store(o->truth, w->root, items, count, err);
    while (count)
        free((char *)items[--count].path);
    if (o->hasher)
        hub_digest_queue_resume(o->hasher);
    return st;
}

static enum hub_status store(const struct hub_mirror_work *w, const struct hub_transfer *t,
                             struct hub_error *err)
{
    const struct hub_upstream new = {.rule = w->rule.name,
                                     .remote = w->remote.base,
                                     .id = t->id,
                                     .revision = t->files.revision ? t->files.revision : "",
                                     .files = t->files.items,
                                     .file_count = t->files.count};
    HUB_TRY(
        hub_upstream_store(w->mirrors->options.truth, hub_job_lease(&w->job), w->root, t->target, &new, err));
    return keep_digests(w, t, err);
}

static const char **patterns(const json_t *spec, const char *member)
{
    const json_t *list = json_object_get(spec, member), *pattern;
    const size_t count = json_array_size(list);
    const char **out = count ? calloc(count + 1, sizeof *out) : NULL;
    size_t i;
    json_array_foreach(list, i, pattern)
    {
        if (out)
            out[i] = json_string_value(pattern);
    }
    return out;
}

static enum hub_status finish(struct hub_mirror_work *w, const struct hub_transfer *t, struct hub_error *err)
{
    const struct hub_mirrors_options *o = &w->mirrors->options;
    const uint64_t fetched = t->files.bytes - HUB_MIN(t->files.bytes, t->bytes_kept + t->bytes_linked);
    char all[HUB_SIZE_CHARS], came[HUB_SIZE_CHARS], names[400];
    HUB_TRY(store(w, t, err));
    HUB_TRY(hub_rule_count(o->truth, w->rule.name, fetched, NULL, err));
    hub_scanner_look(o->scanner, w->root, t->target);
    hub_number_size(t->files.bytes, all);
    hub_number_size(fetched, came);
    hub_remote_files_name_left_out(&t->files, names, sizeof names);
    hub_mirror_notify(w, HUB_MIRROR_COPIED, w->job.target, "%u file%s, %s; %s fetched, %llu verified%s%s",
                      t->files.count, hub_plural(t->files.count), all, came,
                      (unsigned long long)t->files_verified,
                      *names ? "; left out because of a hidden or impossible name: " : "", names);
    return HUB_OK;
}

/* Events for those who read a file while it is fetched. */
static const uint64_t pull_segment = 256 * KIB;

static struct hub_transfer_watch watch_of(const struct hub_mirror_work *w)
{
    struct hub_transfer_watch watch = hub_pull_watch;
    watch.user = w->pull;
    return watch;
}

static enum hub_status copy_to(struct hub_mirror_work *w, const struct hub_private *place,
                               const struct hub_copy_order *order, struct hub_error *err)
{
    HUB_CLEANUP(release) struct here here = {.have.directory = -1};
    HUB_CLEANUP(hub_freep)
    const char **include = patterns(w->rule.spec, "include"), **exclude = patterns(w->rule.spec, "exclude");
    HUB_CLEANUP(hub_transfer_dispose)
    struct hub_transfer t = {.remote = &w->remote,
                             .id = order->id,
                             .place = place,
                             .target = order->path,
                             .include = include,
                             .exclude = exclude,
                             .sha256_later = w->mirrors->options.hasher != NULL,
                             .spare_bytes = w->mirrors->options.min_free,
                             .cancel = &w->mirrors->workers.stop,
                             .progress = progress,
                             .ready = ready,
                             .user = w};
    const struct hub_transfer_watch watch = watch_of(w);
    t.watch = w->pull ? &watch : NULL;
    t.segment_bytes = w->pull ? pull_segment : 0;
    look(w, place, t.id, t.target, &here);
    HUB_TRY(check_target(w, place, &here, t.id, t.target, err));
    HUB_TRY(mark_part(place, &here, t.target, err));
    t.have = here.have.count ? &here.have : NULL;
    t.replace = here.is_copy;
    HUB_TRY(hub_transfer_run(&t, err));
    HUB_TRY(finish(w, &t, err));
    if (strcmp(t.id, t.target) == 0)
        (void)!hub_spaces_fetch(&w->remote, place, t.id, NULL); /* without them the dataset is whole */
    return HUB_OK;
}

char *hub_copy_order_text(const struct hub_copy_order *order)
{
    HUB_CLEANUP(hub_json_decrefp)
    json_t *payload =
        json_pack("{s:s, s:s, s:s*}", "id", order->id, "path", order->path, "within", order->within);
    return payload ? json_dumps(payload, JSON_COMPACT) : NULL;
}

enum hub_status hub_mirror_copy(struct hub_mirror_work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_json_decrefp) json_t *payload = NULL;
    HUB_TRY(hub_json_parse(hub_view_of(w->job.payload), 64 * KIB, &payload, err));
    const struct hub_copy_order order = {hub_member_text(payload, "id"), hub_member_text(payload, "path"),
                                         hub_member_text(payload, "within")};
    if (!order.id || !order.path)
        return hub_fail(err, HUB_INVALID, "the job does not say what to fetch");
    if (order.within && hub_job_is_open(w->mirrors->options.truth, w->job.kind, order.within))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_WAITS_FOR_OUTER,
                           "it is inside '%.200s', which is copied first", order.within);
    HUB_TRY(hub_private_open(w->mirrors->options.roots->roots[w->root].path, true, &place, err));
    return copy_to(w, &place, &order, err);
}

/* ---- its removal ---- */

static enum hub_status withdraw(const struct hub_mirrors_options *o, uint32_t root, const char *path,
                                const struct hub_upstream *known, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_TRY(hub_private_open(o->roots->roots[root].path, true, &place, err));
    return hub_withdraw(&place, path, &(struct hub_fetched){known->files, known->file_count}, err);
}

enum hub_status hub_copy_remove(const struct hub_mirrors_options *o, uint32_t root, const char *path,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_upstream_dispose) struct hub_upstream known = {0};
    struct hub_error why = {0};
    HUB_TRY(hub_presence_check(o->truth, o->catalog, o->roots, root, err));
    HUB_TRY(hub_upstream_find(o->truth, root, path, true, &known, err));
    const enum hub_status st = withdraw(o, root, path, &known, &why);
    if (st && st != HUB_NOT_FOUND)
        return hub_pass(st, &why, err);
    hub_scanner_look(o->scanner, root, path);
    return hub_upstream_forget(o->truth, root, path, err);
}

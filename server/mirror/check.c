/* The job of kind "check": see check.h. What it knows of a file is, in this order, what it was when it was
 * copied from a remote, what it was when it was hashed last, and what the record of a download says. Where
 * the file has another size or time than it had then, somebody changed it, and that is no damage; where it
 * has the same and other bytes, it is. */
#include "server/mirror/check.h"

#include "server/mirror/work.h"
#include "storage/base/digest.h"
#include "storage/base/order.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/transfer/record.h"
#include "storage/transfer/repair.h"
#include "storage/truth/damage.h"
#include "storage/truth/digests.h"
#include "storage/truth/upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

enum { BATCH = 256, FLUSH_MS = 1000, MAX_FINDINGS = 1000, SPEC_BYTES = 1024 * 1024, MAX_TARGET = 1000 };
#define BLOCK_BYTES (1 * MIB)

struct copy_check {
    struct hub_mirror_work *w;
    const json_t *ids; /* NULL: all */
    json_t *result;
    int64_t since_ms;     /* files checked after this time were checked by this job */
    bool repair, mended;  /* requested; true once a file of this dataset was repaired */
    uint64_t rate, paced; /* bytes a second, 0: any; bytes since `begun_us` */
    int64_t begun_us, flushed_ms;
    char *block;

    const struct hub_summary *summary; /* the dataset under way */
    struct hub_upstream up;
    char *copy;            /* the folder that the rule copied, which is the dataset's or one around it */
    struct hub_view below; /* of that, the dataset's; "": it is the same */
    struct hub_mirror_work *from;  /* the remote it came from, opened; NULL: not yet */
    struct hub_remote_files files; /* that it lists */
    struct hub_record record;
    int64_t downloaded_ns;

    uint32_t root; /* of the batch */
    size_t count;
    struct hub_digest_item batch[BATCH]; /* their paths are its own */
};

/* A file under way. */
struct subject {
    const struct hub_dataset_file *file;
    char *path; /* below the root */
    int fd;
    struct hub_stamp stamp;
    struct hub_digest_note note;
    const struct hub_file_facts *from; /* as it came, where it is still that file */
    enum { BY_NOTHING, BY_ORIGIN, BY_HASH, BY_RECORD } basis;
    bool changed;                          /* something is known of it, but of another state */
    struct hub_file_digests want, digests; /* what of it is known; of what was read */
};

/* ---- what is found ---- */

static void count(const struct copy_check *c, const char *what, uint64_t more)
{
    const json_int_t now = json_integer_value(json_object_get(c->result, what));
    (void)json_object_set_new(c->result, what, json_integer(now + (json_int_t)more));
}

/* An interrupted job meets what is damaged again. */
static bool is_known(const json_t *findings, const char *dataset, const char *path, const char *what)
{
    const json_t *item;
    size_t i;
    json_array_foreach(findings, i, item)
    {
        const char *text = hub_member_text(item, "path");
        if (strcmp(hub_member_text(item, "dataset"), dataset) == 0 && strcmp(text ? text : "", path) == 0 &&
            strcmp(hub_member_text(item, "what"), what) == 0)
            return true;
    }
    return false;
}

static void note(const struct copy_check *c, const char *path, const char *what, const char *detail)
{
    json_t *findings = json_object_get(c->result, "findings");
    if (is_known(findings, c->summary->id, path, what))
        return;
    count(c, what, 1);
    if (strcmp(what, "first") != 0 && json_array_size(findings) < MAX_FINDINGS)
        (void)json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s}", "dataset", c->summary->id,
                                                        "path", path, "what", what, "detail", detail));
}

/* Keep what is known by now: the digests, and what was found. */
static enum hub_status flush(struct copy_check *c, struct hub_error *err)
{
    struct hub_truth *truth = c->w->mirrors->options.truth;
    HUB_CLEANUP(hub_freep) char *text = json_dumps(c->result, JSON_COMPACT);
    enum hub_status st = hub_digests_store(truth, c->root, c->batch, c->count, err);
    while (c->count)
        free((char *)c->batch[--c->count].path);
    c->flushed_ms = hub_time_mono_ms();
    if (!st)
        st = hub_allocated(text, err);
    return st ? st : hub_job_note(truth, hub_job_lease(&c->w->job), text, err);
}

static enum hub_status keep_digests(struct copy_check *c, struct subject *s, struct hub_error *err)
{
    struct hub_digest_item *item = &c->batch[c->count++];
    *item = (struct hub_digest_item){.path = s->path, .stamp = s->stamp, .digests = s->digests};
    s->path = NULL;
    return c->count == BATCH || hub_time_mono_ms() - c->flushed_ms > FLUSH_MS ? flush(c, err) : HUB_OK;
}

/* ---- what is known of a file ---- */

/* Its SHA-256 of then. What got none while it came has what it was hashed to since, and the remote's
 * CRC-32C in any case: the hash may be of what was damaged by then. */
static void expect(struct subject *s, const struct hub_file_facts *then, int basis)
{
    s->basis = basis;
    if (then->has_sha256)
        hub_hex(then->sha256, HUB_SHA256_BYTES, s->want.sha256);
    else if (s->note.same)
        memcpy(s->want.sha256, s->note.digests.sha256, sizeof s->want.sha256);
    if (!then->has_sha256 && then->other == HUB_BY_CRC32C)
        hub_hex(then->sum, 4, s->want.crc32c);
}

static const struct hub_file_facts *find(const struct hub_file_facts *files, size_t count, const char *path)
{
    return count ? bsearch(&path, files, count, sizeof *files, hub_by_text) : NULL;
}

static void look_up(const struct copy_check *c, struct subject *s)
{
    struct hub_truth *truth = c->w->mirrors->options.truth;
    const char *path = s->file->path;
    const bool noted = !hub_digest_request(truth, c->summary->root, s->path, &s->stamp, &s->note, NULL);
    HUB_CLEANUP(hub_freep) char *below = c->below.size ? hub_path_join(c->below.data, path) : NULL;
    const struct hub_file_facts *from = find(c->up.files, c->up.file_count, below ? below : path),
                                *record = find(c->record.files, c->record.count, path);
    if (from && from->size == s->stamp.size && from->modified_ns == (int64_t)s->stamp.mtime_ns) {
        s->from = from;
        expect(s, from, BY_ORIGIN);
    } else if (s->note.same && (*s->note.digests.sha256 || *s->note.digests.crc32c)) {
        s->basis = BY_HASH;
        s->want = s->note.digests;
    } else if (record && record->size == s->stamp.size && (int64_t)s->stamp.mtime_ns <= c->downloaded_ns) {
        expect(s, record, BY_RECORD);
    }
    s->changed = !s->basis && (noted || from || record);
}

/* ---- reading ---- */

/* What lies in memory says nothing of the disk: it is read anew. What others had there stays there. */
static ssize_t read_from_disk(int fd, char *out, size_t size, uint64_t at)
{
    char byte;
    const bool warm =
        preadv2(fd, &(struct iovec){&byte, 1}, 1, (off_t)at, RWF_NOWAIT) == 1; /* so is the rest, mostly */
    (void)posix_fadvise(fd, (off_t)at, (off_t)size, POSIX_FADV_DONTNEED);
    const ssize_t n = hub_fs_pread(fd, out, size, at);
    if (!warm)
        (void)posix_fadvise(fd, (off_t)at, (off_t)size, POSIX_FADV_DONTNEED);
    return n;
}

static enum hub_status pace(struct copy_check *c, uint64_t bytes, struct hub_error *err)
{
    c->paced += bytes;
    c->w->done += bytes;
    for (;;) {
        HUB_TRY(hub_mirror_keep(c->w, err));
        const int64_t due_us =
                          c->rate ? c->begun_us + (int64_t)((double)c->paced * 1e6 / (double)c->rate) : 0,
                      wait_us = due_us - hub_time_mono_us();
        if (wait_us <= 0)
            return HUB_OK;
        nanosleep(&(struct timespec){.tv_nsec = 1000 * HUB_MIN(wait_us, INT64_C(100000))}, NULL);
    }
}

/* *bad: the disk has not all of it. */
static enum hub_status read_all(struct copy_check *c, struct subject *s, struct hub_file_hasher *hasher,
                                bool *bad, struct hub_error *err)
{
    for (uint64_t at = 0; at < s->stamp.size;) {
        const size_t n = (size_t)HUB_MIN(s->stamp.size - at, (uint64_t)BLOCK_BYTES);
        *bad = read_from_disk(s->fd, c->block, n, at) != (ssize_t)n;
        if (*bad)
            return HUB_OK;
        HUB_TRY(hub_file_hasher_add(hasher, (struct hub_view){c->block, n}, err));
        at += n;
        HUB_TRY(pace(c, n, err));
    }
    return HUB_OK;
}

static enum hub_status hash(struct copy_check *c, struct subject *s, bool *bad, struct hub_error *err)
{
    HUB_CLEANUP(hub_file_hasher_dispose) struct hub_file_hasher hasher = {0};
    const bool has_md5 = s->note.same && *s->note.digests.md5;
    HUB_TRY(hub_file_hasher_begin(&hasher, has_md5 ? HUB_BY_CRC32C : HUB_BY_MD5, s->stamp.size, err));
    HUB_TRY(read_all(c, s, &hasher, bad, err));
    if (*bad)
        return HUB_OK;
    s->digests = s->note.digests;
    return hub_digests_end(&hasher, &s->digests, err);
}

/* ---- one file ---- */

/* Not served from now on. */
static enum hub_status quarantine(struct copy_check *c, const struct subject *s, const char *what,
                                  const char *not_repaired, struct hub_error *err)
{
    char why[700];
    const struct hub_damage damage = {.root = c->summary->root,
                                      .path = s->path,
                                      .dataset = c->summary->path,
                                      .stamp = s->stamp,
                                      .why = why};
    if (not_repaired)
        snprintf(why, sizeof why, "%s; it cannot be fetched again: %s", what, not_repaired);
    else if (s->basis == BY_ORIGIN)
        snprintf(why, sizeof why, "%s; `minari-hub check --repair %s` fetches it again", what,
                 c->summary->id);
    else if (s->basis == BY_RECORD)
        snprintf(why, sizeof why, "%s; download the dataset again from %.200s", what, c->record.remote);
    else
        snprintf(why, sizeof why, "%s; put a good copy in its place", what);
    note(c, s->file->path, "damaged", why);
    hub_mirror_notify(c->w, HUB_CHECK_DAMAGED, c->summary->id, "%s: %s", s->file->path, why);
    return hub_damage_put(c->w->mirrors->options.truth, &damage, err);
}

/* ---- repairs ---- */

static void close_remote(struct copy_check *c)
{
    if (!c->from)
        return;
    hub_remote_files_dispose(&c->files);
    hub_remote_close(&c->from->remote);
    explicit_bzero(c->from->token, sizeof c->from->token);
    hub_rule_dispose(&c->from->rule);
    free(c->from);
    c->from = NULL;
}

static enum hub_status tick(void *user, struct hub_error *err)
{
    return hub_mirror_keep(user, err);
}

/* By its rule, whose token is for its remote alone; a rule that is gone had none. */
static enum hub_status open_remote(struct copy_check *c, struct hub_error *err)
{
    HUB_TRY(hub_new(&c->from, 1, sizeof *c->from, err));
    struct hub_mirror_work *of = c->from;
    *of = (struct hub_mirror_work){.mirrors = c->w->mirrors,
                                   .job = c->w->job,
                                   .done = c->w->done,
                                   .total = c->w->total,
                                   .kept_ms = c->w->kept_ms};
    const bool ruled = !hub_rule_find(of->mirrors->options.truth, c->up.rule, &of->rule, NULL);
    HUB_TRY(hub_mirror_open_remote(of, ruled ? hub_member_text(of->rule.spec, "remote") : c->up.remote, err));
    if (strcmp(of->remote.base, c->up.remote) != 0)
        return hub_fail(err, HUB_CHANGED, "its rule now names another remote");
    return hub_remote_list_files(&of->remote, c->up.id, NULL, &c->files, err);
}

static enum hub_status mend(struct copy_check *c, const struct subject *s, struct hub_repair *m,
                            struct hub_error *err)
{
    const struct hub_mirrors_options *o = &c->w->mirrors->options;
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf pieces = HUB_BUF_INIT(4 * GIB);
    if (o->roots->roots[c->summary->root].read_only)
        return hub_fail(err, HUB_DENIED, "it is read-only in the configuration (:ro)");
    if (!c->from)
        HUB_TRY(open_remote(c, err));
    HUB_TRY(hub_upstream_pieces(o->truth, c->summary->root, c->copy, s->from->path, &pieces, err));
    HUB_TRY(hub_private_open(o->roots->roots[c->summary->root].path, true, &place, err));
    *m = (struct hub_repair){.remote = &c->from->remote,
                             .files = &c->files,
                             .place = &place,
                             .target = c->copy,
                             .origin = s->from,
                             .stamp = &s->stamp,
                             .pieces = hub_buf_view(&pieces),
                             .tick = tick,
                             .user = c->from};
    return hub_repair_run(m, err);
}

/* It is another file now, with the bytes of before. */
static enum hub_status take_mended(struct copy_check *c, struct subject *s, const struct hub_repair *m,
                                   struct hub_error *err)
{
    const struct hub_mirrors_options *o = &c->w->mirrors->options;
    char how[200], bytes[HUB_SIZE_CHARS];
    struct stat st;
    hub_closep(&s->fd);
    s->fd = -1;
    HUB_TRY(hub_roots_open(o->roots, c->summary->root, s->path, O_RDONLY, &s->fd, err));
    if (fstat(s->fd, &st))
        return hub_fail_errno(err, errno, "'%s'", s->file->path);
    hub_number_size(m->bytes_fetched, bytes);
    snprintf(how, sizeof how, "%u of %u pieces were damaged: %s fetched again", m->fetched, m->segments,
             bytes);
    note(c, s->file->path, "repaired", how);
    count(c, "fetched", m->bytes_fetched);
    count(c, "files", 1);
    count(c, "bytes", s->stamp.size);
    hub_mirror_notify(c->w, HUB_CHECK_REPAIRED, c->summary->id, "%s: %s", s->file->path, how);
    s->stamp = hub_stamp_of(&st);
    s->digests = (struct hub_file_digests){{0}, {0}, {0}};
    hub_hex(m->sha256, HUB_SHA256_BYTES, s->digests.sha256);
    memcpy(s->digests.crc32c, s->want.crc32c, sizeof s->digests.crc32c);
    HUB_TRY(hub_damage_clear(o->truth, c->summary->root, s->path, err));
    c->mended = true;
    return keep_digests(c, s, err);
}

static bool is_other(const char *want, const char *is)
{
    return *want && strcmp(want, is) != 0;
}

static void describe(const struct subject *s, bool bad, char out[300])
{
    const bool crc = !is_other(s->want.sha256, s->digests.sha256);
    if (bad)
        snprintf(out, 300, "the disk cannot read the whole file");
    else
        snprintf(out, 300, "its bytes changed without a change of size or time (%s %.16s%s, it was %.16s%s)",
                 crc ? "CRC-32C" : "SHA-256", crc ? s->digests.crc32c : s->digests.sha256, crc ? "" : "...",
                 crc ? s->want.crc32c : s->want.sha256, crc ? "" : "...");
}

static enum hub_status deal_with_damage(struct copy_check *c, struct subject *s, bool bad,
                                        struct hub_error *err)
{
    char what[300];
    describe(s, bad, what);
    if (!c->repair || !s->from)
        return quarantine(c, s, what, NULL, err);
    struct hub_error why = {0};
    struct hub_repair m = {0};
    const enum hub_status st = mend(c, s, &m, &why);
    if (c->from)
        c->w->kept_ms = c->from->kept_ms;
    if (st &&
        (st == HUB_CANCELLED || strcmp(why.problem, "fenced") == 0 || (c->from && c->from->ended.status)))
        return hub_pass(st, &why, err);
    return st ? quarantine(c, s, what, why.detail, err) : take_mended(c, s, &m, err);
}

static enum hub_status deal_with_good(struct copy_check *c, struct subject *s, struct hub_error *err)
{
    count(c, "files", 1);
    count(c, "bytes", s->stamp.size);
    if (!s->basis)
        note(c, s->file->path, s->changed ? "changed" : "first",
             s->changed ? "it was changed after it was hashed: no damage; hashed again"
                        : "hashed for the first time");
    HUB_TRY(hub_damage_clear(c->w->mirrors->options.truth, c->summary->root, s->path, err));
    return keep_digests(c, s, err);
}

static enum hub_status compare(struct copy_check *c, struct subject *s, struct hub_error *err)
{
    struct stat st;
    bool bad = false;
    HUB_TRY(hash(c, s, &bad, err));
    if (fstat(s->fd, &st))
        return hub_fail_errno(err, errno, "'%s'", s->file->path);
    const struct hub_stamp now = hub_stamp_of(&st);
    if (!hub_stamp_equal(&now, &s->stamp)) {
        note(c, s->file->path, "changed", "it was changed while it was read: check it again");
        return HUB_OK;
    }
    return bad || is_other(s->want.sha256, s->digests.sha256) || is_other(s->want.crc32c, s->digests.crc32c)
               ? deal_with_damage(c, s, bad, err)
               : deal_with_good(c, s, err);
}

static void dispose_subject(struct subject *s)
{
    hub_closep(&s->fd);
    free(s->path);
}

static enum hub_status check_file(struct copy_check *c, const struct hub_dataset_file *file,
                                  struct hub_error *err)
{
    const struct hub_mirrors_options *o = &c->w->mirrors->options;
    HUB_CLEANUP(dispose_subject) struct subject s = {.file = file, .fd = -1};
    struct stat st;
    s.path = hub_path_join(c->summary->path, file->path);
    HUB_TRY(hub_allocated(s.path, err));
    const enum hub_status opened = hub_roots_open(o->roots, c->summary->root, s.path, O_RDONLY, &s.fd, NULL);
    if (opened || fstat(s.fd, &st) || !S_ISREG(st.st_mode)) {
        note(c, file->path, "missing",
             opened == HUB_DENIED ? "the hub may not read it" : "it no longer exists, or is not a file");
        c->w->done += file->stamp.size;
        return HUB_OK;
    }
    s.stamp = hub_stamp_of(&st);
    look_up(c, &s);
    if (s.note.same && c->since_ms <= s.note.checked_ms) { /* before it was interrupted */
        c->w->done += s.stamp.size;
        return HUB_OK;
    }
    return compare(c, &s, err);
}

/* ---- datasets ---- */

/* What a mirror or a download left of what it is. */
static void look_for_origin(struct copy_check *c)
{
    const struct hub_mirrors_options *o = &c->w->mirrors->options;
    HUB_CLEANUP(hub_freep)
    char *directory = hub_path_join(o->roots->roots[c->summary->root].path, c->summary->path);
    if (!hub_upstream_around(o->truth, c->summary->root, c->summary->path, true, &c->up, &c->below, NULL)) {
        const size_t size = strlen(c->summary->path) - c->below.size;
        c->copy = strndup(c->summary->path, c->below.size ? size - 1 : size);
        if (!c->copy)
            hub_upstream_dispose(&c->up);
        return;
    }
    if (!directory || hub_record_read(directory, &c->record, NULL))
        return;
    c->downloaded_ns = c->record.downloaded_s * 1000000000 + 999999999;
}

static void forget_origin(struct copy_check *c)
{
    close_remote(c);
    hub_upstream_dispose(&c->up);
    hub_record_dispose(&c->record);
    free(c->copy);
    c->copy = NULL;
    c->below = HUB_VIEW("");
}

static enum hub_status check_dataset(struct copy_check *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    struct hub_error why = {0};
    if (hub_dataset_get(c->w->mirrors->options.catalog, c->summary, true, &dataset, &why)) {
        note(c, "", "missing", why.detail);
        return HUB_OK;
    }
    count(c, "datasets", 1);
    look_for_origin(c);
    enum hub_status st = HUB_OK;
    c->root = c->summary->root;
    for (uint32_t i = 0; i < dataset->file_count && !st; i++)
        st = check_file(c, &dataset->files[i], err);
    if (!st)
        st = flush(c, err);
    forget_origin(c);
    if (c->mended && c->w->mirrors->options.scanner)
        hub_scanner_sweep(c->w->mirrors->options.scanner);
    c->mended = false;
    return st;
}

static bool is_asked(const json_t *ids, const struct hub_summary *summary)
{
    const json_t *pattern;
    size_t i;
    json_array_foreach(ids, i, pattern)
    {
        const char *text = json_string_value(pattern);
        if (strcmp(text, summary->id) == 0 || fnmatch(text, summary->id, 0) == 0)
            return hub_summary_is_here(summary);
    }
    return !ids && hub_summary_is_here(summary);
}

static enum hub_status check_all(struct copy_check *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(c->w->mirrors->options.catalog);
    for (uint32_t i = 0; i < snapshot->count; i++)
        if (is_asked(c->ids, snapshot->summaries[i]))
            c->w->total += snapshot->summaries[i]->size;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        c->summary = snapshot->summaries[i];
        if (is_asked(c->ids, c->summary))
            HUB_TRY(check_dataset(c, err));
    }
    return hub_mirror_keep_now(c->w, err); /* how far it is */
}

static void dispose(struct copy_check *c)
{
    while (c->count)
        free((char *)c->batch[--c->count].path);
    forget_origin(c);
    json_decref(c->result);
    free(c->block);
    free(c);
}

static void disposep(struct copy_check **c)
{
    if (*c)
        dispose(*c);
}

/* As far as it was. */
static enum hub_status begin_result(struct copy_check *c, struct hub_error *err)
{
    static const char *const counters[] = {"datasets", "files",   "bytes",    "first",  "changed",
                                           "missing",  "damaged", "repaired", "fetched"};
    const char *before = c->w->job.result;
    if (*before)
        HUB_TRY(hub_json_parse(hub_view_of(before), 16 * MIB, &c->result, err));
    else
        c->result = json_pack("{s:[]}", "findings");
    for (size_t i = 0; c->result && i < HUB_COUNT(counters); i++)
        count(c, counters[i], 0);
    (void)json_object_set_new(c->result, "datasets", json_integer(0)); /* all are gone through again */
    return hub_allocated(c->result, err);
}

enum hub_status hub_check_job(struct hub_mirror_work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *payload = NULL;
    HUB_CLEANUP(disposep) struct copy_check *c = NULL;
    HUB_TRY(hub_json_parse(hub_view_of(w->job.payload), SPEC_BYTES, &payload, err));
    HUB_TRY(hub_new(&c, 1, sizeof *c, err));
    c->w = w;
    c->ids = json_object_get(payload, "ids");
    c->repair = json_is_true(json_object_get(payload, "repair"));
    c->rate = hub_member_uint(payload, "rate");
    c->since_ms = (int64_t)hub_member_uint(payload, "since");
    c->begun_us = hub_time_mono_us();
    c->flushed_ms = hub_time_mono_ms();
    c->block = malloc(BLOCK_BYTES);
    HUB_TRY(hub_allocated(c->block, err));
    HUB_TRY(begin_result(c, err));
    return check_all(c, err);
}

/* ---- asking ---- */

static enum hub_status check_ids(struct hub_catalog *catalog, const json_t *ids, struct hub_error *err)
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
            found = is_asked(one, snapshot->summaries[k]);
        if (!found)
            return hub_fail_as(err, HUB_NOT_FOUND, "dataset-not-found",
                               "there is no dataset '%.200s'; `minari-cli list` shows all",
                               json_string_value(id));
    }
    return HUB_OK;
}

/* What it is about, in a word: two of the same are one. */
static enum hub_status name_target(const json_t *ids, char *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(SPEC_BYTES);
    const json_t *id;
    size_t i;
    HUB_TRY(hub_buf_add_text(&text, ids ? "" : "*", err));
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
        return hub_fail_about(err, HUB_INVALID, "bad-parameter", "rate", "",
                              "the rate must be at least 64K per second");
    HUB_TRY(check_ids(catalog, ids, err));
    HUB_TRY(name_target(ids, target, err));
    HUB_CLEANUP(hub_json_decrefp)
    json_t *payload = json_pack("{s:I, s:b}", "since", (json_int_t)(hub_time_now_ns() / 1000000), "repair",
                                json_is_true(json_object_get(spec, "repair")));
    if (ids && payload)
        (void)json_object_set(payload, "ids", (json_t *)ids);
    if (rate && payload)
        (void)json_object_set(payload, "rate", (json_t *)rate);
    HUB_CLEANUP(hub_freep) char *text = payload ? json_dumps(payload, JSON_COMPACT) : NULL;
    HUB_TRY(hub_allocated(text, err));
    const struct hub_job_draft draft = {.kind = HUB_JOB_CHECK, .target = target, .rule = "", .payload = text};
    return hub_job_add(truth, &draft, id, err);
}

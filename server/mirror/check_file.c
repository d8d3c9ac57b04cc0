/* One file of a check: what is known of it, what is read, and what is done about it. See check_run.h. */
#include "server/mirror/check_run.h"
#include "server/mirror/edited.h"

#include "storage/base/order.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/truth/damage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

enum { FLUSH_MS = 1000, MAX_FINDINGS = 1000 };

/* A file under way. */
struct subject {
    const struct hub_dataset_file *file;
    char *path; /* below the root */
    int fd;
    struct hub_stamp stamp;
    struct hub_digest_note note;
    const struct hub_file_facts *from; /* as it came, where it is still that file */
    const struct hub_file_facts *of;   /* BY_COMMIT: as it was published */
    bool owned, linked;                /* it has the mode of the hub's own; several links */
    enum { BY_NOTHING, BY_COMMIT, BY_ORIGIN, BY_HASH, BY_RECORD } basis;
    bool changed;                          /* something is known of it, but of another state */
    struct hub_file_digests want, digests; /* what of it is known; of what was read */
};

/* ---- what is found ---- */

void hub_check_count(const struct hub_check_run *c, const char *what, uint64_t more)
{
    const json_int_t now = json_integer_value(json_object_get(c->result, what));
    (void)json_object_set_new(c->result, what, json_integer(now + (json_int_t)more));
}

/* An interrupted job meets what is damaged again. */
static bool is_listed(const json_t *findings, const char *dataset, const char *path, const char *what)
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

void hub_check_note_of(const struct hub_check_run *c, const struct hub_file_facts *file, const char *path,
                       const char *what, const char *detail)
{
    json_t *findings = json_object_get(c->result, "findings");
    char hex[2 * HUB_SHA256_BYTES + 1];
    if (is_listed(findings, c->summary->id, path, what))
        return;
    hub_check_count(c, what, 1);
    if (strcmp(what, "first") == 0 || json_array_size(findings) >= MAX_FINDINGS)
        return;
    json_t *finding = json_pack("{s:s, s:s, s:s, s:s}", "dataset", c->summary->id, "path", path, "what", what,
                                "detail", detail);
    if (finding && file && file->has_sha256) {
        hub_hex(file->sha256, HUB_SHA256_BYTES, hex);
        (void)json_object_set_new(finding, "sha256", json_string(hex));
    }
    (void)json_array_append_new(findings, finding);
}

void hub_check_note(const struct hub_check_run *c, const char *path, const char *what, const char *detail)
{
    hub_check_note_of(c, NULL, path, what, detail);
}

enum hub_status hub_check_flush(struct hub_check_run *c, struct hub_error *err)
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

static enum hub_status keep_digests(struct hub_check_run *c, struct subject *s, struct hub_error *err)
{
    struct hub_digest_item *item = &c->batch[c->count++];
    *item = (struct hub_digest_item){.path = s->path, .stamp = s->stamp, .digests = s->digests};
    s->path = NULL;
    return c->count == HUB_CHECK_BATCH || hub_time_mono_ms() - c->flushed_ms > FLUSH_MS
               ? hub_check_flush(c, err)
               : HUB_OK;
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

static void look_up(const struct hub_check_run *c, struct subject *s)
{
    struct hub_truth *truth = c->w->mirrors->options.truth;
    const char *path = s->file->path;
    const bool noted = !hub_digest_request(truth, c->summary->root, s->path, &s->stamp, &s->note, NULL);
    HUB_CLEANUP(hub_freep) char *below = c->below.size ? hub_path_join(c->below.data, path) : NULL;
    const struct hub_file_facts *from = find(c->up.files, c->up.file_count, below ? below : path),
                                *record = find(c->record.files, c->record.count, path);
    if (c->commit && record && record->has_sha256) {
        s->of = record;
        s->basis = BY_COMMIT;
        hub_hex(record->sha256, HUB_SHA256_BYTES, s->want.sha256);
    } else if (from && from->size == s->stamp.size && from->modified_ns == (int64_t)s->stamp.mtime_ns) {
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

/* What lies in memory says nothing of the disk: it is read again. What others had there stays there. */
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

static enum hub_status pace(struct hub_check_run *c, uint64_t bytes, struct hub_error *err)
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

enum hub_status hub_check_read(struct hub_check_run *c, int fd, uint64_t size, struct hub_file_hasher *hasher,
                               bool *bad, struct hub_error *err)
{
    for (uint64_t at = 0; at < size;) {
        const size_t n = (size_t)HUB_MIN(size - at, (uint64_t)HUB_CHECK_BLOCK);
        *bad = read_from_disk(fd, c->block, n, at) != (ssize_t)n;
        if (*bad)
            return HUB_OK;
        HUB_TRY(hub_file_hasher_add(hasher, (struct hub_view){c->block, n}, err));
        at += n;
        HUB_TRY(pace(c, n, err));
    }
    return HUB_OK;
}

static enum hub_status hash(struct hub_check_run *c, struct subject *s, bool *bad, struct hub_error *err)
{
    HUB_CLEANUP(hub_file_hasher_dispose) struct hub_file_hasher hasher = {0};
    const struct hub_file_digests *seen = s->linked ? hub_check_find_seen(c, &s->stamp) : NULL;
    if (seen) {
        s->digests = *seen;
        return pace(c, s->stamp.size, err);
    }
    const bool has_md5 = s->note.same && *s->note.digests.md5;
    HUB_TRY(hub_file_hasher_begin(&hasher, has_md5 ? HUB_BY_CRC32C : HUB_BY_MD5, s->stamp.size, err));
    HUB_TRY(hub_check_read(c, s->fd, s->stamp.size, &hasher, bad, err));
    if (*bad)
        return HUB_OK;
    s->digests = s->note.digests;
    HUB_TRY(hub_digests_end(&hasher, &s->digests, err));
    if (c->deep && s->linked)
        hub_check_add_seen(c, &s->stamp, &s->digests);
    return HUB_OK;
}

/* ---- what is done about it ---- */

/* Not served from now on. */
static enum hub_status quarantine(struct hub_check_run *c, const struct subject *s, const char *what,
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
    else if (s->basis == BY_COMMIT)
        snprintf(why, sizeof why, "%s; `minari-hub check --deep` says where it can come from", what);
    else if (s->basis == BY_RECORD)
        snprintf(why, sizeof why, "%s; download the dataset again from %.200s", what, c->record.remote);
    else
        snprintf(why, sizeof why, "%s; put a good copy in its place", what);
    hub_check_note_of(c, s->of ? s->of : s->from, s->file->path, "damaged", why);
    hub_mirror_notify(c->w, HUB_CHECK_DAMAGED, c->summary->id, "%s: %s", s->file->path, why);
    return hub_damage_put(c->w->mirrors->options.truth, &damage, err);
}

/* It is another file now, with the bytes of before. */
static enum hub_status take_mended(struct hub_check_run *c, struct subject *s, const struct hub_repair *m,
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
    hub_check_note(c, s->file->path, "repaired", how);
    hub_check_count(c, "fetched", m->bytes_fetched);
    hub_check_count(c, "files", 1);
    hub_check_count(c, "bytes", s->stamp.size);
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

/* Somebody changed its mode first, as an editor does: it is a file like any other since, and is served. */
static enum hub_status deal_with_edit(struct hub_check_run *c, struct subject *s, struct hub_error *err)
{
    char why[HUB_EDITED_BYTES];
    const struct hub_hash_result file = {.root = c->summary->root,
                                         .dataset = c->summary->id,
                                         .folder = c->summary->path,
                                         .path = s->path,
                                         .stamp = s->stamp,
                                         .sha256 = s->digests.sha256};
    const enum hub_status st =
        hub_edited_put(c->w->mirrors->options.truth, &file, c->commit, s->of, why, err);
    hub_check_note_of(c, s->of, s->file->path, "object-changed", why);
    return st ? st : keep_digests(c, s, err);
}

static enum hub_status deal_with_damage(struct hub_check_run *c, struct subject *s, bool bad,
                                        struct hub_error *err)
{
    char what[300];
    if (s->basis == BY_COMMIT && !s->owned && !bad)
        return deal_with_edit(c, s, err);
    describe(s, bad, what);
    if (!c->repair || !s->from)
        return quarantine(c, s, what, NULL, err);
    struct hub_error why = {0};
    struct hub_repair m = {0};
    const enum hub_status st = hub_check_mend(c, s->from, &s->stamp, &m, &why);
    if (c->from)
        c->w->kept_ms = c->from->kept_ms;
    if (st &&
        (st == HUB_CANCELLED || why.problem == HUB_PROBLEM_FENCED || (c->from && c->from->ended.status)))
        return hub_pass(st, &why, err);
    return st ? quarantine(c, s, what, why.detail, err) : take_mended(c, s, &m, err);
}

static enum hub_status deal_with_good(struct hub_check_run *c, struct subject *s, struct hub_error *err)
{
    hub_check_count(c, "files", 1);
    hub_check_count(c, "bytes", s->stamp.size);
    if (!s->basis)
        hub_check_note(c, s->file->path, s->changed ? "changed" : "first",
                       s->changed ? "it was changed after it was hashed: no damage; hashed again"
                                  : "hashed for the first time");
    HUB_TRY(hub_damage_clear(c->w->mirrors->options.truth, c->summary->root, s->path, err));
    return keep_digests(c, s, err);
}

static enum hub_status compare(struct hub_check_run *c, struct subject *s, struct hub_error *err)
{
    struct stat st;
    bool bad = false;
    HUB_TRY(hash(c, s, &bad, err));
    if (fstat(s->fd, &st))
        return hub_fail_errno(err, errno, "'%s'", s->file->path);
    const struct hub_stamp now = hub_stamp_of(&st);
    if (!hub_stamp_equal(&now, &s->stamp)) {
        hub_check_note(c, s->file->path, "changed", "it was changed while it was read: check it again");
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

enum hub_status hub_check_file(struct hub_check_run *c, const struct hub_dataset_file *file,
                               struct hub_error *err)
{
    const struct hub_mirrors_options *o = &c->w->mirrors->options;
    HUB_CLEANUP(dispose_subject) struct subject s = {.file = file, .fd = -1};
    struct stat st;
    s.path = hub_path_join(c->summary->path, file->path);
    HUB_TRY(hub_allocated(s.path, err));
    const enum hub_status opened = hub_roots_open(o->roots, c->summary->root, s.path, O_RDONLY, &s.fd, NULL);
    if (opened || fstat(s.fd, &st) || !S_ISREG(st.st_mode)) {
        const struct hub_file_facts *of =
            c->commit ? find(c->record.files, c->record.count, file->path) : NULL;
        hub_check_note_of(c, of, file->path, "missing",
                          opened == HUB_DENIED ? "the hub may not read it"
                                               : "it no longer exists, or is not a file");
        c->w->done += file->stamp.size;
        return HUB_OK;
    }
    s.stamp = hub_stamp_of(&st);
    s.owned = hub_stat_is_owned(&st);
    s.linked = s.owned && st.st_nlink > 1;
    look_up(c, &s);
    if (s.note.same && c->since_ms <= s.note.checked_ms) { /* before it was interrupted */
        c->w->done += s.stamp.size;
        s.digests = s.note.digests;
        return s.basis == BY_COMMIT && is_other(s.want.sha256, s.digests.sha256)
                   ? deal_with_damage(c, &s, false, err)
                   : HUB_OK;
    }
    return compare(c, &s, err);
}

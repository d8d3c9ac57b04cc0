/* Unfinished downloads: see staging.h. */
#include "storage/transfer/staging.h"

#include "storage/base/order.h"
#include "storage/io/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 1 << 28, STEP = 1024 * 1024 };
enum { SYNC_ALL_FROM = 64 }; /* more files than this are synced in one go, with all else on the file system */

void hub_staging_drop_hasher(struct hub_staging *s, uint32_t file)
{
    struct hub_file_hasher *h = s->files[file].hasher;
    if (h)
        hub_file_hasher_dispose(h);
    free(h);
    s->files[file].hasher = NULL;
}

/* ---- the place ---- */

static enum hub_status lock_it(struct hub_staging *s, const char *id, struct hub_error *err)
{
    s->lock = openat(s->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (s->lock < 0)
        return hub_fail_errno(err, errno, "'%s/lock' cannot be opened", s->path);
    if (!flock(s->lock, LOCK_EX | LOCK_NB))
        return HUB_OK;
    if (errno == EWOULDBLOCK)
        return hub_fail_as(err, HUB_BUSY, "download-running",
                           "another process is downloading '%s' into this root", id);
    return errno == ENOLCK || errno == EOPNOTSUPP
               ? HUB_OK /* a file system without locks */
               : hub_fail_errno(err, errno, "'%s/lock' cannot be locked", s->path);
}

static enum hub_status key_of(const char *id, char key[17], struct hub_error *err)
{
    uint8_t digest[HUB_DIGEST_MAX];
    HUB_TRY(hub_digest_of(HUB_SHA256, hub_view_of(id), digest, err));
    hub_hex(digest, 8, key);
    return HUB_OK;
}

static enum hub_status open_place(const struct hub_private *place, const char *key, bool make,
                                  struct hub_staging *s, struct hub_error *err)
{
    *s = (struct hub_staging)HUB_STAGING_INIT;
    snprintf(s->key, sizeof s->key, "%s", key);
    snprintf(s->path, sizeof s->path, "%.4000s/incoming/%s", place->path, key);
    HUB_TRY(hub_private_folder(place->folder, "incoming", make, &s->incoming, err));
    return hub_private_folder(s->incoming, key, make, &s->directory, err);
}

enum hub_status hub_staging_open(const struct hub_private *place, const char *id, struct hub_staging *s,
                                 struct hub_error *err)
{
    char key[17];
    HUB_TRY(key_of(id, key, err));
    HUB_TRY(open_place(place, key, true, s, err));
    s->id = id;
    return lock_it(s, id, err);
}

static void release_plan(struct hub_staging *s)
{
    for (uint32_t i = 0; s->files && i < s->file_count; i++)
        hub_staging_drop_hasher(s, i);
    for (uint32_t i = 0; s->sums && i < s->file_count; i++)
        hub_sums_dispose(&s->sums[i]);
    free(s->sums);
    s->sums = NULL;
    free(s->states);
    free(s->checks);
    free(s->files);
    hub_closep(&s->tree);
    hub_closep(&s->journal);
    s->states = NULL;
    s->checks = NULL;
    s->files = NULL;
    s->tree = s->journal = -1;
}

void hub_staging_close(struct hub_staging *s, bool remove)
{
    release_plan(s);
    if (remove && s->incoming >= 0)
        (void)!hub_fs_remove(s->incoming, s->key, NULL); /* while it is locked */
    hub_closep(&s->lock);
    hub_closep(&s->directory);
    hub_closep(&s->incoming);
    s->lock = s->directory = s->incoming = -1;
}

enum hub_status hub_staging_clear(struct hub_staging *s, struct hub_error *err)
{
    release_plan(s);
    HUB_TRY(hub_fs_remove(s->directory, "plan", err)); /* first: without it the rest means nothing */
    HUB_TRY(hub_fs_remove(s->directory, "journal", err));
    return hub_fs_remove(s->directory, "tree", err);
}

/* ---- the plan ---- */

static enum hub_status name_of(const struct hub_file_facts *file, const char *more, const void *sum,
                               uint64_t *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    uint8_t digest[HUB_DIGEST_MAX];
    HUB_TRY(hub_buf_addf(&text, err, "%s %" PRIu64 " %" PRIu64 " %s ", more, file->size, file->generation,
                         file->path));
    if (sum)
        HUB_TRY(hub_buf_add(&text, sum, HUB_SHA1_BYTES, err));
    HUB_TRY(hub_digest_of(HUB_SHA256, hub_buf_view(&text), digest, err));
    memcpy(out, digest, sizeof *out);
    return HUB_OK;
}

/* @param line  of the plan */
static enum hub_status name_contents(const char *line, const struct hub_file_facts *file, uint64_t names[2],
                                     struct hub_error *err)
{
    HUB_TRY(name_of(file, line, NULL, &names[0], err));
    if (file->generation)
        return name_of(file, "generation", NULL, &names[1], err);
    if (file->has_sha256)
        return name_of(file, "sha256", file->sha256, &names[1], err);
    return file->other ? name_of(file, hub_file_digest_name(file), file->sum, &names[1], err) : HUB_OK;
}

/* One line that is the same only for the same files of the same revision, cut alike. */
static enum hub_status describe(const struct hub_remote_files *plan, const char *id, uint64_t segment_bytes,
                                struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    uint8_t sum[HUB_DIGEST_MAX];
    char hex[2 * HUB_SHA256_BYTES + 1], size[48];
    uint64_t segments = 0;
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    for (size_t i = 0; i < plan->count; i++) {
        snprintf(size, sizeof size, "%" PRIu64 " %" PRIu64, plan->items[i].size, plan->items[i].generation);
        HUB_TRY(hub_digest_add(&digest,
                               (struct hub_view){plan->items[i].path, strlen(plan->items[i].path) + 1}, err));
        HUB_TRY(hub_digest_add(&digest, (struct hub_view){size, strlen(size) + 1}, err));
        segments += hub_segment_count(plan->items[i].size, segment_bytes);
    }
    HUB_TRY(hub_digest_end(&digest, sum, err));
    hub_hex(sum, HUB_SHA256_BYTES, hex);
    return hub_buf_addf(out, err, "3 %s %" PRIu64 " %s %" PRIu64 " %" PRIu64 " %s\n", plan->revision,
                        segment_bytes, hex, plan->bytes, segments, id);
}

static enum hub_status allocate(struct hub_staging *s, const char *line, struct hub_error *err)
{
    const struct hub_remote_files *plan = s->plan;
    HUB_TRY(hub_new(&s->files, plan->count + 1, sizeof *s->files, err));
    s->file_count = plan->count;
    s->segment_total = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const uint64_t n = hub_segment_count(plan->items[i].size, s->segment_bytes);
        if (n > MAX_SEGMENTS || s->segment_total + n > MAX_SEGMENTS)
            return hub_fail(err, HUB_TOO_BIG, "too many segments: choose larger ones");
        s->files[i] = (struct hub_staged_file){
            .base = s->segment_total, .segments = (uint32_t)n, .missing = (uint32_t)n};
        s->segment_total += n;
        HUB_TRY(name_contents(line, &plan->items[i], s->files[i].names, err));
    }
    s->states = calloc(s->segment_total + 1, 1);
    s->checks = calloc(s->segment_total + 1, sizeof *s->checks);
    s->sums = calloc(plan->count + 1, sizeof *s->sums);
    return hub_allocated(s->states && s->checks && s->sums, err);
}

/* A name of a file's contents. */
struct content_name {
    uint64_t name;
    uint32_t file;
};

struct claims {
    struct hub_staging *staging;
    struct content_name *known; /* sorted by name, two a file */
    size_t count;
};

static int by_name(const void *a, const void *b)
{
    const uint64_t x = ((const struct content_name *)a)->name, y = ((const struct content_name *)b)->name;
    return (x > y) - (x < y);
}

static void claim(const struct hub_segment *segment, void *user)
{
    const struct claims *c = user;
    const struct content_name *known = NULL;
    for (unsigned i = 0; i < 2 && !known; i++)
        if (segment->names[i])
            known = bsearch(&(struct content_name){segment->names[i], 0}, c->known, c->count,
                            sizeof *c->known, by_name);
    if (!known)
        return;
    const struct hub_staging *s = c->staging;
    const struct hub_staged_file *f = &s->files[known->file];
    if (segment->number == HUB_SEGMENT_FORGET) {
        memset(s->states + f->base, HUB_SEGMENT_MISSING, f->segments);
    } else if (segment->number < f->segments) {
        s->states[f->base + segment->number] = HUB_SEGMENT_CLAIMED;
        s->checks[f->base + segment->number] = segment->crc32c;
    }
}

/* Whether the bytes of a claimed segment are those the journal speaks of. They go into the hasher as well,
 * which then has all before the segment in it, or is NULL. */
static bool holds(const struct hub_staging *s, int fd, uint32_t file, uint32_t segment,
                  struct hub_file_hasher *hasher, char *buffer)
{
    uint64_t at, left;
    uint32_t crc = 0;
    hub_segment_range(s->plan->items[file].size, s->segment_bytes, segment, &at, &left);
    while (left) {
        const ssize_t n = hub_fs_pread(fd, buffer, (size_t)HUB_MIN(left, (uint64_t)STEP), at);
        if (n <= 0 || (hasher && hub_file_hasher_add(hasher, (struct hub_view){buffer, (size_t)n}, NULL)))
            return false;
        crc = hub_crc32c(crc, buffer, (size_t)n);
        at += (uint64_t)n;
        left -= (uint64_t)n;
    }
    return crc == s->checks[s->files[file].base + segment];
}

/* Segments from the first on are hashed while they are proven, as far as they are there. */
static void prove_segments(struct hub_staging *s, uint32_t file, int fd, char *buffer)
{
    struct hub_staged_file *f = &s->files[file];
    const struct hub_file_facts *item = &s->plan->items[file];
    bool from_first = f->segments && s->states[f->base] == HUB_SEGMENT_CLAIMED &&
                      !hub_new(&f->hasher, 1, sizeof *f->hasher, NULL) &&
                      !hub_file_hasher_begin(f->hasher, item->other, item->size, NULL);
    for (uint32_t i = 0; i < f->segments; i++) {
        uint8_t *state = &s->states[f->base + i];
        uint64_t first, count;
        if (*state != HUB_SEGMENT_CLAIMED) {
            from_first = false;
            continue;
        }
        if (!holds(s, fd, file, i, from_first ? f->hasher : NULL, buffer)) {
            *state = HUB_SEGMENT_MISSING;
            if (from_first)
                hub_staging_drop_hasher(s, file); /* it has seen what is wrong */
            from_first = false;
            continue;
        }
        *state = HUB_SEGMENT_DONE;
        hub_segment_range(item->size, s->segment_bytes, i, &first, &count);
        s->bytes_kept += count;
        f->missing--;
    }
    if (from_first && !hub_file_hasher_end(f->hasher, &s->sums[file], NULL))
        hub_staging_drop_hasher(s, file);
}

static void prove_file(struct hub_staging *s, uint32_t file, char *buffer)
{
    struct hub_staged_file *f = &s->files[file];
    struct stat st;
    HUB_CLEANUP(hub_closep) int fd = -1;
    if (hub_fs_open_beneath(s->tree, s->plan->items[file].path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS, &fd,
                            NULL) ||
        fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        memset(s->states + f->base, HUB_SEGMENT_MISSING, f->segments);
        return;
    }
    s->bytes_allocated += HUB_MIN((uint64_t)st.st_blocks * 512, s->plan->items[file].size);
    prove_segments(s, file, fd, buffer);
}

/* Take over what the journal says. */
static enum hub_status read_claims(struct hub_staging *s, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf records = HUB_BUF_INIT(1 * GIB);
    HUB_CLEANUP(hub_freep) struct content_name *known = NULL;
    size_t valid = 0;
    HUB_TRY(hub_fs_read_fd(s->journal, &records, err));
    if (!records.size)
        return HUB_OK;
    HUB_TRY(hub_new(&known, 2 * (size_t)s->file_count + 1, sizeof *known, err));
    for (uint32_t i = 0; i < 2 * s->file_count; i++)
        known[i] = (struct content_name){s->files[i / 2].names[i % 2], i / 2};
    qsort(known, 2 * (size_t)s->file_count, sizeof *known, by_name);
    hub_journal_read(hub_buf_view(&records), claim, &(struct claims){s, known, 2 * (size_t)s->file_count},
                     &valid);
    return ftruncate(s->journal, (off_t)valid)
               ? hub_fail_errno(err, errno, "'%s/journal' cannot be truncated", s->path)
               : HUB_OK;
}

/* As far as the data agrees. */
static enum hub_status prove(struct hub_staging *s, hub_tick_fn tick, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *buffer = malloc(STEP);
    HUB_TRY(hub_allocated(buffer, err));
    for (uint32_t i = 0; i < s->file_count; i++) {
        HUB_TRY(tick(user, err));
        prove_file(s, i, buffer);
    }
    return HUB_OK;
}

static bool is_claimed(const struct hub_staging *s, const char *path)
{
    const struct hub_file_facts *item =
        bsearch(&path, s->plan->items, s->plan->count, sizeof *item, hub_by_text);
    const struct hub_staged_file *f = item ? &s->files[item - s->plan->items] : NULL;
    return f && f->segments && memchr(s->states + f->base, HUB_SEGMENT_CLAIMED, f->segments);
}

/* Remove what of an older revision is not in this one. */
static enum hub_status sweep(const struct hub_staging *s, const char *folder, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_fs_list(s->tree, *folder ? folder : ".", MAX_SEGMENTS, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        path.size = 0;
        HUB_TRY(hub_buf_addf(&path, err, "%s%s%s", folder, *folder ? "/" : "", names.items[i].text));
        if (names.items[i].type == DT_DIR)
            HUB_TRY(sweep(s, path.data, err));
        else if (!is_claimed(s, path.data))
            HUB_TRY(hub_fs_remove(s->tree, path.data, err));
    }
    if (*folder && unlinkat(s->tree, folder, AT_REMOVEDIR) && errno != ENOTEMPTY && errno != EEXIST)
        return hub_fail_errno(err, errno, "'%s/tree/%s' cannot be removed", s->path, folder);
    return HUB_OK;
}

enum old_plan { SAME, CUT_ALIKE, NO_USE };

static enum old_plan look_at_plan(const struct hub_staging *s, struct hub_view line)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf old = HUB_BUF_INIT(8 * KIB);
    uint64_t segment_bytes = 0;
    if (hub_fs_read(s->directory, "plan", &old, NULL) || !old.size)
        return NO_USE;
    if (hub_view_equal(hub_buf_view(&old), line))
        return SAME;
    return sscanf(old.data, "3 %*40s %" SCNu64, &segment_bytes) == 1 && segment_bytes == s->segment_bytes
               ? CUT_ALIKE
               : NO_USE;
}

enum hub_status hub_staging_plan(struct hub_staging *s, const struct hub_remote_files *plan,
                                 uint64_t segment_bytes,
                                 enum hub_status (*tick)(void *user, struct hub_error *err), void *user,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf line = HUB_BUF_INIT(8 * KIB);
    release_plan(s);
    s->plan = plan;
    s->segment_bytes = segment_bytes;
    s->bytes_kept = s->bytes_allocated = s->bytes_taken = 0;
    HUB_TRY(describe(plan, s->id, segment_bytes, &line, err));
    const enum old_plan old = look_at_plan(s, hub_buf_view(&line));
    if (old == NO_USE)
        HUB_TRY(hub_staging_clear(s, err));
    HUB_TRY(hub_fs_make_dirs(s->directory, "tree", 0777, err));
    s->tree = openat(s->directory, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    s->journal = openat(s->directory, "journal", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (s->tree < 0 || s->journal < 0)
        return hub_fail_errno(err, errno, "'%s' cannot be written", s->path);
    HUB_TRY(allocate(s, line.data, err));
    HUB_TRY(read_claims(s, err));
    if (old == CUT_ALIKE)
        HUB_TRY(sweep(s, "", err));
    if (old != SAME)
        /* without it all is fetched again: a power cut a moment later costs no more than that moment */
        HUB_TRY(hub_fs_write_unsynced(s->directory, "plan", hub_buf_view(&line), 0644, err));
    return prove(s, tick, user, err);
}

/* ---- files ---- */

enum hub_status hub_staging_folder(const struct hub_staging *s, const char *path, struct hub_error *err)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash)
        return HUB_OK;
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    return hub_fs_make_dirs(s->tree, parent, 0777, err);
}

enum hub_status hub_staging_file(const struct hub_staging *s, const char *path, int *fd,
                                 struct hub_error *err)
{
    enum { HOW = O_RDWR | O_CREAT | O_NOFOLLOW };
    struct stat st;
    HUB_TRY(hub_staging_folder(s, path, err));
    HUB_TRY(hub_fs_open_beneath(s->tree, path, HOW, HUB_FS_NO_LINKS, fd, err));
    if (fstat(*fd, &st) || st.st_nlink < 2)
        return HUB_OK;
    hub_closep(fd);
    *fd = -1;
    HUB_TRY(hub_fs_remove(s->tree, path, err));
    return hub_fs_open_beneath(s->tree, path, HOW, HUB_FS_NO_LINKS, fd, err);
}

void hub_staging_taken(struct hub_staging *s, uint32_t file)
{
    struct hub_staged_file *f = &s->files[file];
    memset(s->states + f->base, HUB_SEGMENT_DONE, f->segments);
    f->missing = 0;
    s->bytes_taken += s->plan->items[file].size;
}

uint64_t hub_staging_bytes(const struct hub_staging *s, uint32_t file)
{
    uint64_t sum = 0, first, count;
    for (uint32_t i = 0; i < s->files[file].segments; i++) {
        hub_segment_range(s->plan->items[file].size, s->segment_bytes, i, &first, &count);
        sum += s->states[s->files[file].base + i] == HUB_SEGMENT_DONE ? count : 0;
    }
    return sum;
}

enum hub_status hub_staging_done(struct hub_staging *s, uint32_t file, uint32_t segment, uint32_t crc32c,
                                 struct hub_error *err)
{
    struct hub_staged_file *f = &s->files[file];
    const struct hub_segment record = {{f->names[0], f->names[1]}, segment, crc32c};
    if (s->states[f->base + segment] != HUB_SEGMENT_DONE)
        f->missing--;
    s->states[f->base + segment] = HUB_SEGMENT_DONE;
    s->checks[f->base + segment] = crc32c;
    return hub_journal_add(s->journal, &record, err);
}

enum hub_status hub_staging_forget(struct hub_staging *s, uint32_t file, struct hub_error *err)
{
    struct hub_staged_file *f = &s->files[file];
    const struct hub_segment record = {{f->names[0], f->names[1]}, HUB_SEGMENT_FORGET, 0};
    memset(s->states + f->base, HUB_SEGMENT_MISSING, f->segments);
    f->missing = f->segments;
    s->sums[file].known = false;
    return hub_journal_add(s->journal, &record, err);
}

static enum hub_status open_staged(const struct hub_staging *s, const char *path, int *fd,
                                   struct hub_error *err)
{
    return hub_fs_open_beneath(s->tree, path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS, fd, err);
}

/* So that the file system writes all files at once, and its journal once: a sync waits for each. */
static void begin_writing(const struct hub_staging *s, const char *path)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    if (!open_staged(s, path, &fd, NULL))
        (void)!sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

static enum hub_status sync_file(const struct hub_staging *s, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_TRY(open_staged(s, path, &fd, err));
    return fsync(fd) ? hub_fail_errno(err, errno, "'%s' cannot be synced", path) : HUB_OK;
}

/* The folders above a file, but those that are above the one before it as well. */
static enum hub_status sync_folders(const struct hub_staging *s, const char *path, const char *before,
                                    struct hub_error *err)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash; (slash = strrchr(folder, '/'));) {
        if (strncmp(folder, before, (size_t)(slash - folder) + 1) == 0)
            return HUB_OK;
        *slash = '\0';
        HUB_TRY(hub_fs_sync_dir(s->tree, folder, err));
    }
    return HUB_OK;
}

enum hub_status hub_staging_sync(const struct hub_staging *s, const char *more, struct hub_error *err)
{
    const struct hub_file_facts *files = s->plan->items;
    if (s->plan->count > SYNC_ALL_FROM)
        return syncfs(s->tree) ? hub_fail_errno(err, errno, "'%s' cannot be synced", s->path) : HUB_OK;
    for (size_t i = 0; i < s->plan->count; i++)
        begin_writing(s, files[i].path);
    if (more)
        HUB_TRY(sync_file(s, more, err));
    for (size_t i = 0; i < s->plan->count; i++) {
        HUB_TRY(sync_file(s, files[i].path, err));
        HUB_TRY(sync_folders(s, files[i].path, i ? files[i - 1].path : "", err));
    }
    return HUB_OK;
}

/* ---- unfinished downloads of earlier calls ---- */

static void count_segment(const struct hub_segment *segment, void *user)
{
    struct hub_staged *d = user;
    d->segments_done += segment->number != HUB_SEGMENT_FORGET;
}

static enum hub_status read_beneath(int directory, const char *name, struct hub_buf *out)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_TRY(hub_fs_open_beneath(directory, name, O_RDONLY | O_NONBLOCK, HUB_FS_NO_LINKS, &fd, NULL));
    return hub_fs_read_fd(fd, out, NULL);
}

/* False: nothing that can be gone on with. */
static bool look(const struct hub_staging *s, struct hub_staged *d)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf plan = HUB_BUF_INIT(8 * KIB), journal = HUB_BUF_INIT(1 * GIB);
    size_t valid;
    *d = (struct hub_staged){0};
    if (read_beneath(s->directory, "plan", &plan) || !plan.size ||
        sscanf(plan.data, "3 %*40s %*u %*64s %" SCNu64 " %" SCNu64 " %1024[^\n]", &d->bytes, &d->segments,
               d->id) != 3 ||
        hub_folder_check(hub_view_of(d->id), NULL))
        return false;
    if (!read_beneath(s->directory, "journal", &journal))
        hub_journal_read(hub_buf_view(&journal), count_segment, d, &valid);
    d->segments_done = HUB_MIN(d->segments_done, d->segments);
    return true;
}

enum hub_status hub_staging_each(const struct hub_private *place,
                                 int (*fn)(const struct hub_staged *, void *user), void *user,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_closep) int incoming = -1;
    enum hub_status st = hub_private_folder(place->folder, "incoming", false, &incoming, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    HUB_TRY(hub_fs_list(incoming, "", 1000000, &names, err));
    for (size_t i = 0; i < names.count && !st; i++) {
        struct hub_staging s;
        struct hub_staged d;
        const char *key = names.items[i].text;
        if (strlen(key) == 16 && strspn(key, "0123456789abcdef") == 16 &&
            !open_place(place, key, false, &s, NULL)) {
            if (look(&s, &d)) {
                d.running = lock_it(&s, d.id, NULL) == HUB_BUSY;
                st = fn(&d, user) ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
            }
            hub_staging_close(&s, false);
        }
    }
    return st;
}

enum hub_status hub_staging_discard(const struct hub_private *place, const char *id, struct hub_error *err)
{
    struct hub_staging s;
    char key[17];
    HUB_TRY(key_of(id, key, err));
    enum hub_status st = open_place(place, key, false, &s, err);
    if (!st)
        st = lock_it(&s, id, err);
    hub_staging_close(&s, st == HUB_OK);
    return st;
}

/* Unfinished downloads: see staging.h. */
#include "storage/transfer/staging.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

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
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_DOWNLOAD_RUNNING,
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

static enum hub_status open_folders(const struct hub_private *place, const char *key, bool make,
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
    HUB_TRY(open_folders(place, key, true, s, err));
    s->id = id;
    return lock_it(s, id, err);
}

void hub_staging_release(struct hub_staging *s)
{
    for (uint32_t i = 0; s->files && i < s->file_count; i++) {
        hub_staging_drop_hasher(s, i);
        hub_sums_dispose(&s->files[i].sums);
    }
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
    hub_staging_release(s);
    if (remove && s->incoming >= 0)
        (void)!hub_fs_remove(s->incoming, s->key, NULL); /* while it is locked */
    hub_closep(&s->lock);
    hub_closep(&s->directory);
    hub_closep(&s->incoming);
    s->lock = s->directory = s->incoming = -1;
}

enum hub_status hub_staging_clear(struct hub_staging *s, struct hub_error *err)
{
    hub_staging_release(s);
    HUB_TRY(hub_fs_remove(s->directory, "plan", err)); /* first: without it the rest means nothing */
    HUB_TRY(hub_fs_remove(s->directory, "journal", err));
    return hub_fs_remove(s->directory, "tree", err);
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
    s->files[file].sums.known = false;
    return hub_journal_add(s->journal, &record, err);
}

/* ---- to the disk ---- */

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
            !open_folders(place, key, false, &s, NULL)) {
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
    enum hub_status st = open_folders(place, key, false, &s, err);
    if (!st)
        st = lock_it(&s, id, err);
    hub_staging_close(&s, st == HUB_OK);
    return st;
}

/* What is fetched into a staging place, and what an earlier download left of it: see staging.h. */
#include "storage/transfer/staging.h"

#include "storage/base/order.h"
#include "storage/io/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 1 << 28, STEP = 1024 * 1024 };

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
    return hub_allocated(s->states && s->checks, err);
}

/* ---- what an earlier download left ---- */

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
    if (from_first && !hub_file_hasher_end(f->hasher, &s->files[file].sums, NULL))
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
    hub_staging_release(s);
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

/* Unpacking tars: see unpack.h. */
#include "storage/transfer/unpack.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/io/fs.h"
#include "storage/io/tar.h"
#include "storage/remote/remote.h"
#include "storage/transfer/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEP = 1024 * 1024, MAX_DEPTH = 60, MAX_SEGMENT = 255, MAX_PATH = 3000 };

/* ---- the bytes of the tar, in their order ---- */

struct tape {
    struct hub_unpack *unpack;
    char *buffer; /* STEP */
    uint64_t at;
};

/* Fewer than `size` only at its end. */
static enum hub_status read_next(struct tape *t, void *out, size_t size, size_t *got, struct hub_error *err)
{
    *got = 0;
    while (*got < size) {
        const ssize_t n = read(t->unpack->fd, (char *)out + *got, size - *got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hub_fail_errno(err, errno, "the tar cannot be read");
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    t->at += *got;
    t->unpack->bytes_read = t->at;
    return t->unpack->tick ? t->unpack->tick(t->unpack->user, err) : HUB_OK;
}

static enum hub_status read_tape(void *user, uint64_t offset, void *out, size_t size, size_t *got,
                                 struct hub_error *err)
{
    struct tape *t = user;
    *got = 0;
    while (t->at < offset) {
        const size_t step = (size_t)HUB_MIN(offset - t->at, (uint64_t)STEP);
        size_t skipped;
        HUB_TRY(read_next(t, t->buffer, step, &skipped, err));
        if (skipped < step)
            return HUB_OK;
    }
    return read_next(t, out, size, got, err);
}

/* ---- what it is ---- */

static const struct {
    const char *magic;
    size_t size;
    const char *name, *remedy;
} compressed[] = {
    {"\x1f\x8b", 2, "gzip", "gunzip -c"},      {"\x28\xb5\x2f\xfd", 4, "zstd", "zstd -dc"},
    {"\xfd\x37zXZ", 5, "xz", "xz -dc"},        {"BZh", 3, "bzip2", "bunzip2 -c"},
    {"\x04\x22\x4d\x18", 4, "lz4", "lz4 -dc"}, {"LZIP", 4, "lzip", "lzip -dc"},
};

/* Its first block, which is no header. */
static enum hub_status refuse(const char *block, size_t size, struct hub_error *err)
{
    for (size_t i = 0; i < HUB_COUNT(compressed); i++)
        if (size >= compressed[i].size && memcmp(block, compressed[i].magic, compressed[i].size) == 0)
            return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_COMPRESSED,
                               "the tar is compressed with %s: `%s FILE | minari-hub import -`",
                               compressed[i].name, compressed[i].remedy);
    if (size >= 4 && memcmp(block, "PK\3\4", 4) == 0)
        return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_NOT_A_TAR, "it is a zip archive, not a tar");
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_NOT_A_TAR,
                       size ? "it is not a tar: it does not begin with a header" : "it is empty");
}

/* ---- one member ---- */

static const char *kind_of(char type)
{
    switch (type) {
    case '1':
        return "a hard link (tar --hard-dereference stores the file instead)";
    case '2':
        return "a symbolic link (tar --dereference stores what it names instead)";
    case '3':
    case '4':
        return "a device";
    case '6':
        return "a pipe";
    default:
        return "neither a file nor a folder";
    }
}

static enum hub_status unsafe(struct hub_view name, const char *why, struct hub_error *err)
{
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_UNSAFE_NAME, "the member '%.*s' %s",
                       (int)HUB_MIN(name.size, (size_t)200), name.data, why);
}

static enum hub_status check_name(struct hub_view path, struct hub_view name, struct hub_error *err)
{
    unsigned depth = 1;
    if (!path.size || memchr(path.data, '\0', path.size) || !hub_path_plain(path))
        return unsafe(
            name, path.size && path.data[0] == '/' ? "has an absolute name" : "has a name that leads outside",
            err);
    if (path.size > MAX_PATH)
        return unsafe(name, "has a name that is too long", err);
    for (const char *at = path.data, *end = at + path.size; at < end; depth++) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const size_t size = (size_t)((slash ? slash : end) - at);
        if (size > MAX_SEGMENT)
            return unsafe(name, "has a name that is too long", err);
        at += size + 1;
    }
    return depth > MAX_DEPTH ? unsafe(name, "is nested too deeply", err) : HUB_OK;
}

/* Without "./" before it and "/" behind it, as it was before it was spelled. `out` is emptied; it may stay
 * so: the folder that was packed. */
static enum hub_status path_of(const struct hub_tar_member *m, struct hub_buf *out, struct hub_error *err)
{
    struct hub_view name = m->name;
    out->size = 0;
    while (hub_view_starts(name, "./"))
        name = (struct hub_view){name.data + 2, name.size - 2};
    while (name.size > 1 && name.data[name.size - 1] == '/')
        name.size--;
    if (!name.size || hub_view_is(name, "."))
        return HUB_OK;
    if (!m->spelled)
        HUB_TRY(hub_buf_add_view(out, name, err));
    else if (hub_unspell(name, out, NULL))
        return unsafe(name, "has an invalid escape", err);
    return check_name(hub_buf_view(out), name, err);
}

static bool is_record(struct hub_view path)
{
    const size_t size = sizeof HUB_RECORD_FILE - 1;
    if (path.size < size || !hub_view_ends(path, HUB_RECORD_FILE))
        return false;
    path.size -= size;
    return !path.size ||
           (path.data[path.size - 1] == '/' && !hub_path_hidden((struct hub_view){path.data, path.size - 1}));
}

static enum hub_status check_space(const struct hub_unpack *u, uint64_t size, struct hub_error *err)
{
    uint64_t free_bytes = 0;
    HUB_TRY(hub_fs_free_bytes(u->where, &free_bytes, err));
    if (size <= free_bytes && free_bytes - size >= u->spare_bytes)
        return HUB_OK;
    return hub_fail(err, HUB_NO_SPACE, "a member has %llu bytes, the disk of '%.200s' has room for %llu",
                    (unsigned long long)size, u->where,
                    (unsigned long long)(free_bytes - HUB_MIN(free_bytes, u->spare_bytes)));
}

static enum hub_status open_file(const struct hub_unpack *u, const char *path, int *fd, struct hub_error *err)
{
    char parent[MAX_PATH + 1];
    const char *slash = strrchr(path, '/');
    struct hub_error why = {0};
    enum hub_status st = HUB_OK;
    if (slash) {
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
        st = hub_fs_make_dirs(u->tree, parent, 0777, &why);
    }
    if (!st)
        st = hub_fs_open_beneath(u->tree, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, HUB_FS_NO_LINKS, fd,
                                 &why);
    if (st == HUB_EXISTS || st == HUB_NOT_FOUND) /* the latter: a file is where its folder should be */
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_UNSAFE_NAME, "'%.200s' comes twice in the tar%s",
                           path, st == HUB_EXISTS ? "" : ", or below a file");
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

static enum hub_status copy(struct tape *t, const struct hub_tar_member *m, int fd, struct hub_digest *digest,
                            struct hub_error *err)
{
    for (uint64_t done = 0; done < m->size;) {
        const size_t step = (size_t)HUB_MIN(m->size - done, (uint64_t)STEP);
        size_t got;
        HUB_TRY(read_tape(t, m->offset + done, t->buffer, step, &got, err));
        if (got < step)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_TRUNCATED,
                               "the tar was cut short: %llu of %llu bytes of '%.*s' exist",
                               (unsigned long long)(done + got), (unsigned long long)m->size,
                               (int)HUB_MIN(m->name.size, (size_t)200), m->name.data);
        const struct hub_view bytes = {t->buffer, step};
        HUB_TRY(hub_digest_add(digest, bytes, err));
        HUB_TRY(hub_fs_write_fd(fd, bytes, err));
        done += step;
    }
    return HUB_OK;
}

static enum hub_status note(struct hub_unpack *u, struct hub_view path, const struct hub_tar_member *m,
                            struct hub_digest *digest, struct hub_error *err)
{
    HUB_TRY(hub_grow(&u->files, u->count, &u->capacity, sizeof *u->files, err));
    struct hub_file_facts *f = &u->files[u->count];
    *f = (struct hub_file_facts){.path = hub_view_dup(path),
                                 .size = m->size,
                                 .modified_ns = m->mtime_ns,
                                 .has_sha256 = true,
                                 .computed = true};
    HUB_TRY(hub_allocated(f->path, err));
    u->count++;
    u->bytes += m->size;
    return hub_digest_end(digest, f->sha256, err);
}

static enum hub_status take_file(struct tape *t, const struct hub_tar_member *m, const struct hub_buf *path,
                                 struct hub_error *err)
{
    struct hub_unpack *u = t->unpack;
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    HUB_CLEANUP(hub_closep) int fd = -1;
    const int64_t seconds = m->mtime_ns / 1000000000 - (m->mtime_ns % 1000000000 < 0);
    const struct timespec modified = {seconds, m->mtime_ns - seconds * 1000000000};
    HUB_TRY(check_space(u, m->size, err));
    HUB_TRY(open_file(u, path->data, &fd, err));
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    HUB_TRY(copy(t, m, fd, &digest, err));
    if (futimens(fd, (const struct timespec[]){modified, modified}))
        return hub_fail_errno(err, errno, "the time of '%.200s' cannot be set", path->data);
    return note(u, hub_buf_view(path), m, &digest, err);
}

/* Of each dataset of a namespace that was packed there may be one: the first stays. */
static bool is_space_again(const struct hub_unpack *u, const struct hub_buf *path)
{
    static const char space[] = "/namespace_metadata.json";
    return hub_view_ends(hub_buf_view(path), space) &&
           !faccessat(u->tree, path->data, F_OK, AT_SYMLINK_NOFOLLOW);
}

static enum hub_status take(struct tape *t, const struct hub_tar_member *m, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(HUB_TAR_MAX_NAME + 1);
    const bool folder = m->type == '5' || (m->regular && hub_view_ends(m->name, "/"));
    HUB_TRY(path_of(m, &path, err));
    if (++t->unpack->members > HUB_MAX_FILES)
        return hub_fail(err, HUB_TOO_BIG, "the tar has more than %d members", HUB_MAX_FILES);
    if (folder)
        return HUB_OK; /* made for the files in it */
    if (!m->regular)
        return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_NOT_A_FILE, "'%.200s' is %s",
                           path.size ? path.data : ".", kind_of(m->type));
    if (!path.size)
        return unsafe(m->name, "has no name", err);
    if (hub_path_hidden(hub_buf_view(&path)) && !is_record(hub_buf_view(&path))) {
        t->unpack->hidden++;
        return HUB_OK;
    }
    return is_space_again(t->unpack, &path) ? HUB_OK : take_file(t, m, &path, err);
}

/* ---- all of them ---- */

/* Behind the blocks that end it writers leave zeros. */
static enum hub_status check_rest(struct tape *t, struct hub_error *err)
{
    size_t got;
    do {
        HUB_TRY(read_next(t, t->buffer, STEP, &got, err));
        for (size_t i = 0; i < got; i++)
            if (t->buffer[i])
                return hub_fail_as(
                    err, HUB_CORRUPT, HUB_PROBLEM_NOT_A_TAR,
                    "there are bytes after the end of the tar: if these are several tars, import each");
    } while (got == STEP);
    return HUB_OK;
}

static enum hub_status take_all(struct tape *t, struct hub_tar *tar, struct hub_error *err)
{
    for (;;) {
        struct hub_tar_member m;
        bool end;
        HUB_TRY(hub_tar_next(tar, &m, &end, err));
        if (!end) {
            HUB_TRY(take(t, &m, err));
            continue;
        }
        if (tar->unterminated)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_TRUNCATED,
                               "the tar was cut short: it has no end");
        return check_rest(t, err);
    }
}

/* The first header is looked at before it is read as one. */
struct begun {
    struct tape tape;
    char block[HUB_TAR_BLOCK];
    size_t size;
};

static enum hub_status read_begun(void *user, uint64_t offset, void *out, size_t size, size_t *got,
                                  struct hub_error *err)
{
    struct begun *b = user;
    if (offset == 0 && size <= b->size) {
        memcpy(out, b->block, size);
        *got = size;
        return HUB_OK;
    }
    return read_tape(&b->tape, offset, out, size, got, err);
}

static bool is_end(const char *block)
{
    return !block[0] && memcmp(block, block + 1, HUB_TAR_BLOCK - 1) == 0;
}

enum hub_status hub_unpack_run(struct hub_unpack *u, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *buffer = malloc(STEP);
    HUB_CLEANUP(hub_tar_dispose) struct hub_tar tar = {0};
    struct begun b = {.tape = {.unpack = u, .buffer = buffer}};
    HUB_TRY(hub_allocated(buffer, err));
    HUB_TRY(read_next(&b.tape, b.block, sizeof b.block, &b.size, err));
    if (b.size < sizeof b.block || (!hub_tar_is_header((const uint8_t *)b.block) && !is_end(b.block)))
        return refuse(b.block, b.size, err);
    hub_tar_begin(&tar, read_begun, &b, UINT64_MAX);
    HUB_TRY(take_all(&b.tape, &tar, err));
    if (u->count)
        qsort(u->files, u->count, sizeof *u->files, hub_by_text);
    return HUB_OK;
}

void hub_unpack_dispose(struct hub_unpack *u)
{
    for (uint32_t i = 0; i < u->count; i++)
        hub_file_facts_dispose(&u->files[i]);
    free(u->files);
    u->files = NULL;
    u->count = u->capacity = 0;
}

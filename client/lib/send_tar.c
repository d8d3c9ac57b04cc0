/* A tar of files that are read as the connection takes them: see send_tar.h. */
#include "client/lib/send_tar.h"

#include "storage/io/tar.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    END_BYTES = 2 * HUB_TAR_BLOCK,
    HEADER_BYTES = 64 * 1024,
    ANSWER_BYTES = 64 * 1024,
    STALL_MS = 120000, /* the hub puts the last files in their places before it answers */
};

/* A member: a header, the bytes of the file, zeros to the end of the last block. */
struct tar_part {
    uint64_t begins; /* in the tar */
    uint32_t file;   /* of the folder */
    uint32_t header; /* bytes */
};

struct tar_sender {
    struct hub_send *send;
    struct tar_part *parts; /* one more than there are: the end */
    uint32_t count;
    uint32_t at;           /* the part that was read last */
    int fd;                /* of its file, or -1 */
    struct hub_buf header; /* of it, or empty */
    uint64_t before;       /* bytes that were there */
    struct hub_sends sends;
};

static const struct hub_file_facts *file_of(const struct tar_sender *t, uint32_t part)
{
    return &t->send->folder->files.items[t->parts[part].file];
}

static enum hub_status make_header(const struct tar_sender *t, uint32_t part, struct hub_buf *out,
                                   struct hub_error *err)
{
    const struct hub_file_facts *file = file_of(t, part);
    out->size = 0;
    return hub_tar_header(
        &(struct hub_tar_file){.name = file->path, .size = file->size, .mtime_ns = file->modified_ns}, out,
        err);
}

/* Where each member begins. */
static enum hub_status plan(struct tar_sender *t, struct hub_error *err)
{
    const struct hub_remote_files *files = &t->send->folder->files;
    uint64_t at = 0;
    HUB_TRY(hub_new(&t->parts, files->count + (size_t)1, sizeof *t->parts, err));
    for (uint32_t i = 0; i < files->count; i++) {
        if (t->send->states[i].there)
            continue;
        t->parts[t->count] = (struct tar_part){.begins = at, .file = i};
        HUB_TRY(make_header(t, t->count, &t->header, err));
        t->parts[t->count].header = (uint32_t)t->header.size;
        at += t->header.size + (files->items[i].size + HUB_TAR_BLOCK - 1) / HUB_TAR_BLOCK * HUB_TAR_BLOCK;
        t->count++;
    }
    t->parts[t->count] = (struct tar_part){.begins = at};
    t->header.size = 0;
    t->at = t->count;
    return HUB_OK;
}

/* ---- reading ---- */

/* The part that a byte of the tar lies in; `count`: the end. It is the last one, the next, or any. */
static uint32_t find(const struct tar_sender *t, uint64_t at)
{
    uint32_t first = 0, last = t->count;
    while (first < last) {
        const uint32_t middle = first + (last - first) / 2;
        if (at < t->parts[middle + 1].begins)
            last = middle;
        else
            first = middle + 1;
    }
    return first;
}

static enum hub_status turn_to(struct tar_sender *t, uint32_t part, struct hub_error *err)
{
    if (t->at == part)
        return HUB_OK;
    hub_closep(&t->fd);
    t->fd = -1;
    t->at = t->count;
    HUB_TRY(make_header(t, part, &t->header, err));
    HUB_TRY(hub_folder_file(t->send->folder, t->parts[part].file, &t->fd, err));
    t->at = part;
    return HUB_OK;
}

static enum hub_status read_file(const struct tar_sender *t, uint64_t offset, char *out, size_t size,
                                 size_t *got, struct hub_error *err)
{
    const struct hub_file_facts *file = file_of(t, t->at);
    const ssize_t n = pread(t->fd, out, (size_t)HUB_MIN((uint64_t)size, file->size - offset), (off_t)offset);
    if (n < 0)
        return hub_fail_errno(err, errno, "'%.200s' cannot be read", file->path);
    if (n == 0)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED,
                           "'%.200s' has become shorter than %llu bytes while it was sent", file->path,
                           (unsigned long long)file->size);
    *got = (size_t)n;
    return HUB_OK;
}

static void read_zeros(uint64_t left, char *out, size_t size, size_t *got)
{
    *got = (size_t)HUB_MIN((uint64_t)size, left);
    memset(out, 0, *got);
}

static enum hub_status read_tar(struct hub_fetch *fetch, uint64_t at, char *out, size_t size, size_t *got,
                                struct hub_error *err)
{
    struct tar_sender *t = fetch->user;
    const uint32_t part = find(t, at);
    if (part == t->count) {
        read_zeros(t->sends.size - at, out, size, got);
        return HUB_OK;
    }
    HUB_TRY(turn_to(t, part, err));
    const uint64_t offset = at - t->parts[part].begins, header = t->parts[part].header,
                   bytes = file_of(t, part)->size;
    if (offset >= header + bytes) {
        read_zeros(t->parts[part + 1].begins - at, out, size, got);
        return HUB_OK;
    }
    if (offset >= header)
        return read_file(t, offset - header, out, size, got, err);
    *got = (size_t)HUB_MIN((uint64_t)size, header - offset);
    memcpy(out, t->header.data + offset, *got);
    return HUB_OK;
}

/* ---- sending ---- */

static enum hub_status take_answer(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    (void)fetch, (void)bytes, (void)err;
    return HUB_OK;
}

static enum hub_status tick(void *user, struct hub_error *err)
{
    const struct tar_sender *t = user;
    struct hub_send *send = t->send;
    const uint64_t most = send->folder->files.bytes;
    send->bytes_done = HUB_MIN(t->before + t->sends.sent, most);
    return send->tick ? send->tick(send->user, err) : HUB_OK;
}

static enum hub_status put(struct tar_sender *t, const char *url, struct hub_error *err)
{
    struct hub_fetch fetch = {.url = url,
                              .sends = &t->sends,
                              .limit = ANSWER_BYTES,
                              .stall_timeout_ms = STALL_MS,
                              .body = take_answer,
                              .user = t};
    const uint64_t size = t->parts[t->count].begins + END_BYTES;
    t->sends = (struct hub_sends){.fd = -1, .count = size, .size = size, .read = read_tar};
    struct hub_transport *transport = t->send->client->remote.transport;
    hub_transport_submit(transport, &fetch);
    const enum hub_status st =
        hub_transport_drive(transport, &(struct hub_drive){.tick = tick, .user = t}, err);
    if (st)
        hub_transport_drop(transport);
    return st;
}

enum hub_status hub_send_tar(struct hub_send *send, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct tar_sender t = {.send = send, .fd = -1, .header = HUB_BUF_INIT(HEADER_BYTES)};
    enum hub_status st = hub_draft_url(&send->client->remote, send->draft, "archive.tar", &url, err);
    for (uint32_t i = 0; i < send->folder->files.count; i++)
        t.before += send->states[i].there ? send->folder->files.items[i].size : 0;
    if (!st)
        st = plan(&t, err);
    if (!st && t.count)
        st = put(&t, url.data, err);
    hub_closep(&t.fd);
    hub_buf_dispose(&t.header);
    free(t.parts);
    return st;
}

/* A child's conversation with the hub: reads the job, asks for descriptors, sends what the sink has
 * gathered. */
#include "storage/base/order.h"
#include "storage/worker/child_state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static enum hub_status open_file(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err);
static void close_file(struct hub_files *files, uint32_t number);
static enum hub_status open_side(struct hub_files *files, int *fd, struct hub_error *err);

void hub_child_init(struct hub_child *child, int sock)
{
    *child = (struct hub_child){.sock = sock, .side_fd = -1, .received = -1};
    child->files = (struct hub_files){.open = open_file, .close = close_file, .side = open_side};
    for (size_t i = 0; i < HUB_MAX_OPEN; i++)
        child->open[i].fd = -1;
    hub_frame_writer_init(&child->writer, (size_t)4 * HUB_MAX_MESSAGE);
    hub_frame_reader_init(&child->reader);
    /* enough to say "out of memory" when there is none left */
    (void)!hub_buf_reserve(&child->writer.body, 4 * KIB, NULL);
    (void)!hub_buf_reserve(&child->writer.out, 4 * KIB, NULL);
}

void hub_child_dispose(struct hub_child *child)
{
    for (uint32_t i = 0; i < child->entry_count; i++)
        free((void *)child->entries[i].path.data);
    free(child->entries);
    free(child->part_files);
    free(child->format);
    free(child->part);
    free(child->hint);
    hub_frame_writer_dispose(&child->writer);
    hub_frame_reader_dispose(&child->reader);
}

/* ---- the socket ---- */

enum hub_status hub_child_flush(struct hub_child *child, struct hub_error *err)
{
    struct hub_buf *out = &child->writer.out;
    for (size_t at = 0; at < out->size;) {
        struct iovec part = {out->data + at, out->size - at};
        const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        const ssize_t n = sendmsg(child->sock, &message, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return hub_fail_errno(err, errno, "answering the hub");
        at += n > 0 ? (size_t)n : 0;
    }
    out->size = 0;
    return HUB_OK;
}

static enum hub_status receive(struct hub_child *child, struct hub_error *err)
{
    void *to;
    size_t size;
    int fd;
    HUB_TRY(hub_frame_room(&child->reader, &to, &size, err));
    const ssize_t n = hub_receive_fds(child->sock, to, size, 0, &fd, 1);
    if (n < 0)
        return hub_fail_errno(err, errno, "listening to the hub");
    if (n == 0)
        return hub_fail(err, HUB_CANCELLED, "the hub closed the connection");
    if (fd >= 0) {
        if (child->received >= 0)
            close(child->received);
        child->received = fd;
    }
    hub_frame_filled(&child->reader, (size_t)n);
    return HUB_OK;
}

static enum hub_status next(struct hub_child *child, struct hub_frame *frame, struct hub_error *err)
{
    for (;;) {
        HUB_TRY(hub_frame_next(&child->reader, frame, err));
        if (frame->type)
            return HUB_OK;
        HUB_TRY(receive(child, err));
    }
}

/* Send what was gathered and the question in the writer, then wait for the descriptor. */
static enum hub_status request_fd(struct hub_child *child, int *fd, struct hub_error *err)
{
    struct hub_frame frame;
    HUB_TRY(hub_frame_end(&child->writer, err));
    HUB_TRY(hub_child_flush(child, err));
    HUB_TRY(next(child, &frame, err));
    struct hub_cursor c = hub_cursor_of(frame.data, frame.size);
    const uint8_t status = hub_cursor_u8(&c);
    const struct hub_view detail = hub_cursor_text(&c, HUB_MAX_SHORT);
    if (frame.type != HUB_FRAME_FD || c.failed)
        return hub_fail(err, HUB_INVALID, "the hub answered with a frame of type %u", frame.type);
    *fd = child->received;
    child->received = -1;
    if (status)
        return hub_fail(err, (enum hub_status)status, "%.*s", (int)detail.size, detail.data);
    return *fd >= 0 ? HUB_OK : hub_fail(err, HUB_IO, "the hub's descriptor did not arrive");
}

enum hub_status hub_child_end(struct hub_child *child, const struct hub_error *err)
{
    HUB_TRY(hub_child_flush(child, NULL));
    hub_frame_begin(&child->writer, HUB_FRAME_END);
    hub_frame_u8(&child->writer, (uint8_t)err->status);
    hub_frame_text(&child->writer, hub_view_of(hub_problem_name(err->problem)));
    hub_frame_text(&child->writer, hub_view_of(err->detail));
    HUB_TRY(hub_frame_end(&child->writer, NULL));
    return hub_child_flush(child, NULL);
}

/* ---- files ---- */

static struct hub_child *child_of(struct hub_files *files)
{
    return (struct hub_child *)files;
}

static bool may_open(const struct hub_child *child, uint32_t number)
{
    return child->kind != HUB_JOB_INSPECT ||
           bsearch(&number, child->part_files, child->part_file_count, sizeof number, hub_by_u32);
}

static enum hub_status close_slot(struct hub_child *child, struct hub_child_open *slot, struct hub_error *err)
{
    close(slot->fd);
    slot->fd = -1;
    hub_frame_begin(&child->writer, HUB_FRAME_CLOSE);
    hub_frame_u32(&child->writer, slot->number);
    return hub_frame_end(&child->writer, err);
}

/* A free slot, or that of the file nobody has used for longest. */
static struct hub_child_open *find_slot(struct hub_child *child)
{
    struct hub_child_open *best = NULL;
    for (size_t i = 0; i < HUB_MAX_OPEN; i++) {
        struct hub_child_open *slot = &child->open[i];
        if (slot->fd < 0)
            return slot;
        if (slot->users == 0 && (!best || slot->used < best->used))
            best = slot;
    }
    return best;
}

static enum hub_status open_file(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err)
{
    struct hub_child *child = child_of(files);
    if (number >= files->count || files->entries[number].directory)
        return hub_fail(err, HUB_NOT_FOUND, "there is no file %u", number);
    if (!may_open(child, number))
        return hub_fail(err, HUB_DENIED, "file %u does not belong to this part", number);
    number += child->first;
    struct hub_child_open *slot = NULL;
    for (size_t i = 0; i < HUB_MAX_OPEN && !slot; i++)
        if (child->open[i].fd >= 0 && child->open[i].number == number)
            slot = &child->open[i];
    if (!slot) {
        slot = find_slot(child);
        if (!slot)
            return hub_fail(err, HUB_TOO_BIG, "more than %d files open at once", HUB_MAX_OPEN);
        if (slot->fd >= 0)
            HUB_TRY(close_slot(child, slot, err));
        int opened = -1;
        hub_frame_begin(&child->writer, HUB_FRAME_OPEN);
        hub_frame_u32(&child->writer, number);
        HUB_TRY(request_fd(child, &opened, err));
        *slot = (struct hub_child_open){.number = number, .fd = opened};
    }
    slot->users++;
    slot->used = ++child->tick;
    *fd = slot->fd;
    return HUB_OK;
}

static void close_file(struct hub_files *files, uint32_t number)
{
    struct hub_child *child = child_of(files);
    number += child->first;
    for (size_t i = 0; i < HUB_MAX_OPEN; i++)
        if (child->open[i].fd >= 0 && child->open[i].number == number && child->open[i].users > 0)
            child->open[i].users--;
}

static enum hub_status open_side(struct hub_files *files, int *fd, struct hub_error *err)
{
    struct hub_child *child = child_of(files);
    if (!child->side_allowed)
        return hub_fail(err, HUB_TOO_BIG, "side-file budget");
    if (child->side_fd < 0) {
        hub_frame_begin(&child->writer, HUB_FRAME_SIDE);
        HUB_TRY(request_fd(child, &child->side_fd, err));
    }
    *fd = child->side_fd;
    return HUB_OK;
}

/* ---- the job ---- */

static enum hub_status dup_text(struct hub_view text, char **out, struct hub_error *err)
{
    *out = hub_view_dup(text);
    return hub_allocated(*out, err);
}

static enum hub_status read_head(struct hub_child *child, struct hub_cursor *c, struct hub_error *err)
{
    child->kind = hub_cursor_u8(c);
    HUB_TRY(dup_text(hub_cursor_text(c, HUB_MAX_SHORT), &child->format, err));
    HUB_TRY(dup_text(hub_cursor_text(c, HUB_MAX_SHORT), &child->part, err));
    HUB_TRY(dup_text(hub_cursor_text(c, HUB_MAX_NOTE), &child->hint, err));
    child->entry_want = hub_cursor_u32(c);
    child->part_file_want = hub_cursor_u32(c);
    child->side_allowed = hub_cursor_u8(c);
    child->files.side_budget = hub_cursor_u64(c);
    if (c->failed || child->entry_want > HUB_MAX_JOB_FILES || child->part_file_want > HUB_MAX_JOB_FILES)
        return hub_fail(err, HUB_INVALID, "a malformed job");
    HUB_TRY(hub_new(&child->entries, child->entry_want, sizeof *child->entries, err));
    child->files.entries = child->entries;
    return hub_new(&child->part_files, child->part_file_want, sizeof *child->part_files, err);
}

static enum hub_status read_files(struct hub_child *child, struct hub_cursor *c, struct hub_error *err)
{
    while (hub_cursor_left(c) > 0 && !c->failed && child->entry_count < child->entry_want) {
        struct hub_file_entry *e = &child->entries[child->entry_count];
        e->directory = hub_cursor_u8(c);
        e->size = hub_cursor_u64(c);
        const struct hub_view path = hub_cursor_text(c, HUB_MAX_MESSAGE);
        char *copy;
        HUB_TRY(dup_text(path, &copy, err));
        e->path = (struct hub_view){copy, path.size};
        child->files.count = ++child->entry_count;
    }
    return c->failed ? hub_fail(err, HUB_INVALID, "a malformed list of files") : HUB_OK;
}

static enum hub_status read_part_files(struct hub_child *child, struct hub_cursor *c, struct hub_error *err)
{
    while (hub_cursor_left(c) > 0 && !c->failed && child->part_file_count < child->part_file_want)
        child->part_files[child->part_file_count++] = hub_cursor_u32(c);
    return c->failed ? hub_fail(err, HUB_INVALID, "a malformed list of files") : HUB_OK;
}

enum hub_status hub_child_read_job(struct hub_child *child, struct hub_error *err)
{
    for (;;) {
        struct hub_frame frame;
        HUB_TRY(next(child, &frame, err));
        struct hub_cursor c = hub_cursor_of(frame.data, frame.size);
        if (frame.type == HUB_FRAME_JOB && !child->entries)
            HUB_TRY(read_head(child, &c, err));
        else if (frame.type == HUB_FRAME_FILES && child->entries)
            HUB_TRY(read_files(child, &c, err));
        else if (frame.type == HUB_FRAME_PART_FILES && child->entries)
            HUB_TRY(read_part_files(child, &c, err));
        else if (frame.type == HUB_FRAME_GO && child->entries && child->entry_count == child->entry_want)
            return HUB_OK;
        else
            return hub_fail(err, HUB_INVALID, "a job with a frame of type %u", frame.type);
    }
}

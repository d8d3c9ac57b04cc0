/* Frames: see protocol.h. */
#include "storage/inspect/protocol.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define MORE 0x80000000u
#define HEAD 5

void hub_frame_writer_init(struct hub_frame_writer *w, size_t out_limit)
{
    *w = (struct hub_frame_writer){.body = HUB_BUF_INIT(HUB_MAX_MESSAGE), .out = HUB_BUF_INIT(out_limit)};
}

void hub_frame_writer_dispose(struct hub_frame_writer *w)
{
    hub_buf_dispose(&w->body);
    hub_buf_dispose(&w->out);
}

void hub_frame_begin(struct hub_frame_writer *w, enum hub_frame_type type)
{
    w->body.size = 0;
    w->type = (uint8_t)type;
    w->failed = false;
}

void hub_frame_bytes(struct hub_frame_writer *w, const void *data, size_t size)
{
    if (!w->failed && hub_buf_add(&w->body, data, size, NULL))
        w->failed = true;
}

void hub_frame_u8(struct hub_frame_writer *w, uint8_t value)
{
    hub_frame_bytes(w, &value, sizeof value);
}

void hub_frame_u32(struct hub_frame_writer *w, uint32_t value)
{
    hub_frame_bytes(w, &value, sizeof value);
}

void hub_frame_u64(struct hub_frame_writer *w, uint64_t value)
{
    hub_frame_bytes(w, &value, sizeof value);
}

void hub_frame_f64(struct hub_frame_writer *w, double value)
{
    hub_frame_bytes(w, &value, sizeof value);
}

void hub_frame_text(struct hub_frame_writer *w, struct hub_view text)
{
    if (text.size > HUB_MAX_MESSAGE) {
        w->failed = true;
        return;
    }
    hub_frame_u32(w, (uint32_t)text.size);
    hub_frame_bytes(w, text.data, text.size);
}

enum hub_status hub_frame_end(struct hub_frame_writer *w, struct hub_error *err)
{
    if (w->failed)
        return hub_fail(err, HUB_TOO_BIG, "a message of more than %d bytes, or no memory for it",
                        HUB_MAX_MESSAGE);
    size_t at = 0;
    do {
        const size_t size = HUB_MIN(w->body.size - at, (size_t)HUB_MAX_FRAME);
        const uint32_t word = (uint32_t)size | (at + size < w->body.size ? MORE : 0);
        HUB_TRY(hub_buf_reserve(&w->out, HEAD + size, err));
        HUB_TRY(hub_buf_add(&w->out, &word, sizeof word, err));
        HUB_TRY(hub_buf_add(&w->out, &w->type, 1, err));
        HUB_TRY(hub_buf_add(&w->out, w->body.data + at, size, err));
        at += size;
    } while (at < w->body.size);
    return HUB_OK;
}

void hub_frame_reader_init(struct hub_frame_reader *r)
{
    *r = (struct hub_frame_reader){.in = HUB_BUF_INIT((size_t)4 * 1024 * 1024),
                                   .message = HUB_BUF_INIT(HUB_MAX_MESSAGE)};
}

void hub_frame_reader_dispose(struct hub_frame_reader *r)
{
    hub_buf_dispose(&r->in);
    hub_buf_dispose(&r->message);
}

enum hub_status hub_frame_room(struct hub_frame_reader *r, void **data, size_t *size, struct hub_error *err)
{
    if (r->at > 0) { /* drop read frames: at most one unfinished frame is moved */
        memmove(r->in.data, r->in.data + r->at, r->in.size - r->at);
        r->in.size -= r->at;
        r->at = 0;
    }
    HUB_TRY(hub_buf_reserve(&r->in, 64 * KIB, err));
    *data = r->in.data + r->in.size;
    *size = HUB_MIN(r->in.capacity - r->in.size - 1, 256 * KIB);
    return HUB_OK;
}

void hub_frame_filled(struct hub_frame_reader *r, size_t size)
{
    r->in.size += size;
}

/* One frame of a message that is spread over several. */
static enum hub_status join(struct hub_frame_reader *r, const uint8_t *data, size_t size, uint8_t type,
                            struct hub_error *err)
{
    if (r->joined && r->joined != type)
        return hub_fail(err, HUB_CORRUPT, "a message of type %u inside one of type %u", type, r->joined);
    if (!r->joined)
        r->message.size = 0;
    r->joined = type;
    if (hub_buf_add(&r->message, data, size, err))
        return hub_fail(err, HUB_CORRUPT, "a message of more than %d bytes", HUB_MAX_MESSAGE);
    return HUB_OK;
}

enum hub_status hub_frame_next(struct hub_frame_reader *r, struct hub_frame *frame, struct hub_error *err)
{
    *frame = (struct hub_frame){0, NULL, 0};
    while (r->in.size - r->at >= HEAD) {
        struct hub_cursor c = hub_cursor_of(r->in.data + r->at, r->in.size - r->at);
        const uint32_t word = hub_cursor_u32(&c);
        const uint8_t type = hub_cursor_u8(&c);
        const size_t size = word & ~MORE;
        if (size > HUB_MAX_FRAME || type == 0)
            return hub_fail(err, HUB_CORRUPT, "a frame of type %u with %zu bytes", type, size);
        if (hub_cursor_left(&c) < size)
            return HUB_OK;
        r->at += HEAD + size;
        if (!(word & MORE) && !r->joined) {
            *frame = (struct hub_frame){type, c.at, size};
            return HUB_OK;
        }
        HUB_TRY(join(r, c.at, size, type, err));
        if (!(word & MORE)) {
            *frame = (struct hub_frame){type, (const uint8_t *)r->message.data, r->message.size};
            r->joined = 0;
            return HUB_OK;
        }
    }
    return HUB_OK;
}

/* ---- descriptors ---- */

union passed_fds {
    struct cmsghdr align;
    char space[CMSG_SPACE(HUB_MAX_PASSED * sizeof(int))];
};

ssize_t hub_send_fds(int sock, const void *data, size_t size, int flags, const int *fds, unsigned count)
{
    union passed_fds control = {0};
    struct iovec part = {(void *)data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    }
    ssize_t n;
    do
        n = sendmsg(sock, &message, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

ssize_t hub_receive_fds(int sock, void *data, size_t size, int flags, int *fds, unsigned count)
{
    union passed_fds control;
    struct iovec part = {data, size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n;
    do
        n = recvmsg(sock, &message, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    for (unsigned i = 0; i < count; i++)
        fds[i] = -1;
    const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return n;
    int came[HUB_MAX_PASSED];
    const size_t held = HUB_MIN((c->cmsg_len - CMSG_LEN(0)) / sizeof(int), (size_t)HUB_MAX_PASSED);
    memcpy(came, CMSG_DATA(c), held * sizeof(int));
    for (size_t i = 0; i < held; i++)
        if (held == count)
            fds[i] = came[i];
        else
            close(came[i]);
    return n;
}

/* What the hub sends to a child: the job, then the descriptors it asks for, one at a time. */
#include "storage/inspect/job_state.h"

#include "storage/base/order.h"
#include "storage/inspect/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH_BYTES = 256 * 1024 };

void hub_run_dispose(struct hub_run *run)
{
    hub_closep(&run->sock);
    hub_closep(&run->status);
    free(run->part_files);
    hub_frame_writer_dispose(&run->writer);
    hub_frame_reader_dispose(&run->reader);
}

void hub_run_end_text(struct hub_view text, char *out, size_t size)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf mended = HUB_BUF_INIT(size);
    out[0] = '\0';
    if (hub_text_mend(text, size - 1, true, &mended, NULL) == HUB_OK)
        memcpy(out, mended.data, mended.size + 1);
}

/* ---- the job ---- */

static enum hub_status make_head(struct hub_run *run, struct hub_error *err)
{
    const struct hub_job *job = run->job;
    const bool claim = job->kind == HUB_JOB_CLAIM;
    const uint32_t *numbers = claim ? job->listings : job->part_files;
    run->part_file_count = claim ? job->listing_count : job->part_file_count;
    run->part_files = malloc((run->part_file_count + (size_t)1) * sizeof *run->part_files);
    HUB_TRY(hub_allocated(run->part_files, err));
    if (run->part_file_count) {
        memcpy(run->part_files, numbers, run->part_file_count * sizeof *run->part_files);
        qsort(run->part_files, run->part_file_count, sizeof *run->part_files, hub_by_u32);
    }
    struct hub_frame_writer *w = &run->writer;
    hub_frame_begin(w, HUB_FRAME_JOB);
    hub_frame_u8(w, (uint8_t)job->kind);
    hub_frame_text(w, hub_view_of(job->format ? job->format : ""));
    hub_frame_text(w, hub_view_of(job->part ? job->part : ""));
    hub_frame_text(w, hub_view_of(job->hint && strlen(job->hint) < HUB_MAX_NOTE ? job->hint : ""));
    hub_frame_u32(w, job->file_count);
    hub_frame_u32(w, run->part_file_count);
    hub_frame_u8(w, job->kind == HUB_JOB_INSPECT && job->side_fd >= 0);
    hub_frame_u64(w, run->side_budget);
    run->head_made = true;
    return hub_frame_end(w, err);
}

static enum hub_status make_files(struct hub_run *run, struct hub_error *err)
{
    struct hub_frame_writer *w = &run->writer;
    hub_frame_begin(w, HUB_FRAME_FILES);
    while (run->files_sent < run->job->file_count && w->body.size < BATCH_BYTES) {
        const struct hub_job_file *file = &run->job->files[run->files_sent++];
        hub_frame_u8(w, file->directory);
        hub_frame_u64(w, file->size);
        hub_frame_text(w, hub_view_of(file->path));
    }
    return hub_frame_end(w, err);
}

static enum hub_status make_part_files(struct hub_run *run, struct hub_error *err)
{
    const uint32_t count = HUB_MIN(run->part_file_count - run->part_files_sent, (uint32_t)BATCH_BYTES / 4);
    hub_frame_begin(&run->writer, HUB_FRAME_PART_FILES);
    hub_frame_bytes(&run->writer, run->part_files + run->part_files_sent, count * sizeof *run->part_files);
    run->part_files_sent += count;
    return hub_frame_end(&run->writer, err);
}

/* The next block of the job, once the last one is on its way. */
static enum hub_status make_more(struct hub_run *run, struct hub_error *err)
{
    run->writer.out.size = run->out_at = 0;
    if (!run->head_made)
        HUB_TRY(make_head(run, err));
    if (run->files_sent < run->job->file_count)
        return make_files(run, err);
    if (run->part_files_sent < run->part_file_count)
        return make_part_files(run, err);
    hub_frame_begin(&run->writer, HUB_FRAME_GO);
    run->go_made = true;
    return hub_frame_end(&run->writer, err);
}

enum hub_status hub_run_send_job(struct hub_run *run, struct hub_error *err)
{
    while (!hub_run_job_sent(run)) {
        if (run->out_at == run->writer.out.size)
            HUB_TRY(make_more(run, err));
        const ssize_t n = send(run->sock, run->writer.out.data + run->out_at,
                               run->writer.out.size - run->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return HUB_OK;
        if (n < 0) { /* the child is gone: what it left to read says why */
            run->go_made = true;
            run->out_at = run->writer.out.size;
            return HUB_OK;
        }
        run->out_at += (size_t)n;
    }
    return HUB_OK;
}

/* ---- descriptors ---- */

/* A child waits for its answer, so there is always room for it; `fd` travels along when it is not
 * negative. */
static enum hub_status answer(struct hub_run *run, enum hub_status status, const char *detail, int fd,
                              struct hub_error *err)
{
    run->writer.out.size = 0;
    hub_frame_begin(&run->writer, HUB_FRAME_FD);
    hub_frame_u8(&run->writer, (uint8_t)status);
    hub_frame_text(&run->writer, hub_view_of(detail));
    HUB_TRY(hub_frame_end(&run->writer, err));
    const struct hub_buf *out = &run->writer.out;
    const ssize_t n = hub_send_fds(run->sock, out->data, out->size, MSG_DONTWAIT, &fd, fd >= 0);
    run->out_at = run->writer.out.size;
    if (n < 0 && errno == EAGAIN)
        return hub_fail(err, HUB_CORRUPT, "questions without reading the answers");
    return HUB_OK; /* a child that is gone is found out elsewhere */
}

/* The file must be what the caller said: regular, opened for reading, of that size (a listing's sizes may be
 * stale). */
static enum hub_status check_file(const struct hub_run *run, uint32_t number, int fd, struct hub_error *err)
{
    const struct hub_job_file *file = &run->job->files[number];
    struct stat st;
    if (fstat(fd, &st))
        return hub_fail_errno(err, errno, "%s", file->path);
    if (!S_ISREG(st.st_mode) || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
        return hub_fail(err, HUB_DENIED, "%s is not a regular file opened for reading", file->path);
    if (run->job->kind != HUB_JOB_CLAIM && (uint64_t)st.st_size != file->size)
        return hub_fail(err, HUB_CHANGED, "%s changed: it has %llu bytes, not %llu", file->path,
                        (unsigned long long)st.st_size, (unsigned long long)file->size);
    return HUB_OK;
}

static bool of_part(const struct hub_run *run, uint32_t number)
{
    return run->job->kind != HUB_JOB_INSPECT ||
           bsearch(&number, run->part_files, run->part_file_count, sizeof number, hub_by_u32);
}

static uint32_t find_open(const struct hub_run *run, uint32_t number)
{
    uint32_t i = 0;
    while (i < run->open_count && run->open[i] != number)
        i++;
    return i;
}

static enum hub_status open_file(struct hub_run *run, uint32_t number, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct hub_error why = {0};
    if (number >= run->job->file_count || run->job->files[number].directory || !of_part(run, number))
        return hub_fail(err, HUB_CORRUPT, "a request for file %u, which is not of this job", number);
    if (find_open(run, number) < run->open_count || run->open_count == HUB_MAX_OPEN)
        return hub_fail(err, HUB_CORRUPT, "a request for one file too many");
    enum hub_status st = run->job->open_file(run->job->user, number, &fd, &why);
    if (!st)
        st = check_file(run, number, fd, &why);
    if (st == HUB_CHANGED && !run->refused.status)
        run->refused = why;
    if (st)
        return answer(run, st, why.detail, -1, err);
    run->open[run->open_count++] = number;
    return answer(run, HUB_OK, "", fd, err);
}

static enum hub_status close_file(struct hub_run *run, uint32_t number, struct hub_error *err)
{
    const uint32_t i = find_open(run, number);
    if (i == run->open_count)
        return hub_fail(err, HUB_CORRUPT, "the closing of file %u, which is not open", number);
    run->open[i] = run->open[--run->open_count];
    return HUB_OK;
}

static enum hub_status give_side(struct hub_run *run, struct hub_error *err)
{
    if (run->job->kind != HUB_JOB_INSPECT || run->job->side_fd < 0 || run->side_given)
        return hub_fail(err, HUB_CORRUPT, "a request for side data, which is not allowed here");
    run->side_given = true;
    return answer(run, HUB_OK, "", run->job->side_fd, err);
}

enum hub_status hub_run_answer(struct hub_run *run, const struct hub_frame *frame, struct hub_error *err)
{
    struct hub_cursor c = hub_cursor_of(frame->data, frame->size);
    const uint32_t number = frame->type == HUB_FRAME_SIDE ? 0 : hub_cursor_u32(&c);
    if (c.failed || hub_cursor_left(&c))
        return hub_fail(err, HUB_CORRUPT, "a malformed request");
    if (frame->type == HUB_FRAME_CLOSE)
        return close_file(run, number, err);
    return frame->type == HUB_FRAME_OPEN ? open_file(run, number, err) : give_side(run, err);
}

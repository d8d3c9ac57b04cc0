/** The inside of a running job: shared by job.c and job_files.c only. */
#ifndef HUB_INSPECT_JOB_STATE_H
#define HUB_INSPECT_JOB_STATE_H

#include "storage/inspect/proof.h"

struct hub_run {
    const struct hub_job *job;
    int sock, status; /* to the child; to the worker about it */
    unsigned wall_ms, cpu_s;
    uint64_t memory_bytes;
    int64_t deadline_ms, eof_ms;
    uint64_t side_budget;
    struct hub_frame_writer writer;
    struct hub_frame_reader reader;
    struct hub_findings_reader findings;

    /* the job on its way to the child */
    uint32_t files_sent, part_files_sent;
    uint32_t *part_files, part_file_count; /* ascending; of a claim the first entries of its listings */
    size_t out_at;                         /* bytes of writer.out sent */
    bool head_made, go_made;

    uint32_t open[HUB_MAX_OPEN], open_count; /* what the child holds */
    bool side_given;
    /* a file was not what the job says: whatever the driver makes of it, this is the reason */
    struct hub_error refused;

    bool eof;  /* the child's socket is read to its end */
    bool gone; /* the status socket said its last: exit_status if exit_known, else the worker died */
    bool exit_known, ended;
    int exit_status;
    uint32_t cpu_ms;
    struct hub_error end; /* the driver's verdict, if ended */
};

static inline bool hub_run_job_sent(const struct hub_run *run)
{
    return run->go_made && run->out_at == run->writer.out.size;
}

/** Some more of the job; never blocks. A child that no longer listens is found out elsewhere. */
HUB_MUST_USE enum hub_status hub_run_send_job(struct hub_run *run, struct hub_error *err);
/** OPEN, CLOSE, SIDE. */
HUB_MUST_USE enum hub_status hub_run_answer(struct hub_run *run, const struct hub_frame *frame,
                                            struct hub_error *err);
/** A child's text for a person: mended, one line. */
void hub_run_end_text(struct hub_view text, char *out, size_t size);
void hub_run_dispose(struct hub_run *run);

#endif

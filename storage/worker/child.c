/* One job in the sandbox: plan and inspect; claims are in child_claim.c, the conversation with the hub in
 * child_talk.c. */
#include "storage/text/time.h"
#include "storage/worker/child_state.h"

#include <stdlib.h>

static enum hub_status flush_sink(void *user, struct hub_frame_writer *w, struct hub_error *err)
{
    (void)w;
    return hub_child_flush(user, err);
}

static enum hub_status run_driver(struct hub_child *child, struct hub_sink *sink, struct hub_error *err)
{
    const struct hub_format *format = hub_format_find(child->formats, child->format);
    if (!format)
        return hub_fail(err, HUB_INVALID, "there is no format '%s'", child->format);
    child->files.place = hub_view_of(child->kind == HUB_JOB_PLAN ? child->hint : "");
    if (child->kind == HUB_JOB_PLAN)
        return format->plan(&child->files, sink, err);
    const struct hub_part part = {.name = hub_view_of(child->part),
                                  .hint = hub_view_of(child->hint),
                                  .files = child->part_files,
                                  .file_count = child->part_file_count};
    return format->inspect(&child->files, &part, sink, err);
}

static enum hub_status plan_or_inspect(struct hub_child *child, struct hub_error *err)
{
    HUB_CLEANUP(hub_sink_freep) struct hub_sink *sink = NULL;
    HUB_TRY(hub_sink_new(&child->files, &child->writer, flush_sink, child, &sink, err));
    HUB_TRY(run_driver(child, sink, err));
    return hub_sink_finish(sink, err);
}

static enum hub_status run(struct hub_child *child, struct hub_error *err)
{
    HUB_TRY(hub_child_read_job(child, err));
    return child->kind == HUB_JOB_CLAIM ? hub_child_claim(child, err) : plan_or_inspect(child, err);
}

int hub_child_run(int sock, const struct hub_format *const *formats, const struct hub_sandbox *sandbox,
                  const struct hub_job_order *order)
{
    const struct hub_sandbox_limits limits = {.cpu_s = order->cpu_s,
                                              .memory_bytes = order->memory_bytes,
                                              .file_bytes = order->side_budget,
                                              .unsafe = order->unsafe,
                                              .no_landlock = order->no_landlock};
    struct hub_error err = {0};
    struct hub_child child;
    hub_child_init(&child, sock);
    child.formats = formats;
    child.files.check_until_ms = hub_time_mono_ms() + order->wall_ms / 2;
    child.files.check_cpu_ms = (int64_t)order->cpu_s * 500;
    enum hub_status st = hub_sandbox_enter(sandbox, &limits, &err);
    if (!st)
        st = run(&child, &err);
    if (st && err.status != st)
        hub_fail(&err, st, "%s", hub_status_name(st));
    const enum hub_status sent = hub_child_end(&child, &err);
    hub_child_dispose(&child);
    return sent ? 1 : 0;
}

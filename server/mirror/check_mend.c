/* Damaged files of a check, fetched again: see check_run.h. */
#include "server/mirror/check_run.h"

#include "storage/truth/rules.h"

#include <stdlib.h>

void hub_check_close_remote(struct hub_check_run *c)
{
    if (!c->from)
        return;
    hub_remote_files_dispose(&c->files);
    hub_remote_close(&c->from->remote);
    explicit_bzero(c->from->token, sizeof c->from->token);
    hub_rule_dispose(&c->from->rule);
    free(c->from);
    c->from = NULL;
}

static enum hub_status tick(void *user, struct hub_error *err)
{
    return hub_mirror_keep(user, err);
}

/* By its rule, whose token is for its remote alone; a rule that is gone had none. */
static enum hub_status open_remote(struct hub_check_run *c, struct hub_error *err)
{
    HUB_TRY(hub_new(&c->from, 1, sizeof *c->from, err));
    struct hub_mirror_work *of = c->from;
    *of = (struct hub_mirror_work){.mirrors = c->w->mirrors,
                                   .job = c->w->job,
                                   .done = c->w->done,
                                   .total = c->w->total,
                                   .kept_ms = c->w->kept_ms};
    const bool ruled = !hub_rule_find(of->mirrors->options.truth, c->up.rule, &of->rule, NULL);
    HUB_TRY(hub_mirror_open_remote(of, ruled ? hub_member_text(of->rule.spec, "remote") : c->up.remote, err));
    if (strcmp(of->remote.base, c->up.remote) != 0)
        return hub_fail(err, HUB_CHANGED, "its rule now names another remote");
    return hub_remote_list_files(&of->remote, c->up.id, NULL, &c->files, err);
}

enum hub_status hub_check_mend(struct hub_check_run *c, const struct hub_file_facts *from,
                               const struct hub_stamp *stamp, struct hub_repair *m, struct hub_error *err)
{
    const struct hub_mirrors_options *o = &c->w->mirrors->options;
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf pieces = HUB_BUF_INIT(4 * GIB);
    if (o->roots->roots[c->summary->root].read_only)
        return hub_fail(err, HUB_DENIED, "it is read-only in the configuration (:ro)");
    if (!c->from)
        HUB_TRY(open_remote(c, err));
    HUB_TRY(hub_upstream_pieces(o->truth, c->summary->root, c->copy, from->path, &pieces, err));
    HUB_TRY(hub_private_open(o->roots->roots[c->summary->root].path, true, &place, err));
    *m = (struct hub_repair){.remote = &c->from->remote,
                             .files = &c->files,
                             .place = &place,
                             .target = c->copy,
                             .origin = from,
                             .stamp = stamp,
                             .pieces = hub_buf_view(&pieces),
                             .tick = tick,
                             .user = c->from};
    return hub_repair_run(m, err);
}

/* Looks at upstreams: see peek.h. */
#include "server/mirror/peek.h"

#include "server/mirror/work.h"
#include "storage/base/order.h"
#include "storage/model/file_hasher.h"
#include "storage/text/time.h"

#include <stdlib.h>

enum { REFUSED_MS = 15 * 1000 };

static void close_work(struct hub_mirror_work *w)
{
    hub_remote_close(&w->remote);
    explicit_bzero(w->token, sizeof w->token);
    hub_rule_dispose(&w->rule);
}

static bool is_refused(const struct hub_mirrors *m, uint64_t rule)
{
    return atomic_load(&m->refused_rule) == rule && hub_time_mono_ms() < atomic_load(&m->refused_until_ms);
}

/* What is asked of a remote that is open. */
typedef enum hub_status question(struct hub_remote *remote, const char *id, void *out, struct hub_error *err);

static enum hub_status list(struct hub_remote *remote, const char *id, void *out, struct hub_error *err)
{
    return hub_remote_list_files(remote, id, NULL, out, err);
}

struct peeked_document {
    struct hub_buf *text;
    json_t **json;
};

static enum hub_status describe(struct hub_remote *remote, const char *id, void *out, struct hub_error *err)
{
    const struct peeked_document *document = out;
    return remote->kind->describe(remote, id, NULL, document->text, document->json, err);
}

static enum hub_status ask(struct hub_mirror_work *w, const struct hub_summary *summary, question *what,
                           void *out, struct hub_error *err)
{
    HUB_TRY(hub_rule_find(w->mirrors->options.truth, summary->upstream, &w->rule, err));
    HUB_TRY(hub_mirror_open_remote(w, hub_member_text(w->rule.spec, "remote"), err));
    return what(&w->remote, summary->remote_id, out, err);
}

/* `*w` is open afterwards, to be closed whatever happens. */
static enum hub_status look(struct hub_mirror_work *w, const struct hub_summary *summary, question *what,
                            void *out, struct hub_error *err)
{
    struct hub_mirrors *m = w->mirrors;
    struct hub_error why = {0};
    const uint64_t rule = hub_hash(HUB_HASH_START, summary->upstream, strlen(summary->upstream));
    if (is_refused(m, rule))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_UPSTREAM_UNAVAILABLE,
                           "the upstream of '%s' did not answer a moment ago", summary->id);
    const enum hub_status st = ask(w, summary, what, out, &why);
    if (!st)
        return HUB_OK;
    if (st != HUB_NOT_FOUND) { /* which is an answer */
        atomic_store(&m->refused_rule, rule);
        atomic_store(&m->refused_until_ms, hub_time_mono_ms() + REFUSED_MS);
    }
    return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_UPSTREAM_UNAVAILABLE,
                       "'%s' cannot be listed on its upstream: %s", summary->id, why.detail);
}

enum hub_status hub_peek_files(struct hub_mirrors *m, const struct hub_summary *summary,
                               struct hub_remote_files *out, struct hub_error *err)
{
    HUB_CLEANUP(close_work) struct hub_mirror_work w = {.mirrors = m, .looks = true};
    return look(&w, summary, list, out, err);
}

enum hub_status hub_peek_document(struct hub_mirrors *m, const struct hub_summary *summary,
                                  struct hub_buf *text, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(close_work) struct hub_mirror_work w = {.mirrors = m, .looks = true};
    struct peeked_document document = {text, out};
    *out = NULL;
    return look(&w, summary, describe, &document, err);
}

/* ---- bytes ---- */

static enum hub_status add(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add_view(fetch->user, bytes, err);
}

static enum hub_status check(const struct hub_file_facts *file, struct hub_view bytes, struct hub_error *err)
{
    HUB_CLEANUP(hub_file_hasher_dispose) struct hub_file_hasher hasher = {0};
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {0};
    HUB_TRY(hub_file_hasher_begin(&hasher, file->other, file->size, err));
    HUB_TRY(hub_file_hasher_add(&hasher, bytes, err));
    HUB_TRY(hub_file_hasher_end(&hasher, &sums, err));
    const bool agrees = !hub_file_proven(file) || hub_sums_agree(&sums, file);
    return agrees && bytes.size == file->size
               ? HUB_OK
               : hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_UPSTREAM_FAILED,
                             "the fetched bytes of '%s' differ from those of its upstream", file->path);
}

enum hub_status hub_peek_bytes(struct hub_mirrors *m, const struct hub_summary *summary, const char *path,
                               struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(close_work) struct hub_mirror_work w = {.mirrors = m, .looks = true};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(look(&w, summary, list, &files, err));
    const struct hub_file_facts *file = bsearch(&path, files.items, files.count, sizeof *file, hub_by_text);
    if (!file || file->size > HUB_PEEK_BYTES)
        return hub_fail(err, HUB_NOT_FOUND, "the upstream of '%s' has no small file '%s'", summary->id, path);
    struct hub_fetch fetch = {.resumable = true, .count = file->size, .body = add, .user = out};
    HUB_TRY(w.remote.kind->open(&w.remote, &files, file, &url, &fetch, err));
    fetch.url = url.data;
    HUB_TRY(hub_transport_get(w.remote.transport, &fetch, err));
    return check(file, hub_buf_view(out), err);
}

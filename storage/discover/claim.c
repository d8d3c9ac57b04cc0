/* Asking the drivers about directories: who is asked is decided by names alone; one child answers about many.
 * The answer is remembered under what the directory looked like (names, sizes, times of its entries, and of
 * those in the folders that are looked into), so that a restart asks nobody about what did not change. */
#include "storage/discover/claim.h"

#include "storage/base/order.h"
#include "storage/base/pack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_NOTE_BYTES (16 * MIB)

/* One entry of what the drivers see: `of` is its number in the directory's own listing, HUB_NONE for those
 * inside its folders that are looked into, which are claimed with their directory or not at all. */
struct claim_entry {
    struct hub_job_file file;
    uint32_t of;
};

/* The listing as the drivers see it, sorted by path bytes. */
struct hub_question {
    const struct hub_discovery *discovery;
    const struct hub_format_table *formats;
    uint32_t root;
    char *path;
    struct claim_entry *entries;
    uint32_t count, capacity;
    uint32_t own; /* entries of the directory itself */
    uint64_t signature;
    bool files_only; /* its bidders declined the directory: their bids on its files */
    bool unread; /* something of it could not be opened: the answer is about us, not about the data, and is
                    not kept */
};

void hub_question_free(struct hub_question *q)
{
    for (uint32_t i = 0; q && i < q->count; i++)
        free((void *)q->entries[i].file.path);
    if (q) {
        free(q->entries);
        free(q->path);
    }
    free(q);
}

uint32_t hub_question_size(const struct hub_question *q)
{
    return q->count;
}

void hub_bids_dispose(struct hub_bids *bids)
{
    for (uint32_t i = 0; bids->bids && i < bids->count; i++) {
        free(bids->bids[i].format);
        free(bids->bids[i].name);
        free(bids->bids[i].files);
    }
    free(bids->bids);
    *bids = (struct hub_bids){0};
}

static uint64_t mix_uint(uint64_t h, uint64_t value)
{
    return hub_hash(h, &value, sizeof value);
}

static enum hub_status add(struct hub_question *q, const char *prefix, const struct hub_entry *entry,
                           uint32_t of, struct hub_error *err)
{
    HUB_TRY(hub_grow(&q->entries, q->count, &q->capacity, sizeof *q->entries, err));
    char *path = hub_path_join(prefix, entry->name);
    HUB_TRY(hub_allocated(path, err));
    q->entries[q->count++] =
        (struct claim_entry){{path, entry->directory ? 0 : entry->stamp.size, entry->directory}, of};
    q->signature = hub_hash(q->signature, path, strlen(path) + 1);
    if (!entry->directory) {
        q->signature = mix_uint(q->signature, entry->stamp.size);
        q->signature = mix_uint(q->signature, entry->stamp.mtime_ns);
        q->signature = mix_uint(q->signature, entry->stamp.tag);
    }
    return HUB_OK;
}

static enum hub_status add_all(struct hub_question *q, const char *prefix, const struct hub_listing *listing,
                               struct hub_error *err)
{
    for (uint32_t i = 0; i < listing->count; i++)
        HUB_TRY(add(q, prefix, &listing->entries[i], *prefix ? HUB_NONE : i, err));
    return HUB_OK;
}

/* Drivers look paths up by halving: "data/x" stands behind "data-old", not behind all of the folder's own. */
static enum hub_status fill(struct hub_question *q, const struct hub_listing *listing, struct hub_error *err)
{
    q->signature = hub_hash(HUB_HASH_START, q->discovery->drivers, strlen(q->discovery->drivers) + 1);
    struct hub_walk walk = *q->discovery->walk;
    walk.opened = NULL; /* it is reported when they are entered, or their files collected */
    HUB_TRY(add_all(q, "", listing, err));
    q->own = q->count;
    for (uint32_t i = 0; i < listing->count; i++) {
        HUB_CLEANUP(hub_listing_dispose) struct hub_listing inner = {0};
        const struct hub_entry *e = &listing->entries[i];
        if (!e->directory || !hub_format_table_looks_into(q->formats, e->name))
            continue;
        HUB_CLEANUP(hub_freep) char *path = hub_path_join(q->path, e->name);
        HUB_TRY(hub_allocated(path, err));
        if (hub_walk_list(&walk, q->root, path, &inner, NULL) == HUB_OK)
            HUB_TRY(add_all(q, e->name, &inner, err));
    }
    if (q->count)
        qsort(q->entries, q->count, sizeof *q->entries, hub_by_text);
    return HUB_OK;
}

static bool wanted(const struct hub_question *q, const struct hub_format_row *format)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (hub_format_table_wants(q->formats, format, q->entries[i].file.path, q->entries[i].file.directory))
            return true;
    return false;
}

static bool has_pointer(const struct hub_question *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (!q->entries[i].file.directory && hub_maybe_pointer(q->entries[i].file.size))
            return true;
    return false;
}

/* Most directories have nothing that anybody looks for: no copy is made to find that out. */
static bool may_be_wanted(const struct hub_format_table *formats, const struct hub_listing *listing)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct hub_entry *e = &listing->entries[i];
        if (hub_format_table_wants(formats, NULL, e->name, e->directory) ||
            (!e->directory && hub_maybe_pointer(e->stamp.size)) ||
            (e->directory && hub_format_table_looks_into(formats, e->name)))
            return true;
    }
    return false;
}

/* ---- asking ---- */

/* Several questions as one job: entry `first[i] + k` of the job is entry k of question i. */
struct claim_batch {
    struct hub_question *const *questions;
    uint32_t *first, count;
};

static struct hub_question *question_of(const struct claim_batch *b, uint32_t number, uint32_t *entry)
{
    const uint32_t next = number + 1;
    const uint32_t at = hub_lower_bound(&next, b->first, b->count, sizeof *b->first, hub_by_u32) - 1;
    *entry = number - b->first[at];
    return b->questions[at];
}

static enum hub_status open_entry(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    uint32_t entry;
    struct hub_question *q = question_of(user, number, &entry);
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(q->path, q->entries[entry].file.path);
    HUB_TRY(hub_allocated(path, err));
    const enum hub_status st = hub_roots_open(q->discovery->walk->roots, q->root, path, O_RDONLY, fd, err);
    q->unread |= st != HUB_OK;
    return st;
}

static enum hub_status copy_bid(const struct hub_question *q, uint32_t first, struct hub_bid *bid,
                                const struct hub_found_claim *claim, struct hub_error *err)
{
    bid->format = strdup(claim->format);
    bid->name = claim->name ? strdup(claim->name) : NULL;
    bid->files = malloc((claim->file_count + (size_t)1) * sizeof *bid->files);
    if (!bid->format || !bid->files || (claim->name && !bid->name))
        return hub_no_memory(err);
    for (uint32_t i = 0; i < claim->file_count; i++)
        if (q->entries[claim->files[i] - first].of != HUB_NONE)
            bid->files[bid->file_count++] = q->entries[claim->files[i] - first].of;
    return HUB_OK;
}

static void drop_bid(struct hub_bids *bids)
{
    struct hub_bid *bid = &bids->bids[--bids->count];
    free(bid->format);
    free(bid->name);
    free(bid->files);
    *bid = (struct hub_bid){0};
}

/* A bid counts where the names announced for its format occur: a child may err, or lie, about contents
 * only. */
static enum hub_status copy_bids(const struct hub_question *q, uint32_t first,
                                 const struct hub_found_claim *claims, uint32_t count, struct hub_bids *out,
                                 struct hub_error *err)
{
    HUB_TRY(hub_new(&out->bids, count + (size_t)1, sizeof *out->bids, err));
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_format_row *format = hub_format_table_find(q->formats, claims[i].format);
        if (!format || (!claims[i].name && !wanted(q, format)))
            continue;
        HUB_TRY(copy_bid(q, first, &out->bids[out->count++], &claims[i], err));
        if (claims[i].name && !out->bids[out->count - 1].file_count)
            drop_bid(out);
    }
    return HUB_OK;
}

static enum hub_status share_out(const struct claim_batch *b, const struct hub_findings *found,
                                 struct hub_bids *bids, struct hub_error *err)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t begin = at;
        while (at < found->claim_count && found->claims[at].listing == i)
            at++;
        HUB_TRY(copy_bids(b->questions[i], b->first[i], found->claims + begin, at - begin, &bids[i], err));
    }
    return HUB_OK;
}

static enum hub_status run(struct claim_batch *b, struct hub_job_file *files, uint32_t file_count,
                           struct hub_bids *bids, struct hub_error *err)
{
    struct hub_findings found = {0};
    const struct hub_discovery *discovery = b->questions[0]->discovery;
    const struct hub_job job = {.kind = HUB_JOB_CLAIM,
                                .files = files,
                                .file_count = file_count,
                                .listings = b->first,
                                .listing_count = b->count,
                                .hint = b->questions[0]->files_only ? HUB_HINT_FILES : NULL,
                                .side_fd = -1,
                                .open_file = open_entry,
                                .user = b,
                                .cancel = discovery->cancel};
    HUB_TRY(hub_inspector_run(discovery->inspector, &job, &found, err));
    const enum hub_status st = share_out(b, &found, bids, err);
    hub_findings_dispose(&found);
    return st;
}

/* ---- remembering ---- */

enum hub_status hub_claim_key(const struct hub_roots *roots, uint32_t root, const char *path,
                              const char *what, struct hub_buf *key, struct hub_error *err)
{
    return hub_buf_addf(key, err, "claim:%s/%s%s", hub_root_key(&roots->roots[root]), path, what);
}

static enum hub_status key_of(const struct hub_question *q, struct hub_buf *key, struct hub_error *err)
{
    return hub_claim_key(q->discovery->walk->roots, q->root, q->path, q->files_only ? "//files" : "", key,
                         err);
}

static enum hub_status pack(const struct hub_question *q, const struct hub_bids *bids, struct hub_buf *out,
                            struct hub_error *err)
{
    HUB_TRY(hub_buf_add(out, &q->signature, sizeof q->signature, err));
    HUB_TRY(hub_pack_uint(out, bids->count, err));
    for (uint32_t i = 0; i < bids->count; i++) {
        HUB_TRY(hub_pack_text(out, bids->bids[i].format, err));
        HUB_TRY(hub_pack_option(out, bids->bids[i].name, err));
        HUB_TRY(hub_pack_uint(out, bids->bids[i].file_count, err));
        for (uint32_t j = 0; j < bids->bids[i].file_count; j++)
            HUB_TRY(hub_pack_uint(out, bids->bids[i].files[j], err));
    }
    return HUB_OK;
}

static bool unpack_bid(const struct hub_question *q, struct hub_cursor *c, struct hub_bid *bid)
{
    bid->format = hub_view_dup(hub_unpack_view(c));
    bid->name = hub_unpack_uint(c) ? hub_view_dup(hub_unpack_view(c)) : NULL;
    const uint32_t count = hub_unpack_count(c);
    bid->files = calloc(count + (size_t)1, sizeof *bid->files);
    if (!bid->format || !bid->files)
        return false;
    bid->file_count = count;
    for (uint32_t i = 0; i < count; i++) {
        bid->files[i] = hub_unpack_u32(c);
        if (bid->files[i] >= q->own)
            c->failed = true;
    }
    return !c->failed;
}

static bool recall(const struct hub_question *q, const char *key, struct hub_bids *out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf note = HUB_BUF_INIT(MAX_NOTE_BYTES);
    if (!q->discovery->recall || q->discovery->recall(q->discovery->user, key, &note, NULL))
        return false;
    struct hub_cursor c = hub_cursor_of(note.data, note.size);
    if (hub_cursor_u64(&c) != q->signature || c.failed)
        return false;
    const uint32_t count = hub_unpack_count(&c);
    out->bids = calloc(count + (size_t)1, sizeof *out->bids);
    bool ok = out->bids && !c.failed;
    while (ok && out->count < count)
        ok = unpack_bid(q, &c, &out->bids[out->count++]);
    if (!ok)
        hub_bids_dispose(out);
    return ok;
}

static void remember(const struct hub_question *q, const char *key, const struct hub_bids *bids)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf note = HUB_BUF_INIT(MAX_NOTE_BYTES);
    if (q->discovery->remember && pack(q, bids, &note, NULL) == HUB_OK &&
        q->discovery->remember(q->discovery->user, key, hub_buf_view(&note), NULL))
        return; /* the next sweep claims again */
}

/* `of`: who asks about what; the question is a copy of it. */
static enum hub_status make(const struct hub_question *of, const struct hub_listing *listing,
                            struct hub_question **out, struct hub_bids *bids, struct hub_error *err)
{
    const struct hub_format_table *formats = NULL;
    *out = NULL;
    *bids = (struct hub_bids){0};
    HUB_TRY(hub_inspector_formats(of->discovery->inspector, &formats, err));
    if (!may_be_wanted(formats, listing))
        return HUB_OK;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(64 * KIB);
    struct hub_question *q = malloc(sizeof *q);
    HUB_TRY(hub_allocated(q, err));
    *q = *of;
    q->formats = formats;
    q->path = strdup(of->path);
    if (!q->path) {
        free(q);
        return hub_no_memory(err);
    }
    enum hub_status st = fill(q, listing, err);
    const bool asked = !st && (wanted(q, NULL) || has_pointer(q));
    if (asked)
        st = key_of(q, &key, err);
    if (st || !asked || recall(q, key.data, bids)) {
        hub_question_free(q);
        return st;
    }
    *out = q;
    return HUB_OK;
}

enum hub_status hub_question_make(const struct hub_discovery *discovery, uint32_t root, const char *path,
                                  const struct hub_listing *listing, struct hub_question **out,
                                  struct hub_bids *bids, struct hub_error *err)
{
    const struct hub_question of = {.discovery = discovery, .root = root, .path = (char *)path};
    return make(&of, listing, out, bids, err);
}

enum hub_status hub_questions_ask(struct hub_question *const *questions, uint32_t count,
                                  struct hub_bids *bids, struct hub_error *err)
{
    size_t entries = 0;
    for (uint32_t i = 0; i < count; i++)
        entries += questions[i]->count;
    HUB_CLEANUP(hub_freep) struct hub_job_file *files = malloc((entries + 1) * sizeof *files);
    HUB_CLEANUP(hub_freep) uint32_t *first = malloc((count + (size_t)1) * sizeof *first);
    struct claim_batch b = {questions, first, count};
    if (!files || !first || entries > UINT32_MAX)
        return hub_no_memory(err);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        first[i] = n;
        for (uint32_t k = 0; k < questions[i]->count; k++)
            files[n++] = questions[i]->entries[k].file;
        bids[i] = (struct hub_bids){0};
    }
    const enum hub_status st = run(&b, files, n, bids, err);
    for (uint32_t i = 0; i < count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(64 * KIB);
        if (st)
            hub_bids_dispose(&bids[i]);
        else if (!questions[i]->unread && key_of(questions[i], &key, NULL) == HUB_OK)
            remember(questions[i], key.data, &bids[i]);
    }
    return st;
}

enum hub_status hub_claim_request(const struct hub_discovery *discovery, uint32_t root, const char *path,
                                  const struct hub_listing *listing, struct hub_bids *out,
                                  struct hub_error *err)
{
    struct hub_question *question = NULL;
    HUB_TRY(hub_question_make(discovery, root, path, listing, &question, out, err));
    const enum hub_status st = question ? hub_questions_ask(&question, 1, out, err) : HUB_OK;
    hub_question_free(question);
    return st;
}

enum hub_status hub_claim_request_files(const struct hub_discovery *discovery, uint32_t root,
                                        const char *path, const struct hub_listing *listing,
                                        struct hub_bids *out, struct hub_error *err)
{
    const struct hub_question of = {
        .discovery = discovery, .root = root, .path = (char *)path, .files_only = true};
    struct hub_question *question = NULL;
    HUB_TRY(make(&of, listing, &question, out, err));
    const enum hub_status st = question ? hub_questions_ask(&question, 1, out, err) : HUB_OK;
    hub_question_free(question);
    return st;
}

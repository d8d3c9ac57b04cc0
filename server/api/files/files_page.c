/* A page of the files of a dataset: below a prefix, one level of them or all; as lines, all at once. The
 * files are sorted, so that a level is walked by jumping over what lies in its folders. */
#include "server/api/handlers.h"

#include "server/api/files/listing.h"
#include "server/api/reply.h"
#include "server/api/tables/lines.h"
#include "storage/ids/spell.h"
#include "storage/truth/digests.h"

#include <stdio.h>
#include <stdlib.h>

struct level {
    const struct hub_dataset_file *files;
    uint32_t begin, end; /* those below the prefix */
    size_t prefix;       /* bytes of it */
    bool folders;        /* what lies in one is one entry */
    struct hub_truth *truth;
};

/* ---- entries ---- */

/* First of [from, to) whose path, as far as `text` goes, comes after it; or is not before it. */
static uint32_t find(const struct level *l, uint32_t from, uint32_t to, struct hub_view text, bool after)
{
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        const int order = strncmp(l->files[middle].path, text.data, text.size);
        if (order < 0 || (order == 0 && after))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The folder of this level that a file lies in; empty: it lies in the level itself. */
static struct hub_view folder_of(const struct level *l, uint32_t file)
{
    const char *path = l->files[file].path, *slash = l->folders ? strchr(path + l->prefix, '/') : NULL;
    return slash ? (struct hub_view){path, (size_t)(slash - path) + 1} : (struct hub_view){"", 0};
}

static uint32_t next_entry(const struct level *l, uint32_t at)
{
    const struct hub_view folder = folder_of(l, at);
    return folder.size ? find(l, at, l->end, folder, true) : at + 1;
}

static uint32_t entry_before(const struct level *l, uint32_t at)
{
    const struct hub_view folder = folder_of(l, at - 1);
    return folder.size ? find(l, l->begin, at, folder, false) : at - 1;
}

static uint64_t bytes_of(const struct level *l, uint32_t from, uint32_t to)
{
    uint64_t bytes = 0;
    for (; from < to; from++)
        bytes += l->files[from].stamp.size;
    return bytes;
}

/* ---- what is asked ---- */

static enum hub_status read_level(const struct hub_request *request, const struct hub_dataset *dataset,
                                  struct level *l, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf raw = HUB_BUF_INIT(64 * KIB);
    const struct hub_view prefix = hub_request_query(request, "prefix"),
                          delimiter = hub_request_query(request, "delimiter");
    *l = (struct level){.files = dataset->files,
                        .end = dataset->file_count,
                        .folders = delimiter.size,
                        .truth = request->app->truth};
    if (!prefix.size)
        return HUB_OK;
    if (hub_unspell(prefix, &raw, NULL))
        return hub_request_wrong(request, "prefix", err, "a backslash begins no \\xhh");
    l->prefix = raw.size;
    l->begin = find(l, 0, l->end, hub_buf_view(&raw), false);
    l->end = find(l, l->begin, l->end, hub_buf_view(&raw), true);
    return HUB_OK;
}

/* Where a cursor stands, by the path it was made of: behind its entry, or back at it. */
static uint32_t position_of(const struct level *l, const struct hub_page_cursor *cursor)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf raw = HUB_BUF_INIT(64 * KIB);
    const uint32_t number = (uint32_t)strtoul(cursor->key, NULL, 10);
    if (!cursor->tie[0] && number >= l->begin && number < l->end)
        return cursor->back ? number : next_entry(l, number);
    if (hub_unspell(hub_view_of(cursor->tie), &raw, NULL) || !raw.size)
        return l->begin;
    const struct hub_view path = hub_buf_view(&raw);
    const uint32_t at = find(l, l->begin, l->end, path, false);
    const bool is_folder = l->folders && path.data[path.size - 1] == '/';
    if (cursor->back || at == l->end)
        return at;
    return is_folder ? find(l, at, l->end, path, true) : at + (strcmp(l->files[at].path, path.data) == 0);
}

/* ---- the answer ---- */

/* A path too long for a cursor is replaced by its number. */
static enum hub_status cursor_at(const struct level *l, uint32_t entry, struct hub_page_cursor *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    const struct hub_view folder = folder_of(l, entry);
    HUB_TRY(hub_spell_path(folder.size ? folder : hub_view_of(l->files[entry].path), &text, err));
    if (text.size < sizeof out->tie)
        snprintf(out->tie, sizeof out->tie, "%s", text.data);
    else
        snprintf(out->key, sizeof out->key, "%u", entry);
    return HUB_OK;
}

enum { AT_ONCE = 256, AT_ONCE_IN_FOLDER = 16 };

/* Digests of some files behind each other: looked up together. */
struct known_digests {
    struct hub_truth *truth;
    const struct hub_dataset *dataset;
    uint32_t begin, end; /* of those that are known */
    struct hub_file_digests digests[AT_ONCE];
};

/* The members of a file; where its digests are not known yet, those of the files up to `end` are looked up
 * too. */
static enum hub_status put_members(struct known_digests *k, uint32_t file, uint32_t end,
                                   struct hub_json *json, struct hub_error *err)
{
    const struct hub_dataset *d = k->dataset;
    if (file < k->begin || file >= k->end) {
        k->begin = file;
        k->end = HUB_MIN(end, file + AT_ONCE);
        HUB_TRY(hub_digest_list(k->truth, d->summary->root, d->summary->path, &d->files[file], k->end - file,
                                k->digests, err));
    }
    hub_file_members(json, &d->files[file], &k->digests[file - k->begin]);
    hub_file_put_damage(json, k->truth, d, &d->files[file]);
    return HUB_OK;
}

static void put_folder(const struct level *l, uint32_t from, uint32_t to, struct hub_json *json)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    if (hub_spell_path(folder_of(l, from), &text, NULL))
        text.size = 0;
    hub_json_object(json);
    hub_json_put_string(json, "prefix", hub_buf_view(&text));
    hub_json_put_uint(json, "files", to - from);
    hub_json_put_uint(json, "size", bytes_of(l, from, to));
    hub_json_end_object(json);
}

/* First of the page, and its entries: `limit` of them, back from `at` or on from there. */
static uint32_t first_of(const struct level *l, const struct hub_page_query *page)
{
    const uint32_t at = page->goes_on ? position_of(l, &page->after) : l->begin;
    uint32_t first = at;
    for (uint32_t n = 0; page->after.back && n < page->limit && first > l->begin; n++)
        first = entry_before(l, first);
    return first;
}

static uint64_t count_entries(const struct level *l)
{
    uint64_t n = 0;
    if (!l->folders)
        return l->end - l->begin;
    for (uint32_t at = l->begin; at < l->end; at = next_entry(l, at))
        n++;
    return n;
}

/* From `first` on; where the page ended. */
static enum hub_status put_entries(const struct hub_state *state, const struct level *l, uint32_t limit,
                                   uint32_t *first, struct hub_json *items, struct hub_json *folders,
                                   struct hub_error *err)
{
    uint32_t at = *first;
    HUB_CLEANUP(hub_freep) struct known_digests *known = NULL;
    HUB_TRY(hub_new(&known, 1, sizeof *known, err));
    known->truth = l->truth;
    known->dataset = state->dataset;
    for (uint32_t n = 0; n < limit && at < l->end; n++) {
        const uint32_t next = next_entry(l, at), most = l->folders ? AT_ONCE_IN_FOLDER : limit - n;
        if (folder_of(l, at).size) {
            put_folder(l, at, next, folders);
        } else {
            hub_json_object(items);
            HUB_TRY(put_members(known, at, at + HUB_MIN(most, l->end - at), items, err));
            hub_json_end_object(items);
        }
        at = next;
    }
    *first = at;
    return hub_json_status(folders);
}

static enum hub_status write_page(struct hub_request *request, const struct hub_target *target,
                                  const struct level *l, const struct hub_page_query *page,
                                  struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_page_ends_dispose)
    struct hub_page_ends ends = {.total = count_entries(l), .more = HUB_BUF_INIT(16 * MIB)};
    struct hub_json items = hub_page_begin(page, response, 16 * MIB, err),
                    more = hub_json_to(&ends.more, err);
    const struct hub_summary *summary = target->state.dataset->summary;
    const uint32_t first = first_of(l, page);
    uint32_t end = first;
    hub_json_put_text(&more, "id", summary->id);
    hub_json_put_text(&more, "revision", summary->revision);
    hub_json_put_uint(&more, "size", bytes_of(l, l->begin, l->end));
    hub_json_put_array(&more, "prefixes");
    const uint32_t limit = page->all ? UINT32_MAX : page->limit;
    HUB_TRY(put_entries(&target->state, l, limit, &end, &items, page->lines ? &items : &more, err));
    hub_json_end_array(&more);
    HUB_TRY(hub_json_status(&more));
    ends.has_next = end < l->end;
    ends.has_prev = first > l->begin;
    if (ends.has_next)
        HUB_TRY(cursor_at(l, entry_before(l, end), &ends.next, err));
    if (ends.has_prev && first < l->end)
        HUB_TRY(cursor_at(l, first, &ends.prev, err));
    ends.has_prev = ends.has_prev && first < l->end;
    HUB_TRY(hub_page_close(request, page, response, &items, &ends, err));
    HUB_TRY(hub_resolve_headers(request, target, response, err));
    return hub_reply_document(request, response, err);
}

/* ---- all of them, a line each ---- */

struct file_lines {
    struct hub_lines lines; /* first */
    struct known_digests known;
};

static void dispose_lines(struct hub_lines *lines)
{
    hub_dataset_put(((struct file_lines *)lines)->known.dataset);
}

static enum hub_status put_line(struct hub_lines *lines, uint32_t file, struct hub_json *json,
                                struct hub_error *err)
{
    return put_members(&((struct file_lines *)lines)->known, file, lines->end, json, err);
}

static enum hub_status send_lines(struct hub_request *request, struct hub_target *target,
                                  const struct level *l, uint32_t first, struct hub_response *response,
                                  struct hub_error *err)
{
    struct file_lines *f;
    HUB_TRY(hub_resolve_headers(request, target, response, err));
    HUB_TRY(hub_new(&f, 1, sizeof *f, err));
    f->lines = (struct hub_lines){.at = first, .end = l->end, .put = put_line, .dispose = dispose_lines};
    f->known.truth = request->app->truth;
    f->known.dataset = target->state.dataset; /* its reference */
    target->state.dataset = NULL;
    return hub_lines_answer(response, &f->lines, err);
}

enum hub_status hub_files_page(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    struct hub_page_query page;
    struct level l;
    HUB_TRY(hub_page_read(request, &page, err));
    if (!request->may_block)
        return HUB_AGAIN; /* digests are looked up */
    HUB_TRY(hub_resolve(request, response, HUB_TO_DATASET, &target, err));
    HUB_TRY(read_level(request, target.state.dataset, &l, err));
    if (page.all && !l.folders)
        return send_lines(request, &target, &l, first_of(&l, &page), response, err);
    return write_page(request, &target, &l, &page, response, err);
}

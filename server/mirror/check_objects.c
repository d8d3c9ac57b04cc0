/* Objects of repos in a deep check: see check_run.h. Those that are files of datasets are read once. */
#include "server/mirror/check_run.h"

#include "storage/deposits/deposit.h"
#include "storage/truth/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_OBJECTS = 100 * 1000 * 1000 };

/* An object as a row names it. Those that several repos need follow each other. */
struct object {
    uint32_t root, repo; /* numbers */
    uint64_t size;
    uint8_t sha256[HUB_SHA256_BYTES];
};

struct objects {
    struct hub_check_run *c;
    struct hub_deposits deposits;
    struct object *items;
    uint32_t count, capacity;
    char **repos;
    uint32_t repo_count, repo_capacity;
    uint32_t root; /* under way, of those that nobody names */
};

static void objects_dispose(struct objects *o)
{
    for (uint32_t i = 0; i < o->repo_count; i++)
        free(o->repos[i]);
    free(o->repos);
    free(o->items);
}

static enum hub_status add_object(void *user, const struct hub_named_object *named, struct hub_error *err)
{
    struct objects *o = user;
    if (!hub_check_is_requested(o->c->ids, named->repo))
        return HUB_OK;
    if (o->count == MOST_OBJECTS)
        return hub_fail(err, HUB_TOO_BIG, "repos have more than %d objects", MOST_OBJECTS);
    if (!o->repo_count || strcmp(o->repos[o->repo_count - 1], named->repo) != 0) {
        HUB_TRY(hub_grow(&o->repos, o->repo_count, &o->repo_capacity, sizeof *o->repos, err));
        HUB_TRY(hub_dup(&o->repos[o->repo_count], named->repo, err));
        o->repo_count++;
    }
    HUB_TRY(hub_grow(&o->items, o->count, &o->capacity, sizeof *o->items, err));
    struct object *object = &o->items[o->count++];
    *object = (struct object){.root = hub_roots_number(o->deposits.roots, named->root),
                              .repo = o->repo_count - 1,
                              .size = named->size};
    memcpy(object->sha256, named->sha256, sizeof object->sha256);
    o->c->w->total += named->size;
    return HUB_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct object *one = a, *two = b;
    const int order = memcmp(one->sha256, two->sha256, sizeof one->sha256);
    return order ? order : (one->root > two->root) - (one->root < two->root);
}

/* ---- what is found ---- */

static void path_of(const uint8_t sha256[HUB_SHA256_BYTES], char out[HUB_OBJECT_PATH])
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_hex(sha256, HUB_SHA256_BYTES, hex);
    snprintf(out, HUB_OBJECT_PATH, HUB_PRIVATE_DIR "/objects/%s", hex);
}

static void note(struct hub_check_run *c, const char *of, const uint8_t sha256[HUB_SHA256_BYTES],
                 const char *what, const char *detail)
{
    const struct hub_summary summary = {.id = (char *)of};
    struct hub_file_facts facts = {.has_sha256 = true};
    char path[HUB_OBJECT_PATH];
    memcpy(facts.sha256, sha256, sizeof facts.sha256);
    path_of(sha256, path);
    c->summary = &summary;
    hub_check_note_of(c, &facts, path, what, detail);
    c->summary = NULL;
}

/* Of each repo that needs it, with the file that it is there. One that was collected meanwhile is none. */
static enum hub_status note_all(struct objects *o, const struct object *first, uint32_t count,
                                const char *what, const char *why, struct hub_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
        const char *repo = o->repos[first[i].repo];
        HUB_TRY(hub_buf_addf(&text, err, "%s: ", why));
        const enum hub_status st =
            hub_object_need(o->c->w->mirrors->options.truth, repo, first->sha256, &text, err);
        if (st && st != HUB_NOT_FOUND)
            return st;
        if (!st)
            note(o->c, repo, first->sha256, what, text.data);
    }
    return HUB_OK;
}

/* ---- one object ---- */

static enum hub_status digest(struct hub_check_run *c, int fd, const struct stat *st, bool *bad,
                              char out[2 * HUB_SHA256_BYTES + 1], struct hub_error *err)
{
    HUB_CLEANUP(hub_file_hasher_dispose) struct hub_file_hasher hasher = {0};
    const struct hub_stamp stamp = hub_stamp_of(st);
    const bool linked = hub_stat_is_owned(st) && st->st_nlink > 1;
    const struct hub_file_digests *seen = linked ? hub_check_find_seen(c, &stamp) : NULL;
    struct hub_file_digests digests = {{0}, {0}, {0}};
    if (seen) {
        memcpy(out, seen->sha256, sizeof seen->sha256);
        c->w->done += stamp.size;
        return HUB_OK;
    }
    HUB_TRY(hub_file_hasher_begin(&hasher, HUB_BY_MD5, stamp.size, err));
    HUB_TRY(hub_check_read(c, fd, stamp.size, &hasher, bad, err));
    if (*bad)
        return HUB_OK;
    HUB_TRY(hub_digests_end(&hasher, &digests, err));
    memcpy(out, digests.sha256, sizeof digests.sha256);
    return HUB_OK;
}

static enum hub_status compare(struct objects *o, const struct object *first, uint32_t count, int fd,
                               struct hub_error *err)
{
    char is[2 * HUB_SHA256_BYTES + 1] = "", want[2 * HUB_SHA256_BYTES + 1];
    struct stat st;
    bool bad = false;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return note_all(o, first, count, "missing", "it is not a file", err);
    HUB_TRY(digest(o->c, fd, &st, &bad, is, err));
    hub_hex(first->sha256, HUB_SHA256_BYTES, want);
    if (bad)
        return note_all(o, first, count, "damaged", "the disk cannot read the whole object", err);
    if (strcmp(is, want) != 0)
        return note_all(o, first, count, "object-changed", "its bytes are not those of its name", err);
    hub_check_count(o->c, "objects", 1);
    hub_check_count(o->c, "bytes", (uint64_t)st.st_size);
    return HUB_OK;
}

static enum hub_status check_object(struct objects *o, const struct object *first, uint32_t count,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct hub_error why = {0};
    if (first->root >= o->deposits.roots->count)
        return note_all(o, first, count, "missing", "its root is not served", err);
    const enum hub_status st = hub_object_file_open(&o->deposits, first->root, first->sha256, &fd, &why);
    if (!st)
        return compare(o, first, count, fd, err);
    o->c->w->done += first->size;
    return note_all(o, first, count, "missing",
                    st == HUB_NOT_FOUND ? "it does not exist any more" : why.detail, err);
}

/* ---- those that nobody needs ---- */

static enum hub_status look_for_row(void *user, const uint8_t sha256[HUB_SHA256_BYTES], struct hub_error *err)
{
    struct objects *o = user;
    const struct hub_root *root = &o->deposits.roots->roots[o->root];
    bool named = false;
    HUB_TRY(hub_object_is_named(o->c->w->mirrors->options.truth, o->root, sha256, &named, err));
    if (!named)
        note(o->c, hub_root_key(root), sha256, "orphaned",
             root->read_only ? "nobody needs it, and its root is read-only (:ro)"
                             : "nobody needs it: the hub removes it within an hour");
    return HUB_OK;
}

/* ---- all ---- */

enum hub_status hub_check_objects(struct hub_check_run *c, struct hub_error *err)
{
    const struct hub_mirrors_options *options = &c->w->mirrors->options;
    HUB_CLEANUP(objects_dispose)
    struct objects o = {.c = c, .deposits = {.truth = options->truth, .roots = options->roots}};
    HUB_TRY(hub_named_objects_each(options->truth, add_object, &o, err));
    if (o.count)
        qsort(o.items, o.count, sizeof *o.items, by_place);
    for (uint32_t i = 0, n; i < o.count; i += n) {
        for (n = 1; i + n < o.count && by_place(&o.items[i], &o.items[i + n]) == 0; n++)
            ;
        HUB_TRY(check_object(&o, &o.items[i], n, err));
    }
    for (o.root = 0; !c->ids && o.root < options->roots->count; o.root++)
        HUB_TRY(hub_object_files_each(&o.deposits, o.root, look_for_row, &o, err));
    return HUB_OK;
}

/* One that is itself among the findings is no source. */
static bool is_found(const json_t *findings, const char *path)
{
    const json_t *item;
    size_t i;
    json_array_foreach(findings, i, item)
    {
        const char *of = hub_member_text(item, "path");
        if (of && strcmp(of, path) == 0)
            return true;
    }
    return false;
}

const char *hub_check_find_object(const struct hub_check_run *c, const uint8_t sha256[HUB_SHA256_BYTES],
                                  char path[HUB_OBJECT_PATH])
{
    const struct hub_mirrors_options *options = &c->w->mirrors->options;
    const struct hub_deposits deposits = {.truth = options->truth, .roots = options->roots};
    path_of(sha256, path);
    if (is_found(json_object_get(c->result, "findings"), path))
        return NULL;
    for (uint32_t i = 0; i < options->roots->count; i++) {
        HUB_CLEANUP(hub_closep) int fd = -1;
        struct stat st;
        if (!hub_object_file_open(&deposits, i, sha256, &fd, NULL) && fstat(fd, &st) == 0 &&
            hub_stat_is_owned(&st))
            return hub_root_key(&options->roots->roots[i]);
    }
    return NULL;
}

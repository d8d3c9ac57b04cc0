/* All files of a dataset, and what keeps it from having more: see walk.h. */
#include "storage/base/order.h"
#include "storage/discover/pair_set.h"
#include "storage/discover/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char hub_link_leaves[] =
    "this link is dangling or leads out of the roots: its target is left out (--allow-target DIR permits it)";
const char hub_withheld[] = "it is not listed or served because it holds credentials of Hugging Face: move "
                            "it out of the root, or serve the folder of the datasets beside it";

/* ---- the set ---- */

static void drop_files(struct hub_fileset *set, uint32_t from)
{
    while (set->count > from)
        free((void *)set->files[--set->count].path);
}

void hub_fileset_dispose(struct hub_fileset *set)
{
    drop_files(set, 0);
    free(set->files);
    for (uint32_t i = 0; i < set->problem_count; i++) {
        free((void *)set->problems[i].code);
        free((void *)set->problems[i].path);
        free((void *)set->problems[i].detail);
    }
    free(set->problems);
    for (uint32_t i = 0; i < set->nested_count; i++)
        free(set->nested[i]);
    free(set->nested);
    *set = (struct hub_fileset){0};
}

enum hub_status hub_fileset_add(struct hub_fileset *set, const char *prefix, const struct hub_entry *entry,
                                struct hub_error *err)
{
    if (set->count == HUB_MAX_FILES)
        return hub_fail(err, HUB_TOO_BIG, "a dataset of more than %d files", HUB_MAX_FILES);
    HUB_TRY(hub_grow(&set->files, set->count, &set->capacity, sizeof *set->files, err));
    char *path = hub_path_join(prefix, entry->name);
    HUB_TRY(hub_allocated(path, err));
    set->files[set->count++] = (struct hub_dataset_file){path, entry->stamp};
    set->newest_ns = HUB_MAX(set->newest_ns, hub_entry_newest_ns(entry));
    set->may_change = set->may_change || entry->ctime_ns;
    return HUB_OK;
}

void hub_fileset_sort(struct hub_fileset *set)
{
    if (set->count)
        qsort(set->files, set->count, sizeof *set->files, hub_by_text);
}

enum hub_status hub_fileset_problem(struct hub_fileset *set, const char *code, const char *path,
                                    struct hub_error *err, const char *fmt, ...)
{
    char detail[1024];
    va_list args;
    if (set->problem_count == HUB_MAX_NOTED)
        return HUB_OK;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    struct hub_found_problem *problems = realloc(set->problems, (set->problem_count + 1) * sizeof *problems);
    HUB_TRY(hub_allocated(problems, err));
    set->problems = problems;
    struct hub_found_problem *p = &problems[set->problem_count++];
    *p = (struct hub_found_problem){strdup(code), strdup(path), strdup(detail)};
    return hub_allocated(p->code && p->path && p->detail, err);
}

enum hub_status hub_fileset_problems(struct hub_fileset *set, const char *code, const char *below,
                                     const char *names, const char *detail, struct hub_error *err)
{
    for (const char *name = names; name && *name; name += strlen(name) + 1) {
        HUB_CLEANUP(hub_freep) char *path = hub_path_join(below, name);
        HUB_TRY(hub_allocated(path, err));
        HUB_TRY(hub_fileset_problem(set, code, path, err, "%s", detail));
    }
    return HUB_OK;
}

static enum hub_status add_nested(struct hub_fileset *set, const char *path, struct hub_error *err)
{
    char **nested = realloc(set->nested, (set->nested_count + 1) * sizeof *nested);
    HUB_TRY(hub_allocated(nested, err));
    set->nested = nested;
    nested[set->nested_count] = strdup(path);
    return nested[set->nested_count++] ? HUB_OK : hub_no_memory(err);
}

/* ---- collecting ---- */

/* Links to directories wait until everything with a name of its own was entered. */
struct link {
    char *path; /* below the top */
    uint64_t device, inode;
};

struct collecting {
    const struct hub_walk *walk;
    const struct hub_format_table *formats; /* NULL: nothing is nested */
    uint32_t root;
    const char *top;
    const struct hub_listing *listed; /* of the top, or NULL */
    struct hub_fileset *out;
    struct hub_pair_set seen;
    struct link *links;
    uint32_t link_count, link_capacity;
};

static enum hub_status keep_link(struct collecting *c, const char *below, const struct hub_entry *e,
                                 struct hub_error *err)
{
    HUB_TRY(hub_grow(&c->links, c->link_count, &c->link_capacity, sizeof *c->links, err));
    char *path = hub_path_join(below, e->name);
    HUB_TRY(hub_allocated(path, err));
    c->links[c->link_count++] = (struct link){path, e->device, e->inode};
    return HUB_OK;
}

/* Does this listing of "x/data" make "x" a dataset? Only names are looked at. */
static bool makes_nested(const struct collecting *c, const char *below, const struct hub_listing *listing)
{
    const char *name = strrchr(below, '/');
    if (!c->formats || !name || !hub_format_table_looks_into(c->formats, name + 1))
        return false;
    for (uint32_t i = 0; i < listing->count; i++) {
        HUB_CLEANUP(hub_freep) char *path = hub_path_join(name + 1, listing->entries[i].name);
        if (path && hub_format_table_wants(c->formats, NULL, path, listing->entries[i].directory))
            return true;
    }
    return false;
}

/* What keeps one directory from being read keeps no other. */
static bool ends_collecting(enum hub_status st)
{
    return st == HUB_NO_MEMORY || st == HUB_CANCELLED || st == HUB_IO || st == HUB_BUSY || st == HUB_AGAIN ||
           st == HUB_TIMEOUT;
}

static enum hub_status list_below(struct collecting *c, const char *below, struct hub_listing *listing,
                                  struct hub_error *err)
{
    struct hub_error why = {0};
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(c->top, below);
    HUB_TRY(hub_allocated(path, err));
    const enum hub_status st = hub_walk_list(c->walk, c->root, path, listing, &why);
    if (!st || (*below && st == HUB_NOT_FOUND))
        return HUB_OK; /* it may have gone meanwhile */
    if (!*below || ends_collecting(st))
        return hub_fail(err, st, "%s", why.detail);
    return hub_fileset_problem(c->out, "directory-not-entered", below, err, "%s", why.detail);
}

static enum hub_status collect(struct collecting *c, const char *below, bool *nested, struct hub_error *err);

static enum hub_status collect_entries(struct collecting *c, const char *below,
                                       const struct hub_listing *listing, bool *nested, struct hub_error *err)
{
    HUB_TRY(hub_fileset_problems(c->out, "link-leaves", below, listing->leaving, hub_link_leaves, err));
    HUB_TRY(
        hub_fileset_problems(c->out, "credentials-withheld", below, listing->withheld, hub_withheld, err));
    for (uint32_t i = 0; i < listing->count && !*nested; i++) {
        const struct hub_entry *e = &listing->entries[i];
        if (!e->directory) {
            HUB_TRY(hub_fileset_add(c->out, below, e, err));
            continue;
        }
        if (e->link) {
            HUB_TRY(keep_link(c, below, e, err));
            continue;
        }
        HUB_CLEANUP(hub_freep) char *next = hub_path_join(below, e->name);
        HUB_TRY(hub_allocated(next, err));
        HUB_TRY(collect(c, next, nested, err));
    }
    return HUB_OK;
}

/* `nested` is set when the directory above turns out to be a dataset of its own. */
static enum hub_status collect(struct collecting *c, const char *below, bool *nested, struct hub_error *err)
{
    HUB_CLEANUP(hub_listing_dispose) struct hub_listing own = {0};
    const struct hub_listing *listing = *below ? NULL : c->listed;
    const uint32_t files_before = c->out->count;
    const size_t links_before = c->link_count;
    bool this_is_nested = false, entered = false;
    if (c->seen.count == c->walk->max_directories)
        return hub_fail(err, HUB_TOO_BIG, "a dataset of more than %llu directories",
                        (unsigned long long)c->walk->max_directories);
    if (!listing) {
        HUB_TRY(list_below(c, below, &own, err));
        listing = &own;
    }
    HUB_TRY(hub_pair_set_add(&c->seen, listing->device, listing->inode, &entered, err));
    if (!entered)
        return HUB_OK;
    if (makes_nested(c, below, listing)) {
        *nested = true;
        return HUB_OK;
    }
    c->out->newest_ns = HUB_MAX(c->out->newest_ns, listing->newest_ns);
    HUB_TRY(collect_entries(c, below, listing, &this_is_nested, err));
    if (!this_is_nested)
        return HUB_OK;
    drop_files(c->out, files_before);
    while (c->link_count > links_before)
        free(c->links[--c->link_count].path);
    return add_nested(c->out, below, err);
}

/* A link to a directory above the dataset would bring in all its neighbours. */
static bool leads_above(const struct collecting *c, const char *path)
{
    HUB_CLEANUP(hub_freep) char *joined = hub_path_join(c->top, path);
    HUB_CLEANUP(hub_freep) char *end = NULL, *top = NULL;
    if (!joined || hub_roots_real(c->walk->roots, c->root, joined, &end, NULL) ||
        hub_roots_real(c->walk->roots, c->root, c->top, &top, NULL))
        return true;
    const size_t n = strlen(end);
    return strncmp(top, end, n) == 0 && (top[n] == '\0' || top[n] == '/' || (n && end[n - 1] == '/'));
}

static enum hub_status collect_links(struct collecting *c, struct hub_error *err)
{
    for (size_t i = 0; i < c->link_count; i++) {
        const struct link link = c->links[i];
        bool nested = false;
        if (hub_pair_set_has(&c->seen, link.device, link.inode) || leads_above(c, link.path))
            continue;
        HUB_TRY(collect(c, link.path, &nested, err));
        if (nested) /* "x/data" is a link: it makes "x" no other dataset's */
            HUB_TRY(hub_fileset_problem(c->out, "link-not-followed", link.path, err,
                                        "this link leads to what looks like another dataset"));
    }
    return HUB_OK;
}

enum hub_status hub_walk_collect(const struct hub_walk *walk, uint32_t root, const char *path,
                                 const struct hub_format_table *formats, const struct hub_listing *listed,
                                 struct hub_fileset *out, struct hub_error *err)
{
    struct collecting c = {
        .walk = walk, .formats = formats, .root = root, .top = path, .listed = listed, .out = out};
    bool nested = false;
    *out = (struct hub_fileset){0};
    enum hub_status st = collect(&c, "", &nested, err);
    if (!st)
        st = collect_links(&c, err);
    for (size_t i = 0; i < c.link_count; i++)
        free(c.links[i].path);
    free(c.links);
    hub_pair_set_dispose(&c.seen);
    if (st && st != HUB_TOO_BIG)
        hub_fileset_dispose(out);
    else
        hub_fileset_sort(out);
    return st;
}

enum hub_status hub_walk_restat(const struct hub_walk *walk, uint32_t root, const char *path,
                                const struct hub_fileset *of, struct hub_fileset *out, struct hub_error *err)
{
    *out = (struct hub_fileset){0};
    enum hub_status st = HUB_OK;
    for (uint32_t i = 0; i < of->count && !st; i++) {
        HUB_CLEANUP(hub_freep) char *full = hub_path_join(path, of->files[i].path);
        HUB_CLEANUP(hub_closep) int fd = -1;
        struct stat now;
        st = full ? hub_roots_open(walk->roots, root, full, O_PATH, &fd, err) : hub_no_memory(err);
        if (!st && fstat(fd, &now))
            st = hub_fail_errno(err, errno, "%s", full);
        if (!st) {
            const struct hub_entry entry = hub_entry_of(of->files[i].path, &now);
            st = hub_fileset_add(out, "", &entry, err);
        }
    }
    if (st)
        hub_fileset_dispose(out);
    return st;
}

/* The directories of a walk: each is entered once, by its own name: links wait until all else was. */
#include "storage/discover/discover_state.h"

#include "storage/ids/kept.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_REFUSED = 1000 };

static struct hub_node *node_new(struct hub_node *parent, uint32_t root, const char *directory,
                                 const char *name)
{
    const size_t a = strlen(directory), b = strlen(name);
    struct hub_node *node = calloc(1, sizeof *node + a + b + 2);
    if (!node)
        return NULL;
    node->parent = parent;
    node->root = root;
    node->other = parent && parent->other;
    snprintf(node->path, a + b + 2, "%s%s%s", directory, a && b ? "/" : "", name);
    return node;
}

void hub_node_free(struct hub_node *node)
{
    free(node->leaving);
    free(node->withheld);
    free(node->refused);
    hub_fileset_dispose(&node->loose);
    free(node);
}

/* Into the tree: the lock is held. */
static void adopt(struct hub_walking *w, struct hub_node *node)
{
    node->all = w->all;
    w->all = node;
    if (node->parent) {
        node->beside = node->parent->children;
        node->parent->children = node;
    }
}

static void push(struct hub_walking *w, struct hub_node *node)
{
    node->next = NULL;
    *(w->last ? &w->last->next : &w->first) = node;
    w->last = node;
    w->out->directories++;
    w->directories++;
    pthread_cond_signal(&w->threads.wake);
}

enum hub_status hub_walking_refuse(struct hub_walking *w, struct hub_node *node, const char *why)
{
    w->out->not_entered++;
    node->refused = strdup(why);
    return node->refused ? HUB_OK : HUB_NO_MEMORY;
}

void hub_walking_go_beyond(struct hub_walking *w)
{
    pthread_mutex_lock(&w->threads.lock);
    w->out->beyond = true;
    pthread_mutex_unlock(&w->threads.lock);
}

bool hub_walking_passes(const struct hub_walking *w, const struct hub_node *node)
{
    return w->discovery->only && hub_scope_passes(w->discovery->only, node->path);
}

/* A directory below another, unless it was entered already or there are too many. The lock is held. */
static enum hub_status enqueue(struct hub_walking *w, struct hub_node *node, uint64_t device, uint64_t inode,
                               struct hub_error *err)
{
    bool added = true;
    char why[100];
    if (w->directories < w->discovery->walk->max_directories) {
        const enum hub_status st = hub_pair_set_add(&w->entered, device, inode, &added, err);
        if (st || !added) {
            hub_node_free(node);
            return st;
        }
        adopt(w, node);
        push(w, node);
        return HUB_OK;
    }
    if (w->out->not_entered >= MAX_REFUSED) { /* counted, but no longer listed one by one */
        w->out->not_entered++;
        node->parent->recognised = true;
        hub_node_free(node);
        return HUB_OK;
    }
    adopt(w, node);
    snprintf(why, sizeof why, "not entered: its root has more than %" PRIu64 " directories",
             w->discovery->walk->max_directories);
    return hub_walking_refuse(w, node, why) ? hub_no_memory(err) : HUB_OK;
}

enum hub_status hub_walking_enter(struct hub_walking *w, struct hub_node *node, const char *folder,
                                  const struct hub_entry *e, bool other, struct hub_error *err)
{
    struct hub_node *child = node_new(node, node->root, folder, e->name);
    HUB_TRY(hub_allocated(child, err));
    child->other = child->other || other;
    pthread_mutex_lock(&w->threads.lock);
    const enum hub_status st = enqueue(w, child, e->device, e->inode, err);
    pthread_mutex_unlock(&w->threads.lock);
    return st;
}

enum hub_status hub_walking_enter_below(struct hub_walking *w, struct hub_node *node,
                                        const struct hub_entry *e, bool holds_name, struct hub_error *err)
{
    if (e->elsewhere)
        return HUB_OK; /* it is met under its own name */
    struct hub_node *child = node_new(node, node->root, node->path, e->name);
    HUB_TRY(hub_allocated(child, err));
    child->holds_name = holds_name;
    enum hub_status st = HUB_OK;
    pthread_mutex_lock(&w->threads.lock);
    if (e->link && w->discovery->only) { /* another one may lead to the same directory */
        w->out->beyond = true;
        hub_node_free(child);
    } else if (e->link) {
        child->device = e->device;
        child->inode = e->inode;
        child->next = w->links;
        w->links = child;
    } else {
        st = enqueue(w, child, e->device, e->inode, err);
    }
    pthread_mutex_unlock(&w->threads.lock);
    return st;
}

enum hub_status hub_walking_enter_nested(struct hub_walking *w, struct hub_node *node, const char *path,
                                         struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_CLEANUP(hub_freep) char *full = hub_path_join(node->path, path);
    struct stat st;
    HUB_TRY(hub_allocated(full, err));
    if (hub_roots_open(w->discovery->walk->roots, node->root, full, O_PATH | O_DIRECTORY, &fd, NULL) ||
        fstat(fd, &st))
        return HUB_OK;
    struct hub_entry entry = hub_entry_of(path, &st);
    return hub_walking_enter_below(w, node, &entry, false, err);
}

enum hub_status hub_walking_enter_kept(struct hub_walking *w, struct hub_node *node, struct hub_error *err)
{
    char other[64];
    snprintf(other, sizeof other, ".minari-hub-%u/" HUB_KEPT, (unsigned)geteuid());
    const char *const folders[] = {".minari-hub/" HUB_KEPT, other};
    for (size_t i = 0; i < HUB_COUNT(folders); i++) {
        HUB_CLEANUP(hub_closep) int fd = -1;
        struct stat st;
        if ((hub_walking_passes(w, node) && !hub_scope_has(w->discovery->only, folders[i])) ||
            hub_roots_open(w->discovery->walk->roots, node->root, folders[i], O_PATH | O_DIRECTORY, &fd,
                           NULL) ||
            fstat(fd, &st))
            continue;
        const struct hub_entry entry = hub_entry_of(folders[i], &st);
        HUB_TRY(hub_walking_enter(w, node, "", &entry, true, err));
    }
    return HUB_OK;
}

static int compare_nodes(const void *a, const void *b)
{
    return strcmp((*(struct hub_node *const *)a)->path, (*(struct hub_node *const *)b)->path);
}

enum hub_status hub_walking_enter_links(struct hub_walking *w, struct hub_error *err)
{
    size_t count = 0, n = 0;
    for (struct hub_node *node = w->links; node; node = node->next)
        count++;
    HUB_CLEANUP(hub_freep) struct hub_node **nodes = malloc((count + 1) * sizeof *nodes);
    HUB_TRY(hub_allocated(nodes, err));
    for (struct hub_node *node = w->links; node; node = node->next)
        nodes[n++] = node;
    w->links = NULL;
    if (count)
        qsort(nodes, count, sizeof *nodes, compare_nodes);
    enum hub_status st = HUB_OK;
    for (size_t i = 0; i < count; i++) {
        if (st)
            hub_node_free(nodes[i]);
        else
            st = enqueue(w, nodes[i], nodes[i]->device, nodes[i]->inode, err);
    }
    return st;
}

enum hub_status hub_walking_enter_root(struct hub_walking *w, uint32_t root, struct hub_error *err)
{
    struct hub_node *top = node_new(NULL, root, "", "");
    HUB_TRY(hub_allocated(top, err));
    adopt(w, top);
    push(w, top);
    return HUB_OK;
}

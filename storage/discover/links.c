/* Where symbolic links lead: see links.h. A link counts by the text in it as well as by its end, so that one
 * is known that leads nowhere yet, and each of a chain. */
#include "storage/discover/links.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { IS_END = 1, HOLDS_END };

static void add(struct hub_links *links, uint64_t kind, const char *path, size_t size)
{
    bool added;
    if (hub_pair_set_add(&links->hashes, kind, hub_hash(HUB_HASH_START, path, size), &added, NULL))
        links->incomplete = true;
}

/* `from`: the link itself. */
static void add_end(struct hub_links *links, const char *from, const char *end)
{
    const size_t size = strlen(end);
    add(links, IS_END, end, size);
    for (size_t n = size; n > 1; n--)
        if ((end[n] == '/' || end[n] == '\0') && (strncmp(from, end, n) != 0 || from[n] != '/'))
            add(links, HOLDS_END, end, n);
}

/* "/a/./b/../c" is "/a/c". */
static void normalize(char *path)
{
    size_t size = 0;
    for (char *at = path, *next; at; at = next) {
        next = strchr(at, '/');
        const size_t n = next ? (size_t)(next++ - at) : strlen(at);
        if (n == 2 && memcmp(at, "..", 2) == 0) {
            while (size && path[--size] != '/')
                continue;
        } else if (n && (n != 1 || *at != '.')) {
            path[size++] = '/';
            memmove(path + size, at, n);
            size += n;
        }
    }
    path[size] = '\0';
}

/* The text of a link as a path; "" where there is none, or one that is too long. */
static void read_text(const struct hub_roots *roots, const char *from, char out[2 * PATH_MAX])
{
    char text[PATH_MAX];
    const ssize_t n = readlink(from, text, sizeof text - 1);
    text[HUB_MAX(n, 0)] = out[0] = '\0';
    if (n <= 0)
        return;
    if (*text != '/')
        snprintf(out, 2 * PATH_MAX, "%.*s%s", (int)(strrchr(from, '/') + 1 - from), from, text);
    for (uint32_t i = 0; i < roots->count && *text == '/' && !*out; i++) {
        const char *below = hub_path_below(text, roots->roots[i].path);
        if (below && roots->roots[i].real)
            snprintf(out, 2 * PATH_MAX, "%s/%s", roots->roots[i].real, below);
    }
    if (!*out)
        snprintf(out, 2 * PATH_MAX, "%s", text);
    normalize(out);
}

static char *absolute(const struct hub_roots *roots, uint32_t root, const char *path)
{
    const char *real = roots->roots[root].real;
    return hub_path_join(real ? real : roots->roots[root].path, path);
}

void hub_links_add(struct hub_links *links, const struct hub_roots *roots, uint32_t root, const char *path,
                   const char *real)
{
    HUB_CLEANUP(hub_freep) char *from = absolute(roots, root, path);
    char text[2 * PATH_MAX];
    links->incomplete = links->incomplete || !from;
    if (!from)
        return;
    read_text(roots, from, text);
    if (*text)
        add_end(links, from, text);
    if (real && strcmp(real, text) != 0)
        add_end(links, from, real);
}

bool hub_links_touch(const struct hub_links *links, const struct hub_roots *roots, uint32_t root,
                     const char *path)
{
    HUB_CLEANUP(hub_freep) char *full = absolute(roots, root, path);
    if (links->incomplete || !full)
        return true;
    const size_t size = strlen(full);
    bool touched = hub_pair_set_has(&links->hashes, HOLDS_END, hub_hash(HUB_HASH_START, full, size));
    for (size_t n = size; n > 1 && !touched; n--)
        touched = (full[n] == '/' || full[n] == '\0') &&
                  hub_pair_set_has(&links->hashes, IS_END, hub_hash(HUB_HASH_START, full, n));
    return touched;
}

void hub_links_dispose(struct hub_links *links)
{
    hub_pair_set_dispose(&links->hashes);
    links->incomplete = false;
}

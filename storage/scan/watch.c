/* inotify on roots, folders above datasets and folders of their files, up to a limit: it only says where a
 * look is worth while. What does not fit, and network file systems, wait for the next regular sweep. */
#include "storage/scan/state.h"

#include "storage/ids/id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { MOST_WATCHES = 65536, SLOTS = 8192 };

/* A directory by its watch descriptor. */
struct watched {
    struct watched *next; /* of its slot */
    int wd;
    unsigned sweep;
    uint32_t root;
    bool ambiguous; /* another path leads to it too, or did until it was renamed */
    char path[];
};

struct hub_inotify {
    int fd;
    unsigned limit, living; /* watches */
    int highest;            /* watch descriptor: they count up, so that a higher one is new */
    unsigned sweep;         /* number of this one */
    uint64_t missed;        /* directories without a watch, in this sweep */
    struct watched *slots[SLOTS];
};

/* Half of what the user may have, so that editors and others keep theirs. */
static unsigned limit_of_user(void)
{
    unsigned limit = 8192;
    FILE *f = fopen("/proc/sys/fs/inotify/max_user_watches", "re");
    if (f) {
        unsigned max = 0;
        if (fscanf(f, "%u", &max) == 1)
            limit = max / 2;
        fclose(f);
    }
    return HUB_MIN(limit, (unsigned)MOST_WATCHES);
}

enum hub_status hub_inotify_new(struct hub_inotify **out, struct hub_error *err)
{
    struct hub_inotify *watch = calloc(1, sizeof *watch);
    HUB_TRY(hub_allocated(watch, err));
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd < 0) {
        free(watch);
        return hub_fail_errno(err, errno, "inotify");
    }
    watch->limit = limit_of_user();
    *out = watch;
    return HUB_OK;
}

/* ---- directories by their descriptors ---- */

static struct watched **find(struct hub_inotify *watch, int wd)
{
    struct watched **at = &watch->slots[(unsigned)wd % SLOTS];
    while (*at && (*at)->wd != wd)
        at = &(*at)->next;
    return at;
}

static void forget(struct watched **at)
{
    struct watched *gone = *at;
    if (gone)
        *at = gone->next;
    free(gone);
}

/* Without memory it is not known where its changes are. */
static void remember(struct hub_inotify *watch, int wd, uint32_t root, const char *path)
{
    struct watched **at = find(watch, wd), *known = *at;
    if (known && known->sweep == watch->sweep) {
        known->ambiguous = known->ambiguous || known->root != root || strcmp(known->path, path) != 0;
        return;
    }
    forget(at);
    const size_t size = strlen(path) + 1;
    known = malloc(sizeof *known + size);
    if (!known)
        return;
    at = &watch->slots[(unsigned)wd % SLOTS];
    *known = (struct watched){.next = *at, .wd = wd, .sweep = watch->sweep, .root = root};
    memcpy(known->path, path, size);
    *at = known;
}

void hub_inotify_free(struct hub_inotify *watch)
{
    for (size_t i = 0; watch && i < SLOTS; i++)
        while (watch->slots[i])
            forget(&watch->slots[i]);
    if (watch)
        close(watch->fd);
    free(watch);
}

int hub_inotify_fd(const struct hub_inotify *watch)
{
    return watch->fd;
}

void hub_inotify_begin(struct hub_inotify *watch)
{
    watch->sweep++;
    watch->missed = 0;
}

uint64_t hub_inotify_missed(const struct hub_inotify *watch)
{
    return watch->missed;
}

void hub_inotify_add(struct hub_inotify *watch, uint32_t root, const char *path, int fd)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d",
             fd); /* the directory that was opened, whatever its name leads to now */
    const uint32_t changes = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE |
                             IN_ATTRIB | IN_DELETE_SELF | IN_ONLYDIR;
    const int wd = inotify_add_watch(watch->fd, name, changes);
    bool watched = wd >= 0;
    if (wd > watch->highest) {
        watch->highest = wd;
        watch->living++;
        if (watch->living > watch->limit) { /* only now is it known not to have been watched before */
            (void)inotify_rm_watch(watch->fd, wd);
            watched = false;
        }
    }
    if (watched)
        remember(watch, wd, root, path);
    watch->missed += !watched;
}

/* ---- events ---- */

/* Our own listing and reading raise none of these events, and hidden names are nobody's business. False: it
 * is not known where it happened. */
static bool take(struct hub_inotify *watch, const struct inotify_event *event, hub_inotify_each each,
                 void *user)
{
    struct watched **at = find(watch, event->wd);
    if (event->mask & IN_IGNORED) {
        watch->living -= watch->living > 0;
        forget(at);
        return true;
    }
    if (event->len && hub_name_hidden(hub_view_of(event->name)))
        return true;
    if (!*at || (*at)->ambiguous)
        return false;
    each(user, (*at)->root, (*at)->path, event->len ? event->name : NULL, event->mask & IN_ISDIR);
    return true;
}

bool hub_inotify_take(struct hub_inotify *watch, hub_inotify_each each, void *user)
{
    enum { MOST_READS = 64 }; /* the rest is there the next time */
    _Alignas(struct inotify_event) char events[16 * 1024];
    bool known = true;
    for (unsigned reads = 0; reads < MOST_READS; reads++) {
        const ssize_t n = read(watch->fd, events, sizeof events);
        if (n <= 0)
            return known;
        for (const char *at = events; at < events + n;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            known = take(watch, event, each, user) && known;
            at += sizeof *event + event->len;
        }
    }
    return known;
}

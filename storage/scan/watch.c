/* inotify on roots, folders above datasets and folders of their files, up to a limit: it only says that a
 * sweep is worth while. What does not fit, and network file systems, wait for the next regular sweep. */
#include "storage/scan/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { MOST_WATCHES = 65536 };

struct hub_watch {
    int fd;
    unsigned limit;
    int highest; /* watch descriptor: they count up, so it is also how many were made */
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

enum hub_status hub_watch_new(struct hub_watch **out, struct hub_error *err)
{
    struct hub_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return hub_fail(err, HUB_NO_MEMORY, "no memory to watch");
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd < 0) {
        free(watch);
        return hub_fail_errno(err, errno, "inotify");
    }
    watch->limit = limit_of_user();
    *out = watch;
    return HUB_OK;
}

void hub_watch_free(struct hub_watch *watch)
{
    if (!watch)
        return;
    close(watch->fd);
    free(watch);
}

int hub_watch_fd(const struct hub_watch *watch)
{
    return watch->fd;
}

void hub_watch_add(struct hub_watch *watch, const struct hub_walk *walk, uint32_t root, const char *path)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    char name[64];
    if (watch->highest >= (int)watch->limit ||
        hub_walk_open(walk, root, path, O_RDONLY | O_DIRECTORY, &fd, NULL))
        return;
    snprintf(name, sizeof name, "/proc/self/fd/%d",
             fd); /* the directory that was opened, whatever its name leads to now */
    const int wd = inotify_add_watch(watch->fd, name,
                                     IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE |
                                         IN_DELETE_SELF | IN_ONLYDIR);
    watch->highest = HUB_MAX(watch->highest, wd);
}

/* Our own listing and reading raise none of these events, and hidden names are nobody's business. */
static bool counts(const struct inotify_event *event)
{
    if (event->mask & IN_IGNORED)
        return false;
    return !event->len || event->name[0] != '.';
}

bool hub_watch_take(struct hub_watch *watch)
{
    _Alignas(struct inotify_event) char events[16 * 1024];
    bool any = false;
    for (;;) {
        const ssize_t n = read(watch->fd, events, sizeof events);
        if (n <= 0)
            return any;
        for (const char *at = events; at < events + n;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            any = any || counts(event);
            at += sizeof *event + event->len;
        }
    }
}

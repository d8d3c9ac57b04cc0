/* inotify on roots, folders above datasets and folders of their files, up to a limit: it only says that a
 * sweep is worth while. What does not fit, and network file systems, wait for the next regular sweep. */
#include "storage/scan/state.h"

#include "storage/ids/id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { MOST_WATCHES = 65536 };

struct hub_inotify {
    int fd;
    unsigned limit, living; /* watches */
    int highest;            /* watch descriptor: they count up, so that a higher one is new */
    uint64_t missed;        /* directories without a watch, in this sweep */
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

void hub_inotify_free(struct hub_inotify *watch)
{
    if (!watch)
        return;
    close(watch->fd);
    free(watch);
}

int hub_inotify_fd(const struct hub_inotify *watch)
{
    return watch->fd;
}

void hub_inotify_begin(struct hub_inotify *watch)
{
    watch->missed = 0;
}

uint64_t hub_inotify_missed(const struct hub_inotify *watch)
{
    return watch->missed;
}

void hub_inotify_add(struct hub_inotify *watch, int fd)
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
    watch->missed += !watched;
}

/* Our own listing and reading raise none of these events, and hidden names are nobody's business. */
static bool counts(const struct inotify_event *event)
{
    if (event->mask & IN_IGNORED)
        return false;
    return !event->len || !hub_name_hidden(hub_view_of(event->name));
}

bool hub_inotify_take(struct hub_inotify *watch)
{
    enum { MOST_READS = 64 }; /* the rest is there the next time */
    _Alignas(struct inotify_event) char events[16 * 1024];
    bool any = false;
    for (unsigned reads = 0; reads < MOST_READS; reads++) {
        const ssize_t n = read(watch->fd, events, sizeof events);
        if (n <= 0)
            return any;
        for (const char *at = events; at < events + n;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            watch->living -= (event->mask & IN_IGNORED) && watch->living > 0;
            any = any || counts(event);
            at += sizeof *event + event->len;
        }
    }
    return any;
}

/* Whether somebody writes a file: the locks that others hold on it, found without taking any, because even a
 * shared lock of ours that lasts microseconds fails a writer who will not wait for his (h5py). Locks of byte
 * ranges can be asked for. Those of flock(2) cannot: /proc/locks lists them, by numbers of inodes, which
 * other file systems may have too; so only a file that is listed is tried. In a container it lists nobody
 * outside: there all are tried. */
#include "storage/scan/locks.h"

#include "storage/base/buf.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_PID_NAMESPACE "pid:[4026531836]"

enum { PASSES = 2 }; /* over a list of several pages */

static bool lists_everybody(void)
{
    char name[64] = "";
    return readlink("/proc/self/ns/pid", name, sizeof name - 1) > 0 && strcmp(name, FIRST_PID_NAMESPACE) == 0;
}

/* "1: FLOCK  ADVISORY  WRITE 2048 08:01:131077 0 EOF"; behind "->" stands who waits for one. */
static bool parse_line(const char *line, uint64_t *inode)
{
    char kind[16], access[16];
    unsigned long long number;
    const bool whole = sscanf(line, "%*d: %15s %*s %15s %*d %*x:%*x:%llu", kind, access, &number) == 3;
    *inode = whole ? number : 0;
    return whole && strcmp(kind, "FLOCK") == 0 && strcmp(access, "WRITE") == 0;
}

static bool add(struct hub_locks *locks, uint64_t inode)
{
    if (hub_grow(&locks->inodes, locks->count, &locks->capacity, sizeof *locks->inodes, NULL))
        return false;
    locks->inodes[locks->count++] = inode;
    return true;
}

/* The kernel gives out a page at a time: an entry may slip from one to the page before it while others go.
 * False: it was all on one page. */
static bool read_list(struct hub_locks *locks, int fd)
{
    char text[64 * 1024];
    size_t size = 0;
    ssize_t got;
    unsigned reads = 0;
    for (; (got = read(fd, text + size, sizeof text - 1 - size)) > 0; reads++) {
        text[size += (size_t)got] = '\0';
        const char *line = text;
        uint64_t inode;
        for (const char *end; (end = strchr(line, '\n')); line = end + 1)
            if (parse_line(line, &inode) && !add(locks, inode))
                locks->complete = false;
        const size_t lines = (size_t)(line - text);
        memmove(text, line, size - lines);
        size -= lines;
    }
    return reads > 1;
}

void hub_locks_read(struct hub_locks *locks)
{
    HUB_CLEANUP(hub_closep)
    const int fd =
        lists_everybody() ? open("/proc/locks", O_RDONLY | O_CLOEXEC) : -1; /* else it decides nothing */
    *locks = (struct hub_locks){.complete = fd >= 0};
    unsigned passes = 0;
    while (fd >= 0 && passes++ < PASSES && lseek(fd, 0, SEEK_SET) == 0 && read_list(locks, fd))
        continue;
}

void hub_locks_dispose(struct hub_locks *locks)
{
    free(locks->inodes);
    *locks = (struct hub_locks){0};
}

/* Times of files are those of the last tick of the clock. */
static bool is_recent(const struct hub_locks_recent *recent, uint64_t changed_ns)
{
    static const int64_t tick_ns = 20 * 1000000;
    const int64_t now_ns = hub_time_now_ns();
    return recent->read_ns && now_ns >= recent->read_ns &&
           now_ns - recent->read_ns < HUB_LOCKS_RECENT_MS * INT64_C(1000000) &&
           recent->read_ns - tick_ns > (int64_t)changed_ns;
}

void hub_locks_read_recent(struct hub_locks_recent *recent, uint64_t changed_ns, struct hub_locks *out)
{
    *out = (struct hub_locks){0};
    pthread_mutex_lock(&recent->lock);
    struct hub_locks *list = &recent->list;
    if (!is_recent(recent, changed_ns)) {
        hub_locks_dispose(list);
        recent->read_ns = hub_time_now_ns();
        hub_locks_read(list);
    }
    out->complete = list->complete;
    for (uint32_t i = 0; i < list->count && out->complete; i++)
        out->complete = add(out, list->inodes[i]);
    pthread_mutex_unlock(&recent->lock);
}

void hub_locks_recent_dispose(struct hub_locks_recent *recent)
{
    hub_locks_dispose(&recent->list);
    pthread_mutex_destroy(&recent->lock);
}

static bool is_listed(const struct hub_locks *locks, uint64_t inode)
{
    for (size_t i = 0; i < locks->count; i++)
        if (locks->inodes[i] == inode)
            return true;
    return false;
}

bool hub_locks_writer(const struct hub_locks *locks, int fd)
{
    struct stat st;
    struct flock range = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type == F_WRLCK)
        return true;
    if (fstat(fd, &st) || (locks->complete && !is_listed(locks, (uint64_t)st.st_ino)))
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB))
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}

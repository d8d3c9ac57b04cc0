#include "storage/scan/side.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum hub_status hub_side_begin(struct hub_scanner *s, const struct hub_work *w, uint32_t part,
                               struct hub_side *side, struct hub_error *err)
{
    char path[4096];
    const unsigned serial = atomic_fetch_add(&s->side_serial, 1);
    snprintf(side->temporary, sizeof side->temporary, "side/.new-%u", serial);
    snprintf(side->name, sizeof side->name, "side/%016llx-%llx-%u",
             (unsigned long long)w->parts[part].signature, (unsigned long long)hub_time_now_ns(), serial);
    snprintf(path, sizeof path, "%s/%s", s->state, side->temporary);
    side->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return side->fd < 0 ? hub_fail_errno(err, errno, "making %s", path) : HUB_OK;
}

/* Seal side data, and see to it that they and their name last before a row says that they are there. */
static enum hub_status side_keep(const struct hub_scanner *s, int fd, const char *from, const char *to,
                                 struct hub_stamp *stamp, struct hub_error *err)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/side", s->state);
    HUB_TRY(hub_fs_seal(fd, stamp, err));
    if (fdatasync(fd) || rename(from, to))
        return hub_fail_errno(err, errno, "keeping %s", to);
    return hub_fs_sync_dir(AT_FDCWD, folder, err);
}

/* Give side data its name, or drop what was not needed. */
enum hub_status hub_side_end(struct hub_scanner *s, struct hub_side *side, bool keep, struct hub_stamp *stamp,
                             struct hub_error *err)
{
    char from[4096], to[4096];
    enum hub_status status = HUB_OK;
    snprintf(from, sizeof from, "%s/%s", s->state, side->temporary);
    snprintf(to, sizeof to, "%s/%s", s->state, side->name);
    if (keep)
        status = side_keep(s, side->fd, from, to, stamp, err);
    if (!keep || status)
        (void)unlink(from);
    close(side->fd);
    return status;
}

/* No row says that it is there: a next turn makes another. */
void hub_side_drop(struct hub_work *w, uint32_t number)
{
    char path[4096];
    if (!w->sides || !w->sides[number])
        return;
    snprintf(path, sizeof path, "%s/%s", w->scanner->state, w->sides[number]);
    (void)unlink(path);
    free(w->sides[number]);
    w->parts[number].side = w->sides[number] = NULL;
}

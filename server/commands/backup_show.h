/** What `backup` and `restore` share: progress on a terminal, and an end on a signal. */
#ifndef HUB_COMMANDS_BACKUP_SHOW_H
#define HUB_COMMANDS_BACKUP_SHOW_H

#include "storage/backup/backup.h"

struct hub_backup_show {
    const char *verb; /* "backing up" */
    int64_t began_ms, shown_ms;
    bool shown; /* a line of progress stands on the terminal */
};

/** From now on a signal ends the work. */
void hub_backup_show_begin(struct hub_backup_show *show);
/** A hub_backup_tick; `user` is the struct. HUB_CANCELLED: a signal came. */
HUB_MUST_USE enum hub_status hub_backup_show_tick(void *user, const struct hub_backup_progress *progress,
                                                  struct hub_error *err);
/** Take the line of progress away. */
void hub_backup_show_clear(struct hub_backup_show *show);

/** Take the folder that both commands are about. HUB_INVALID: there is one already. */
HUB_MUST_USE enum hub_status hub_backup_take_folder(const char **folder, const char *word,
                                                    struct hub_error *err);

#endif

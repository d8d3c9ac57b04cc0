/* Progress and signals: see backup_show.h. */
#include "server/commands/backup_show.h"

#include "storage/text/number.h"
#include "storage/text/time.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { SHOWN_MS = 200 };

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

void hub_backup_show_begin(struct hub_backup_show *show)
{
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    show->began_ms = hub_time_mono_ms();
}

enum hub_status hub_backup_show_tick(void *user, const struct hub_backup_progress *progress,
                                     struct hub_error *err)
{
    struct hub_backup_show *show = user;
    char bytes[HUB_SIZE_CHARS], rate[HUB_SIZE_CHARS];
    const int64_t now_ms = hub_time_mono_ms();
    if (stopped)
        return hub_fail(err, HUB_CANCELLED, "interrupted: the same command goes on where it ended");
    if (now_ms - show->shown_ms < SHOWN_MS || !isatty(STDERR_FILENO))
        return HUB_OK;
    show->shown_ms = now_ms;
    show->shown = true;
    hub_number_size(progress->bytes, bytes);
    hub_number_size(progress->bytes * 1000 / ((uint64_t)(now_ms - show->began_ms) + 1), rate);
    fprintf(stderr, "\r\033[K%s: %u of %u datasets, %s, %s/s  %.40s", show->verb, progress->done,
            progress->of, bytes, rate, progress->name);
    return HUB_OK;
}

void hub_backup_show_clear(struct hub_backup_show *show)
{
    if (show->shown)
        fputs("\r\033[K", stderr);
    show->shown = false;
}

enum hub_status hub_backup_take_folder(const char **folder, const char *word, struct hub_error *err)
{
    if (*folder)
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is an extra argument", word);
    *folder = word;
    return HUB_OK;
}

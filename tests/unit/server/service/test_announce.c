/* The announcer ends in time, and leaves the hub alone from then on. */
#include "server/service/announce.h"
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

TestSuite(announce, .init = api_kit_open, .fini = api_kit_close);

static struct hub_announcer *announcer; /* one that hung is never freed */
static const char *_Atomic dead;
static atomic_int looks;

/* In place of the C library's: a root on a disk of a machine that is gone. */
int access(const char *path, int mode)
{
    for (const char *at; (at = atomic_load(&dead)) && strcmp(path, at) == 0; usleep(1000))
        atomic_store(&looks, 1);
    return faccessat(AT_FDCWD, path, mode, 0);
}

static int threads(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/task");
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void start(void)
{
    struct hub_error err = {0};
    cr_assert_eq(hub_announcer_start(api_kit_app(), &announcer, &err), HUB_OK, "%s", err.detail);
}

Test(announce, a_disk_that_answers)
{
    start();
    cr_expect(hub_announcer_stop(announcer));
    cr_expect(hub_announcer_stop(NULL));
}

Test(announce, a_disk_that_answers_after_the_end)
{
    struct hub_app *app = api_kit_app(), kept = *app;
    const int before = threads();
    atomic_store(&dead, app->roots->roots[0].path);
    start();
    while (!atomic_load(&looks))
        usleep(1000);
    cr_expect_not(hub_announcer_stop(announcer));
    *app = (struct hub_app){0};
    atomic_store(&dead, NULL);
    for (int i = 0; i < 10000 && threads() > before; i++)
        usleep(1000);
    cr_expect_eq(threads(), before);
    *app = kept;
}

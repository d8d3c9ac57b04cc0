/* Paths inside an HDF5 file: asked for once an episode, so a group's links are read once. */
#include "storage/formats/hdf5/h5.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static enum hub_status open_fixture(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err)
{
    (void)files, (void)number;
    *fd = open(HUB_FIXTURES "/hdf5/groups-links-v0/data/main_data.hdf5", O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? HUB_OK : hub_fail(err, HUB_NOT_FOUND, "no fixture");
}

static void leave_open(struct hub_files *files, uint32_t number)
{
    (void)files, (void)number;
}

/* More often than a file may have objects: whoever reads the group each time is refused in the middle. */
Test(h5_resolve, a_group_is_read_once)
{
    enum { TIMES = 1000001 };
    struct stat st;
    cr_assert_eq(stat(HUB_FIXTURES "/hdf5/groups-links-v0/data/main_data.hdf5", &st), 0);
    const struct hub_file_entry entry = {.path = HUB_VIEW("main"), .size = (uint64_t)st.st_size};
    struct hub_files files = {.entries = &entry, .count = 1, .open = open_fixture, .close = leave_open};
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *file = NULL;
    cr_assert_eq(hub_h5_open(&files, 0, &file, NULL), HUB_OK);
    uint64_t first = 0, again = 0;
    cr_assert_eq(hub_h5_resolve(file, hub_h5_root(file), HUB_VIEW("/episode_0"), &first, NULL), HUB_OK);
    enum hub_status status = HUB_OK;
    for (unsigned i = 0; i < TIMES && !status; i++)
        status = hub_h5_resolve(file, hub_h5_root(file), HUB_VIEW("episode_0"), &again, NULL);
    cr_expect_eq(status, HUB_OK);
    cr_expect_eq(again, first);
    cr_expect_eq(hub_h5_resolve(file, first, HUB_VIEW("actions"), &again, NULL), HUB_OK);
    cr_expect_eq(hub_h5_resolve(file, first, HUB_VIEW("actions/x"), &again, NULL), HUB_NOT_FOUND);
    cr_expect_eq(hub_h5_resolve(file, again, HUB_VIEW("x"), &again, NULL), HUB_NOT_FOUND);
    cr_expect_eq(hub_h5_resolve(file, first, HUB_VIEW("/episode_99"), &again, NULL), HUB_NOT_FOUND);
    cr_expect_eq(hub_h5_resolve(file, first, HUB_VIEW("/episode_0/actions"), &again, NULL), HUB_OK);
}

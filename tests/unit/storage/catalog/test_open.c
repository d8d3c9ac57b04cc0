/* Opening: locks, formats, roots, notes, crashes. */
#include "opening.h"

#include "storage/catalog/schema.h"
#include "storage/truth/digests.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

TestSuite(open, .init = set_up, .fini = tear_down);

Test(open, a_second_process_is_told_so)
{
    struct hub_catalog *catalog = open_it(), *second = NULL;
    struct hub_error err;
    cr_expect_eq(try_open(&second, &err), HUB_BUSY);
    cr_expect(strstr(err.detail, "another minari-hub (process "), "%s", err.detail);
    close_it(catalog);
    catalog = open_it();
    close_it(catalog);
}

Test(open, another_format_is_made_anew)
{
    struct hub_catalog *catalog = open_it();
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    struct hub_db *db;
    DRAFT_OK(hub_db_open(path_of(hub_index_name), HUB_DB_WRITE, &db, err));
    DRAFT_OK(hub_db_set_user_version(db, 999, err));
    hub_db_close(db);
    catalog = open_it();
    cr_expect_eq(snapshot_now(catalog)->count, 0);
    publish(catalog, "set-v0", 3);
    close_it(catalog);
}

static void add_file(const char *name)
{
    const int fd = open(path_of(name), O_WRONLY | O_CREAT, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, "old", 3), 3);
    close(fd);
}

/* In a folder that others may look into, as one that was there, the databases are still the hub's alone. */
Test(open, databases_are_private)
{
    static const char *const names[] = {"hub.db", "hub.db-wal", "hub.db-shm", NULL};
    cr_assert_eq(chmod(state, 0755), 0);
    umask(022);
    struct hub_catalog *catalog = open_it();
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    cr_assert_eq(chmod(path_of("hub.db"), 0644), 0); /* as older ones left it */
    cr_assert_eq(chmod(path_of(hub_index_name), 0644), 0);
    catalog = open_it();
    publish(catalog, "other-v0", 3);
    for (unsigned i = 0; i < HUB_COUNT(names); i++) {
        struct stat st;
        const char *name = names[i] ? names[i] : hub_index_name;
        cr_assert_eq(stat(path_of(name), &st), 0, "%s", name);
        cr_expect_eq(st.st_mode & 0777, 0600, "%s: %o", name, st.st_mode);
    }
    close_it(catalog);
}

static bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* Nothing is known of its format: it is left alone, with what it may own, until there is another. */
Test(open, an_index_of_another_format_stays_until_the_new_one_is_complete)
{
    static const char *const older[] = {"index.db", "index-3.db", "index-3.db-wal", "index-999.db",
                                        "side/some"};
    close_it(open_it());
    DRAFT_OK(hub_fs_remove(AT_FDCWD, path_of(hub_index_name), err));
    for (size_t i = 0; i < HUB_COUNT(older); i++)
        add_file(older[i]);
    struct hub_catalog *catalog = open_it();
    cr_expect(strstr(hub_catalog_notice(catalog), "has another version"), "%s", hub_catalog_notice(catalog));
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    catalog = open_it();
    cr_expect_eq(snapshot_now(catalog)->count, 1);
    cr_expect_str_eq(hub_catalog_notice(catalog), "");
    cr_expect(hub_catalog_has_older(catalog));
    for (size_t i = 0; i < HUB_COUNT(older); i++)
        cr_expect(is_there(older[i]), "%s", older[i]);
    add_file("side/being-made");
    hub_catalog_complete(catalog);
    cr_expect_not(hub_catalog_has_older(catalog));
    for (size_t i = 0; i < HUB_COUNT(older); i++)
        cr_expect_not(is_there(older[i]), "%s", older[i]); /* what no part owns goes with it */
    cr_expect(is_there("side/being-made"));
    close_it(catalog);
    catalog = open_it();
    cr_expect_not(is_there("side/being-made"));
    cr_expect_eq(snapshot_now(catalog)->count, 1);
    close_it(catalog);
}

/* ---- roots ---- */

static struct hub_catalog *open_with(const struct hub_roots *roots)
{
    struct hub_catalog *catalog = NULL;
    DRAFT_OK(try_with(roots, &catalog, err));
    return catalog;
}

static void add_root(struct hub_roots *roots, const char *path, const char *name)
{
    DRAFT_OK(hub_roots_add(roots, path, name, err));
}

static void publish_in(struct hub_catalog *catalog, uint32_t root, const char *id)
{
    const struct hub_dataset_file files[] = {draft_file("a", 1)};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .root = root,
                                    .format = "files",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .revision = ""};
    const struct hub_file_digests digests = {.sha256 = "ab"};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    DRAFT_OK(hub_digest_store(truth, root, id, &files[0].stamp, &digests, err));
}

static void expect_under(const struct hub_roots *roots, const char *id, uint32_t root)
{
    struct hub_file_digests found;
    const struct hub_stamp stamp = draft_file("a", 1).stamp;
    struct hub_catalog *catalog = open_with(roots);
    const struct hub_summary *summary = hub_snapshot_find(snapshot_now(catalog), hub_view_of(id));
    cr_assert_not_null(summary);
    cr_expect_eq(summary->root, root, "%s lies under %u", id, summary->root);
    cr_expect_eq(hub_digest_find(truth, root, id, &stamp, &found, NULL), HUB_OK, "%s", id);
    close_it(catalog);
}

Test(open, roots_are_known_by_what_they_are_called)
{
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots first = {0}, swapped = {0}, other = {0};
    add_root(&first, "/no/lab", "lab");
    add_root(&first, "/no/plain", NULL);
    add_root(&swapped, "/no/plain", NULL);
    add_root(&swapped, "/no/moved", "lab");
    add_root(&other, "/no/other", NULL);
    struct hub_catalog *catalog = open_with(&first);
    publish_in(catalog, 0, "of-lab");
    publish_in(catalog, 1, "of-plain");
    close_it(catalog);
    expect_under(&swapped, "of-lab", 1);
    expect_under(&swapped, "of-plain", 0);
    catalog = open_with(&other); /* neither is a root now: they can still be removed */
    for (uint32_t i = 0; i < 2; i++) {
        const struct hub_summary *summary = snapshot_now(catalog)->summaries[0];
        cr_expect_geq(summary->root, other.count);
        DRAFT_OK(hub_catalog_remove(catalog, summary->root, summary->id, err));
        DRAFT_OK(hub_catalog_flush(catalog, err));
    }
    cr_expect_eq(snapshot_now(catalog)->count, 0);
    close_it(catalog);
}

Test(open, what_was_stored_by_number_is_of_the_root_that_had_it)
{
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots roots = {0}, swapped = {0};
    struct hub_catalog *catalog = open_it();
    publish_in(catalog, 1, "of-second");
    close_it(catalog);
    add_root(&roots, "/no/one", NULL);
    add_root(&roots, "/no/two", "two");
    add_root(&swapped, "/no/two", "two");
    expect_under(&roots, "of-second", 1);
    expect_under(&swapped, "of-second", 0);
}

/* ---- what is kept ---- */

Test(open, an_index_that_cannot_be_opened_now_is_kept)
{
    struct hub_catalog *catalog = open_it();
    struct hub_error err;
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    struct rlimit files;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    const rlim_t most = files.rlim_cur;
    for (rlim_t few = 4; few < 16; few++) { /* wherever the descriptors run out */
        files.rlim_cur = few;
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
        const enum hub_status st = try_open(&catalog, &err);
        files.rlim_cur = most;
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
        cr_expect_eq(access(path_of(hub_index_name), F_OK), 0);
        if (!st) {
            cr_expect_eq(snapshot_now(catalog)->count, 1, "with %d descriptors", (int)few);
            cr_expect_str_eq(hub_catalog_notice(catalog), "");
            close_it(catalog);
        }
    }
}

Test(open, notes_are_kept)
{
    struct hub_catalog *catalog = open_it();
    struct hub_buf value = HUB_BUF_INIT(1000);
    cr_expect_eq(hub_catalog_note_get(catalog, "0:a", &value, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_catalog_note_put(catalog, "0:a", HUB_VIEW("x\0y"), err));
    DRAFT_OK(hub_catalog_note_put(catalog, "0:a", HUB_VIEW("p\0q"), err));
    DRAFT_OK(hub_catalog_note_get(catalog, "0:a", &value, err));
    cr_expect_eq(value.size, 3);
    cr_expect_eq(memcmp(value.data, "p\0q", 3), 0);
    hub_buf_dispose(&value);
    close_it(catalog);
}

/* Publishes three sets over and over with other numbers of episodes until it is killed; writes a byte after
 * each. */
static void publish_forever(int progress)
{
    static const char *const ids[] = {"a-v0", "b-v0", "c-v0"};
    struct hub_catalog *catalog = open_it();
    for (uint32_t i = 0;; i++) {
        const uint32_t set = i % HUB_COUNT(ids);
        publish(catalog, ids[set], 1 + i / HUB_COUNT(ids) % (50 + 10 * set));
        if (write(progress, "", 1) != 1)
            _exit(1);
    }
}

/* Kill one that publishes: so many microseconds after that many publications. */
static void kill_a_publisher(unsigned publications, useconds_t after_us)
{
    int progress[2];
    char byte;
    cr_assert_eq(pipe(progress), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(progress[0]);
        publish_forever(progress[1]);
    }
    close(progress[1]);
    for (unsigned i = 0; i < publications; i++)
        cr_expect_eq(read(progress[0], &byte, 1), 1);
    usleep(after_us);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(progress[0]);
}

/* Each dataset is of one publication: as many episodes in the summary as in the directory and the table. */
static void expect_whole(struct hub_catalog *catalog)
{
    const struct hub_snapshot *snapshot = snapshot_now(catalog);
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        const struct hub_dataset *dataset = NULL;
        struct hub_layout_ref *ref = NULL;
        DRAFT_OK(hub_dataset_get(catalog, summary, true, &dataset, err));
        cr_expect_eq(dataset->episode_count, summary->episodes);
        cr_expect_eq(dataset->part_count, 1);
        DRAFT_OK(hub_layout_get(catalog, dataset, 0, 0, true, &ref, err));
        cr_expect_eq(hub_layout_of(ref)->counts[HUB_T_WINDOWS], summary->episodes);
        hub_layout_put(ref);
        hub_dataset_put(dataset);
    }
}

/* Also while it opens the catalogue. The deadline is for a machine that stands still: it takes a second or
 * two. */
Test(open, a_kill_at_any_moment_leaves_whole_datasets, .timeout = 240)
{
    uint32_t seen = 0;
    for (unsigned round = 0; round < 25; round++) {
        kill_a_publisher(round % 7, round * 700);
        struct hub_catalog *catalog = open_it();
        expect_whole(catalog);
        seen = HUB_MAX(seen, snapshot_now(catalog)->count);
        close_it(catalog);
    }
    cr_expect_eq(seen, 3);
}

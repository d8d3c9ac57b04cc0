/* minari-inspect as people and scripts call it. */
#include "storage/io/fs.h"
#include "storage/text/json.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];

static void make_folder(void)
{
    strcpy(folder, "/tmp/minari-inspect-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    cr_assert_eq(hub_fs_remove(AT_FDCWD, folder, NULL), HUB_OK);
}

static void put(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s/%s", folder, path);
    char *slash = strrchr(name, '/');
    *slash = '\0';
    cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, name, 0777, NULL), HUB_OK);
    *slash = '/';
    cr_assert_eq(hub_fs_write(AT_FDCWD, name, hub_view_of(text), 0666, NULL), HUB_OK);
}

/* Exit code of minari-inspect ARGUMENTS BASE/PATH; its output in `out`. */
static int run_in(const char *base, const char *arguments, const char *path, struct hub_buf *out)
{
    char command[1024], block[4096];
    snprintf(command, sizeof command, "%s %s '%s/%s' 2>&1", HUB_INSPECT, arguments, base, path);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    for (size_t n; (n = fread(block, 1, sizeof block, pipe)) > 0;)
        cr_assert_eq(hub_buf_add(out, block, n, NULL), HUB_OK);
    return WEXITSTATUS(pclose(pipe));
}

static int run(const char *arguments, const char *path, struct hub_buf *out)
{
    return run_in(folder, arguments, path, out);
}

TestSuite(cli, .init = make_folder, .fini = remove_folder, .timeout = 60);

Test(cli, plain_files_are_told_once)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    put("a/b/one.txt", "1");
    put("a/c/two.txt", "22");
    put("a/.hidden/three.txt", "333");
    cr_expect_eq(run("--json", "", &out), 0);
    cr_assert_eq(hub_json_parse(hub_buf_view(&out), out.size, &document, NULL), HUB_OK, "%s", out.data);
    json_t *datasets = json_object_get(document, "datasets");
    cr_assert_eq(json_array_size(datasets), 1);
    json_t *dataset = json_array_get(datasets, 0);
    cr_expect_str_eq(json_string_value(json_object_get(dataset, "format")), "files");
    cr_expect_eq(json_integer_value(json_object_get(dataset, "files")), 2);
    cr_expect_eq(json_integer_value(json_object_get(dataset, "size")), 3);
}

Test(cli, links_that_leave_are_left_out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    char name[512];
    put("a/one.txt", "1");
    snprintf(name, sizeof name, "%s/a/passwd", folder);
    cr_assert_eq(symlink("/etc/passwd", name), 0);
    snprintf(name, sizeof name, "%s/a/two.txt", folder);
    cr_assert_eq(symlink("one.txt", name), 0);
    cr_expect_eq(run("--json", "a", &out), 0);
    cr_expect_not_null(strstr(out.data, "{\"code\":\"link-leaves\",\"path\":\"passwd\""));
    cr_expect_null(strstr(out.data, "\"path\":\"passwd\",\"size\""));
    cr_expect_not_null(strstr(out.data, "two.txt"));
}

Test(cli, usage_and_what_is_not_there)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    cr_expect_eq(run("", "nothing", &out), 3);
    cr_expect_eq(run("--bogus", "", &out), 2);
    cr_expect_eq(run("--timeout 0", "", &out), 2);
    cr_expect_eq(run("x", "", &out), 2);
    cr_expect_eq(run("--help", "", &out), 0);
    put("a.txt", "1");
    cr_expect_eq(run("", "a.txt", &out), 3, "no dataset by itself, nor in one");
}

Test(cli, names_do_not_steer_terminals)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    put("a\033[31m/b\xc2\x9b.txt", "1");
    cr_expect_eq(run("", "a\033[31m", &out), 0);
    cr_expect_null(strchr(out.data, '\033'));
}

Test(cli, samples_are_understood)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    cr_expect_eq(run_in(HUB_FIXTURES, "--json --strict", "samples/", &out), 0);
    cr_assert_eq(hub_json_parse(hub_buf_view(&out), out.size, &document, NULL), HUB_OK, "%s", out.data);
    json_t *datasets = json_object_get(document, "datasets"), *door = json_array_get(datasets, 0);
    cr_assert_eq(json_array_size(datasets), 4);
    cr_expect_str_eq(json_string_value(json_object_get(door, "id")), "D4RL/door/human-v2");
    cr_expect_str_eq(json_string_value(json_object_get(door, "status")), "ready");
    cr_expect_eq(json_array_size(json_object_get(door, "episode_list")),
                 (size_t)json_integer_value(json_object_get(door, "episodes")));
    cr_expect_eq(json_array_size(json_object_get(door, "fields")), 5);
    out.size = 0;
    cr_expect_eq(run_in(HUB_FIXTURES, "", "samples/door-human-v0/data/main_data.hdf5", &out), 0,
                 "a file of a dataset");
    cr_expect_not_null(strstr(out.data, "actions"));
}

/* Three row groups, each with one page of data and its dictionary. */
Test(cli, stored_bytes_count_dictionaries)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    cr_expect_eq(run_in(HUB_FIXTURES, "--json", "generic/columns/log.parquet", &out), 0);
    cr_assert_eq(hub_json_parse(hub_buf_view(&out), out.size, &document, NULL), HUB_OK, "%s", out.data);
    const json_t *dataset = json_array_get(json_object_get(document, "datasets"), 0);
    const json_t *field = json_array_get(json_object_get(dataset, "fields"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(field, "path")), "time");
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(field, "layout"), "stored")), 49 + 213);
}

Test(cli, a_broken_dataset_is_reported)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf whole = HUB_BUF_INIT(1 * MIB);
    char name[512];
    put("x-v0/data/main_data.hdf5", "");
    cr_assert_eq(
        hub_fs_read(AT_FDCWD, HUB_FIXTURES "/samples/door-human-v0/data/main_data.hdf5", &whole, NULL),
        HUB_OK);
    snprintf(name, sizeof name, "%s/x-v0/data/main_data.hdf5", folder);
    cr_assert_eq(hub_fs_write(AT_FDCWD, name, (struct hub_view){whole.data, 100}, 0666, NULL), HUB_OK);
    cr_expect_eq(run("", "x-v0", &out), 8, "%s", out.data);
    cr_expect_eq(run("--strict", "x-v0", &out), 1);
    cr_expect_not_null(strstr(out.data, "broken"));
}

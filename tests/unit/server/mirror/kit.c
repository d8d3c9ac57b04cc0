/* Mirrors for tests: see kit.h. */
#include "kit.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct kit kit;
unsigned kit_looks;
char kit_told[16][256];
unsigned kit_told_count;

/* instead of storage/scan: no scanner is there */
void hub_scanner_prioritize(struct hub_scanner *scanner, const char *id)
{
    (void)scanner;
    (void)id;
}

void hub_scanner_progress(struct hub_scanner *scanner, struct hub_scan_progress *out)
{
    (void)scanner;
    *out = (struct hub_scan_progress){0};
}

void hub_scanner_look(struct hub_scanner *scanner, uint32_t root, const char *path)
{
    (void)scanner;
    (void)root;
    (void)path;
    kit_looks++;
}

static void notify(void *user, const struct hub_mirror_event *event)
{
    (void)user;
    if (kit_told_count < HUB_COUNT(kit_told))
        snprintf(kit_told[kit_told_count], sizeof kit_told[0], "%d %s %s", (int)event->kind, event->id,
                 event->detail);
    kit_told_count++;
}

const char *kit_path(const char *path)
{
    static char out[8][512];
    static unsigned next;
    char *at = out[next++ % 8];
    snprintf(at, sizeof out[0], "%s%s%s", kit.folder, *path ? "/" : "", path);
    return at;
}

void kit_write(const char *path, const char *text)
{
    char parent[512];
    snprintf(parent, sizeof parent, "%s", kit_path(path));
    *strrchr(parent, '/') = '\0';
    cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, parent, 0777, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(AT_FDCWD, kit_path(path), hub_view_of(text), 0644, NULL), HUB_OK);
}

bool kit_is_there(const char *path)
{
    return access(kit_path(path), F_OK) == 0;
}

static void add_root(const char *path, const char *name)
{
    cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, kit_path(path), 0777, NULL), HUB_OK);
    cr_assert_eq(hub_roots_add(&kit.roots, kit_path(path), name, NULL), HUB_OK);
}

void kit_begin(void)
{
    strcpy(kit.folder, "/tmp/hub-mirror-XXXXXX");
    cr_assert_not_null(mkdtemp(kit.folder));
    add_root("root", NULL);
    add_root("named", "named");
    cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, kit_path("state"), 0700, NULL), HUB_OK);
    const struct hub_catalog_options options = {.state = strdup(kit_path("state")), .roots = &kit.roots};
    struct hub_error err = {0};
    cr_assert_eq(hub_catalog_open(&options, &kit.catalog, &err), HUB_OK, "%s", err.detail);
    const struct hub_truth_options truth = {.state = options.state, .roots = &kit.roots};
    cr_assert_eq(hub_truth_open(&truth, &kit.truth, &err), HUB_OK, "%s", err.detail);
    kit.mirrors.options = (struct hub_mirrors_options){.catalog = kit.catalog,
                                                       .truth = kit.truth,
                                                       .roots = &kit.roots,
                                                       .state = options.state,
                                                       .notify = notify};
    hub_thread_init(&kit.mirrors.workers);
    pthread_mutex_init(&kit.mirrors.cache_lock, NULL);
}

void kit_end(void)
{
    hub_catalog_close(kit.catalog);
    hub_truth_close(kit.truth);
    free((char *)kit.mirrors.options.state);
    hub_roots_dispose(&kit.roots);
    cr_assert_eq(hub_fs_remove(AT_FDCWD, kit.folder, NULL), HUB_OK);
}

json_t *kit_json(const char *text)
{
    HUB_CLEANUP(hub_freep) char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    json_t *out = json_loads(copy, JSON_DECODE_ANY, NULL);
    cr_assert_not_null(out, "%s", text);
    return out;
}

void kit_put_rule(const char *name, const char *spec)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = kit_json(spec);
    struct hub_error err = {0};
    if (!json_object_get(document, "root"))
        json_object_set_new(document, "root", json_string(kit_path("root")));
    cr_assert_eq(hub_rule_put(kit.truth, name, false, document, &err), HUB_OK, "%s", err.detail);
}

static enum hub_status add_job(void *user, struct hub_job_row *job, struct hub_error *err)
{
    return hub_buf_addf(user, err, "%s %s %s;", job->kind, job->target, job->payload);
}

const char *kit_jobs(const char *kind)
{
    static struct hub_buf text = {.limit = 16 * KIB};
    hub_buf_dispose(&text);
    text.limit = 16 * KIB;
    cr_assert_eq(hub_buf_add_text(&text, "", NULL), HUB_OK);
    cr_assert_eq(hub_jobs_each(kit.truth, kind, HUB_JOB_WAITING, add_job, &text, NULL), HUB_OK);
    return text.data;
}

/* Local datasets: see local.h. */
#include "client/cli/local.h"

#include "client/lib/internal.h"
#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/model/format_row.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const size_t max_report = 4 * GIB;

const char *local_program(const char *variable, const char *name)
{
    static char path[PATH_MAX];
    const char *set = getenv(variable);
    if (set && *set)
        return set;
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 20);
    char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
    if (slash) {
        snprintf(slash + 1, 20, "%s", name);
        if (access(path, X_OK) == 0)
            return path;
    }
    return name;
}

/* What the program said on its standard error, which may quote names of files. */
static void pass_on(int fd)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf said = HUB_BUF_INIT(64 * KIB);
    if (fd < 0 || lseek(fd, 0, SEEK_SET) || (hub_fs_read_fd(fd, &said, NULL) && !said.size))
        return;
    for (const char *at = said.data; at && *at;) {
        const size_t n = strcspn(at, "\n");
        char line[2048];
        snprintf(line, sizeof line, "%.*s", (int)HUB_MIN(n, sizeof line - 1), at);
        fprintf(stderr, "%s\n", cli_clean(line));
        at += n + (at[n] == '\n');
    }
}

static int run(const char *path, struct hub_buf *out)
{
    HUB_CLEANUP(hub_closep) int said = memfd_create("minari-inspect", MFD_CLOEXEC);
    int ends[2], status = 0;
    pid_t pid;
    const char *argv[] = {local_program("MINARI_INSPECT", "minari-inspect"), "--json", path, NULL};
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC))
        return cli_error(CLI_FAILED, "cannot create a pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (said >= 0)
        posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
    const int failed = posix_spawnp(&pid, argv[0], &actions, NULL, (char **)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        cli_error(CLI_FAILED, "%s cannot be started: %s", argv[0], strerror(failed));
        cli_hint(
            "local datasets are read by minari-inspect: install it beside minari-cli, or set MINARI_INSPECT");
        return CLI_FAILED;
    }
    struct hub_error err = {0};
    const enum hub_status st = hub_fs_read_fd(ends[0], out, &err);
    close(ends[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    pass_on(said);
    if (cli_interrupted(NULL))
        return cli_error(CLI_INTERRUPTED, "interrupted");
    if (st)
        return cli_error(CLI_FAILED, "minari-inspect: %s", err.detail);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CLI_BROKEN))
        return CLI_OK;
    return WIFEXITED(status) && WEXITSTATUS(status) == CLI_NOT_FOUND
               ? CLI_NOT_FOUND
               : cli_error(CLI_FAILED, "minari-inspect failed on '%s'", path);
}

/* The id is where it lies, as for Minari; what the dataset says of itself does not count. */
static bool read_item(const char *root, json_t *object, struct local_dataset *d)
{
    const char *path = hub_member_text(object, "path");
    const size_t n = strlen(root);
    if (!path)
        return false;
    if (strncmp(path, root, n) == 0 && path[n] == '/')
        path += n + 1;
    d->object = object;
    if (json_object_set_new(object, "id", json_string(path)) || hub_summary_read(object, &d->summary, NULL))
        return false;
    uint32_t version = 0;
    struct hub_view alias;
    const bool versioned = hub_id_split_alias(hub_view_of(d->summary.id), &alias, &version);
    const char *slash = memrchr(alias.data, '/', alias.size);
    d->ns = slash ? hub_view_dup((struct hub_view){alias.data, (size_t)(slash - alias.data)}) : NULL;
    const char *name = slash ? slash + 1 : alias.data;
    d->name = hub_view_dup((struct hub_view){name, (size_t)(alias.data + alias.size - name)});
    d->summary.ns = d->ns;
    d->summary.name = d->name;
    d->summary.version = versioned ? (int64_t)version : -1;
    return d->name;
}

static int by_id(const void *a, const void *b)
{
    return hub_id_compare(hub_view_of(((const struct local_dataset *)a)->summary.id),
                          hub_view_of(((const struct local_dataset *)b)->summary.id));
}

int local_inspect(const char *root, const char *below, struct local_list *out)
{
    char path[PATH_MAX];
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf report = HUB_BUF_INIT(max_report);
    struct hub_error err = {0};
    *out = (struct local_list){0};
    snprintf(path, sizeof path, "%s%s%s", root, *below ? "/" : "", below);
    if (access(path, F_OK))
        return CLI_NOT_FOUND;
    const int code = run(path, &report);
    if (code)
        return code;
    if (hub_json_parse(hub_buf_view(&report), max_report, &out->document, &err))
        return cli_error(CLI_FAILED, "minari-inspect's report cannot be read: %s", err.detail);
    json_t *datasets = json_object_get(out->document, "datasets");
    out->items = calloc(json_array_size(datasets) + 1, sizeof *out->items);
    for (size_t i = 0; out->items && i < json_array_size(datasets); i++) {
        json_t *object = json_array_get(datasets, i);
        const char *format = hub_member_text(object, "format");
        if (!format || hub_format_is_files(format)) /* nothing a person would call a dataset */
            continue;
        if (!read_item(root, object, &out->items[out->count++]))
            return cli_error(CLI_FAILED, "minari-inspect's report is incomplete");
    }
    if (!out->items)
        return cli_error(CLI_FAILED, "no memory for a list");
    qsort(out->items, out->count, sizeof *out->items, by_id);
    return CLI_OK;
}

void local_dispose(struct local_list *list)
{
    for (size_t i = 0; list->items && i < list->count; i++) {
        free(list->items[i].ns);
        free(list->items[i].name);
        free((void *)list->items[i].summary.authors);
    }
    free(list->items);
    json_decref(list->document);
    *list = (struct local_list){0};
}

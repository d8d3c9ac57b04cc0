/* A hub of this command's own: see own_hub.h. */
#include "client/cli/own_hub.h"

#include "client/cli/local.h"
#include "client/cli/own_location.h"
#include "client/cli/waiting.h"
#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/model/format_row.h"
#include "storage/query/property.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { START_MS = 30000, NAP_MS = 2, MEASURE_NAP_MS = 40, STUCK_MS = 120000, BUSY_MS = 3000, SLOW_MS = 1000 };

static struct {
    pid_t pid;
    char home[PATH_MAX]; /* "" : none was made */
    int directory;       /* the hub's state: its socket is named by it, because names of sockets are short */
    char socket[64];
    bool partial; /* the waiting for measures ended before all were there */
} own;

static void nap(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

/* ---- the process ---- */

static const char *temporary(void)
{
    const char *set = getenv("TMPDIR");
    return set && *set ? set : "/tmp";
}

static int make_home(const struct cli *cli)
{
    char path[PATH_MAX + 16];
    const bool made = snprintf(path, sizeof path, "%s/minari-cli-XXXXXX", temporary()) < PATH_MAX &&
                      mkdtemp(path) && realpath(path, own.home);
    if (made) {
        snprintf(path, sizeof path, "%s/state", own.home);
        if (!mkdir(path, 0700))
            own.directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        snprintf(path, sizeof path, "%s/root", own.home);
    }
    if (made && own.directory > 0 && !mkdir(path, 0700)) {
        snprintf(own.socket, sizeof own.socket, "/proc/self/fd/%d/control.sock", own.directory);
        return CLI_OK;
    }
    return cli_fail(cli, errno == ENOSPC ? MINARI_NO_SPACE : MINARI_FAILED, HUB_PROBLEM_NO_TEMPORARY,
                    "a temporary directory cannot be made in '%s': %s", temporary(), strerror(errno));
}

static int link_dataset(const struct cli *cli, const struct own_location *location)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/root", own.home);
    HUB_CLEANUP(hub_closep) int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int failed = root < 0 ? errno : own_location_link(location, root);
    return failed
               ? cli_error(CLI_FAILED, "'%s' cannot be linked: %s", cli_clean(cli->subject), strerror(failed))
               : CLI_OK;
}

/* Nothing that is set for the hub of this machine is meant for this one. */
static char **hub_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **out = calloc(n + 1, sizeof *out);
    for (size_t i = 0; out && i < n; i++)
        if (strncmp(environ[i], "MINARI_HUB_", 11) != 0 && strncmp(environ[i], "NOTIFY_SOCKET=", 14) != 0)
            out[kept++] = environ[i];
    return out;
}

static _Noreturn void become(const char *const *argv, char **environment, int log, pid_t parent)
{
    setpgid(0, 0); /* Ctrl-C is for the command, which ends this one */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() == parent && dup2(log, STDERR_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0)
        execvpe(argv[0], (char *const *)argv, environment);
    dprintf(log, "%s\n", strerror(errno));
    _exit(127);
}

static int start(const struct own_location *location)
{
    char root[PATH_MAX + 16], state[PATH_MAX + 16], log[PATH_MAX + 16], end[PATH_MAX];
    const char *inspector = getenv("MINARI_INSPECT");
    snprintf(root, sizeof root, "%s/root:ro", own.home);
    snprintf(state, sizeof state, "%s/state", own.home);
    snprintf(log, sizeof log, "%s/log", own.home);
    snprintf(end, sizeof end, "%s", location->end);
    char *slash = strrchr(end, '/');
    slash[slash == end] = '\0';
    const char *argv[] = {local_program("MINARI_HUB_PROGRAM", "minari-hub"),
                          "serve",
                          "--config",
                          "/dev/null",
                          "--root",
                          root,
                          "--allow-target",
                          location->path ? location->folder : cli_root(),
                          "--allow-target",
                          end,
                          "--state",
                          state,
                          "--listen",
                          "off",
                          "--settle",
                          "0",
                          "--sweep",
                          "0",
                          "--measure",
                          "on-demand",
                          "--no-access-log",
                          "--no-sync",
                          inspector && *inspector ? "--inspector" : NULL,
                          inspector,
                          NULL};
    HUB_CLEANUP(hub_closep) int fd = open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    HUB_CLEANUP(hub_freep) char **environment = hub_environment();
    const pid_t parent = getpid();
    own.pid = fd >= 0 && environment ? fork() : -1;
    if (own.pid == 0)
        become(argv, environment, fd, parent);
    if (own.pid > 0)
        return CLI_OK;
    own.pid = 0;
    return cli_error(CLI_FAILED, "%s cannot be started: %s", argv[0], strerror(errno));
}

/* Report its last line, which says why it ended. */
static int ended(const struct cli *cli, int status)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf said = HUB_BUF_INIT(1 * MIB);
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/log", own.home);
    own.pid = 0;
    if (hub_fs_read(AT_FDCWD, path, &said, NULL) || !said.size)
        return cli_fail(cli, MINARI_FAILED, HUB_PROBLEM_HUB_ENDED, "minari-hub ended without a message");
    while (said.size && said.data[said.size - 1] == '\n')
        said.data[--said.size] = '\0';
    const char *line = strrchr(said.data, '\n');
    const bool none = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    return cli_fail(cli, MINARI_FAILED, none ? HUB_PROBLEM_NO_HUB_PROGRAM : HUB_PROBLEM_HUB_ENDED, "%s%s%s",
                    none ? local_program("MINARI_HUB_PROGRAM", "minari-hub") : "",
                    none ? " cannot be started: " : "", line ? line + 1 : said.data);
}

/* Whether to wait on; else an exit code in `*code`. */
static bool goes_on(const struct cli *cli, unsigned nap_ms, int *code)
{
    int status = 0;
    *code = CLI_OK;
    if (cli_interrupted(NULL))
        *code = cli_error(CLI_INTERRUPTED, "interrupted");
    else if (own.pid && waitpid(own.pid, &status, WNOHANG) == own.pid)
        *code = ended(cli, status);
    else
        nap(nap_ms);
    return !*code;
}

static bool listens(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    HUB_CLEANUP(hub_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", own.socket);
    return fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) == 0;
}

static int await_socket(struct cli *cli)
{
    const int64_t until_ms = hub_time_mono_ms() + START_MS;
    int code = CLI_OK;
    while (!listens()) {
        if (!goes_on(cli, NAP_MS, &code))
            return code;
        if (hub_time_mono_ms() > until_ms)
            return cli_fail(cli, MINARI_FAILED, HUB_PROBLEM_HUB_ENDED, "minari-hub did not start to answer");
    }
    return cli_connect_local(cli, own.socket, true);
}

void own_hub_end(void)
{
    waiting_clear();
    if (own.pid > 0) { /* its state goes with it: nothing needs to be put in order */
        kill(own.pid, SIGKILL);
        while (waitpid(own.pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (own.directory > 0)
        close(own.directory);
    if (*own.home)
        (void)!hub_fs_remove(AT_FDCWD, own.home, NULL);
    memset(&own, 0, sizeof own);
}

/* ---- the dataset ---- */

/* Until the hub has walked its root it says that it is starting, whatever is asked for. */
static int await_walk(struct cli *cli)
{
    struct minari_error err;
    int code = CLI_OK;
    while (true) {
        struct minari_dataset *dataset = NULL;
        const enum minari_status st = minari_dataset_get(cli->client, "any", NULL, &dataset, &err);
        minari_dataset_free(dataset);
        if (st == MINARI_CANCELLED)
            return cli_report(cli, &err);
        if (st != MINARI_BUSY)
            return CLI_OK;
        if (!goes_on(cli, NAP_MS, &code))
            return code;
    }
}

static bool is_version_of(const char *id, const char *name)
{
    struct hub_view alias;
    uint32_t version;
    return hub_id_split_alias(hub_view_of(id), &alias, &version) && hub_view_is(alias, name);
}

/* The one that is asked for; else, of a path, the only one that is more than plain files; else the only
 * one. */
static const struct minari_summary *find(const struct minari_dataset_list *list,
                                         const struct own_location *location, const char *requested,
                                         size_t *datasets)
{
    const char *wanted = location->path ? location->shown : requested;
    const struct minari_summary *only = NULL, *files = NULL;
    *datasets = 0;
    for (size_t i = 0; i < minari_dataset_list_count(list); i++) {
        const struct minari_summary *s = minari_dataset_list_at(list, i);
        if (strcmp(s->id, wanted) == 0 || (!location->path && is_version_of(s->id, wanted)))
            return s;
        if (hub_format_is_files(s->format))
            files = s;
        else if (++*datasets == 1)
            only = s;
    }
    if (!location->path || *datasets > 1)
        return NULL;
    return only ? only : minari_dataset_list_count(list) == 1 ? files : NULL;
}

static int no_local(const struct cli *cli, const char *requested)
{
    return cli_fail(cli, MINARI_NOT_FOUND,
                    access(requested, F_OK) ? HUB_PROBLEM_NO_LOCAL_DATASET : HUB_PROBLEM_PATH_MEANT,
                    "there is no dataset '%s' in '%s'", cli_clean(requested), cli_clean(cli_root()));
}

static int not_one(const struct cli *cli, const struct own_location *location,
                   const struct minari_dataset_list *list, size_t datasets)
{
    char has[300];
    const char *requested = cli_clean(cli->subject), *below = NULL;
    own_location_describe(location, has, sizeof has);
    for (size_t i = 0; i < minari_dataset_list_count(list) && !below; i++)
        if (!hub_format_is_files(minari_dataset_list_at(list, i)->format))
            below = strchr(minari_dataset_list_at(list, i)->id, '/');
    if (!location->path)
        return no_local(cli, cli->subject);
    if (datasets > 1)
        return cli_fail(cli, MINARI_NOT_FOUND, HUB_PROBLEM_SEVERAL_DATASETS,
                        "'%s' is not a dataset but holds %zu of them, such as '%s%s'", requested, datasets,
                        requested, below ? cli_clean(below) : "");
    return cli_fail(cli, MINARI_NOT_FOUND, HUB_PROBLEM_NO_DATASET_THERE,
                    "'%s' is not a dataset: it looks like %s%s%s%s", requested,
                    *has                              ? "a folder of plain files ("
                    : minari_dataset_list_count(list) ? "a plain file"
                                                      : "an empty folder",
                    cli_clean(has), *has ? ")" : "", "");
}

/* archive.tar, or one of the files: whatever they are. */
static bool wants_files(const struct cli *cli)
{
    return cli->command->run == cli_get && cli->count == 2;
}

static int take(const struct cli *cli, const struct own_location *location, const struct minari_summary *s,
                const struct minari_dataset_list *list, const char **id)
{
    static char own_id[CLI_ID];
    if (!wants_files(cli) && hub_format_is_files(s->format))
        return not_one(cli, location, list, 0);
    if (!wants_files(cli) && strcmp(s->status, "ready") != 0)
        return cli_fail(cli, strcmp(s->status, "pending") == 0 ? MINARI_BUSY : MINARI_BROKEN,
                        location->path ? HUB_PROBLEM_BROKEN_THERE : HUB_PROBLEM_BROKEN_HERE,
                        "'%s' is %s (%s)", cli_clean(cli->subject), s->status,
                        *s->reason ? s->reason : s->format);
    if (location->path) {
        snprintf(own_id, sizeof own_id, "%s", s->id);
        *id = own_id;
    }
    return CLI_OK;
}

/* Inspected, for better or worse. What somebody is writing at is waited for a little. */
static int await_dataset(struct cli *cli, const struct own_location *location, const char **id)
{
    const int64_t began_ms = hub_time_mono_ms();
    struct minari_error err;
    int code = CLI_OK;
    while (true) {
        struct minari_dataset_list *list = NULL;
        size_t datasets = 0;
        if (minari_dataset_list_get(cli->client, NULL, &list, &err))
            return cli_report(cli, &err);
        const struct minari_summary *s = find(list, location, *id, &datasets);
        const int64_t age_ms = hub_time_mono_ms() - began_ms;
        const bool pending =
            s && strcmp(s->status, "pending") == 0 && (!s->reason || !*s->reason || age_ms < BUSY_MS);
        if (!pending)
            code = s ? take(cli, location, s, list, id) : not_one(cli, location, list, datasets);
        minari_dataset_list_free(list);
        if (!pending)
            return code;
        if (age_ms > SLOW_MS)
            waiting_note(cli, "inspecting it", 0, 0, "");
        if (!goes_on(cli, age_ms > SLOW_MS ? MEASURE_NAP_MS : NAP_MS, &code))
            return code;
    }
}

/* ---- what is measured ---- */

bool own_hub_measures(void)
{
    return own.pid && !own.partial;
}

/* All is measured that can be. */
static bool is_whole(const json_t *coverage, const char *done, const char *of)
{
    const json_t *unreadable = json_object_get(coverage, "unreadable");
    return json_is_true(json_object_get(coverage, "complete")) ||
           (unreadable && !json_is_true(json_object_get(coverage, "stale")) &&
            json_integer_value(json_object_get(coverage, done)) +
                    json_integer_value(json_object_get(unreadable, done)) ==
                json_integer_value(json_object_get(coverage, of)));
}

bool own_hub_goes_on(const struct cli *cli, const char *answer)
{
    static long long rows_before = -1;
    static int64_t since_ms;
    HUB_CLEANUP(hub_json_decrefp) json_t *document = own.pid ? json_loads(answer, 0, NULL) : NULL;
    const json_t *object = json_object_get(document, "statistics"); /* of a dataset's document */
    const json_t *coverage = json_object_get(object ? object : document, "coverage");
    const char *of = object ? "of" : "of_rows";
    const long long rows = json_integer_value(json_object_get(coverage, object ? "episodes" : "rows"));
    if (rows != rows_before)
        since_ms = hub_time_mono_ms();
    rows_before = rows;
    const bool whole = is_whole(coverage, object ? "episodes" : "rows", of);
    if (!coverage || whole || cli_interrupted(NULL) || hub_time_mono_ms() - since_ms > STUCK_MS) {
        own.partial = coverage && !whole;
        waiting_clear();
        return false;
    }
    waiting_note(cli, "measuring it", (uint64_t)rows,
                 object ? 0 : (uint64_t)json_integer_value(json_object_get(coverage, of)), "steps");
    nap(MEASURE_NAP_MS);
    return true;
}

/* Whether a test, an order or columns have the text. */
static bool has_text(const struct cli *cli, const char *text)
{
    const enum cli_option options[] = {OPT_WHERE, OPT_SORT, OPT_COLUMNS};
    for (size_t i = 0; i < HUB_COUNT(options); i++)
        if (cli->values[options[i]] && strstr(cli->values[options[i]], text))
            return true;
    return false;
}

/* ... name what only reading all rows tells. */
static bool names_measures(const struct cli *cli)
{
    bool any = has_text(cli, "(");
    for (unsigned kind = 0; kind < HUB_PROPERTY_ATTRIBUTE; kind++) {
        const struct hub_property_row *row = hub_property_row((enum hub_property_kind)kind);
        any = any || (row->source == HUB_FROM_MEASURE && !row->of_field && has_text(cli, row->word));
    }
    return any;
}

static int await_measures(struct cli *cli, const char *id)
{
    const bool all = names_measures(cli), some = cli->command->run == cli_episodes || has_text(cli, "return");
    struct minari_error err;
    for (bool again = all; again;) {
        HUB_CLEANUP(hub_freep) char *text = NULL;
        if (minari_statistics_get(cli->client, id, NULL, &text, &err))
            return cli_report(cli, &err);
        again = own_hub_goes_on(cli, text);
    }
    for (bool again = some && !all; again;) {
        struct minari_dataset *dataset = NULL;
        if (minari_dataset_get(cli->client, id, NULL, &dataset, &err))
            return cli_report(cli, &err);
        again = own_hub_goes_on(cli, minari_dataset_json(dataset));
        minari_dataset_free(dataset);
    }
    if (cli_interrupted(NULL))
        return cli_error(CLI_INTERRUPTED, "interrupted");
    if (own.partial)
        cli_note(cli,
                 "measuring made no progress for %d s: the numbers cover only what is measured so far; "
                 "'minari-cli stats' shows how much",
                 STUCK_MS / 1000);
    return CLI_OK;
}

/* ---- all of it ---- */

static int locate(const struct cli *cli, bool path, const char *requested, struct own_location *location)
{
    struct hub_error err = {0};
    char folder[CLI_FOLDER];
    if (!path && hub_folder_check(hub_view_of(cli_folder(requested, folder)), &err))
        return access(requested, F_OK) ? cli_error(CLI_USAGE, "%s", err.detail) : no_local(cli, requested);
    const int failed =
        path ? own_location_of_path(requested, location) : own_location_of_id(cli_root(), folder, location);
    if (!failed)
        return CLI_OK;
    if (failed != ENOENT && failed != ENOTDIR)
        return cli_error(failed == EACCES ? CLI_NOT_ALLOWED : CLI_FAILED, "'%s': %s", cli_clean(requested),
                         strerror(failed));
    if (path)
        return cli_error(CLI_NOT_FOUND, "there is no '%s'", cli_clean(requested));
    return no_local(cli, requested);
}

int own_hub_connect(struct cli *cli, const char **id)
{
    const char *requested = *id, *hub = getenv("MINARI_HUB_URL"), *remote = cli->values[OPT_REMOTE];
    struct own_location location;
    const bool path = own_is_path(requested);
    if (path && remote)
        return cli_error(CLI_USAGE, "'%s' is a path on this machine: leave out --remote",
                         cli_clean(requested));
    if (!path && (strstr(requested, "://") || remote || (hub && *hub)))
        return cli_connect(cli, NULL, id);
    cli->subject = requested;
    int code = locate(cli, path, requested, &location);
    if (code)
        return code;
    cli->remote = (struct minari_remote){.kind = MINARI_REMOTE_HUB, .origin = "this machine"};
    snprintf(cli->remote.text, sizeof cli->remote.text, "%s", cli_clean(path ? location.folder : cli_root()));
    code = make_home(cli);
    if (!code)
        code = link_dataset(cli, &location);
    if (!code)
        code = start(&location);
    if (!code)
        code = await_socket(cli);
    if (!code)
        code = await_walk(cli);
    if (!code)
        code = await_dataset(cli, &location, id);
    if (!code)
        code = cli_connect_local(cli, own.socket, false);
    if (!code)
        code = await_measures(cli, *id);
    waiting_clear();
    return code;
}

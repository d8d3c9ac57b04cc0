/* upload: a folder of this machine becomes a dataset of a hub. */
#include "client/cli/cli.h"
#include "client/cli/local.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/io/roots.h"
#include "storage/model/format_row.h"
#include "storage/text/json.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { METADATA_BYTES = 16 * 1024 * 1024 };

struct upload {
    struct cli *cli;
    struct progress progress;
    char path[PATH_MAX], id[CLI_ID];
    struct hub_buf problems; /* the items of --json */
    struct hub_buf answer;   /* the members of --json before them */
    unsigned percent;        /* that the draft has */
    bool no_memory;
};

static void make_room(void *user)
{
    struct upload *u = user;
    progress_clear(&u->progress);
}

/* ---- which folder, and which id ---- */

static int find_folder(struct upload *u)
{
    const char *argument = u->cli->arguments[0];
    if (!realpath(argument, u->path))
        return cli_error(CLI_NOT_FOUND, "'%s' cannot be opened: name the folder of a dataset",
                         cli_clean(argument));
    return CLI_OK;
}

/* The id that the metadata of a Minari dataset states. */
static bool find_stated_id(struct upload *u)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(METADATA_BYTES);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/data/metadata.json", u->path);
    if (hub_fs_read(AT_FDCWD, path, &text, NULL) ||
        hub_json_parse(hub_buf_view(&text), METADATA_BYTES, &document, NULL))
        return false;
    const char *id = json_string_value(json_object_get(document, "dataset_id"));
    if (!id || hub_id_check(hub_view_of(id), NULL))
        return false;
    snprintf(u->id, sizeof u->id, "%s", id);
    return true;
}

/* Where Minari keeps it, else the last two names of the folder. */
static int find_placed_id(struct upload *u)
{
    char root[PATH_MAX];
    const char *below = realpath(cli_root(), root) ? hub_path_below(u->path, root) : NULL;
    const char *slash = memrchr(u->path, '/', strlen(u->path));
    const char *before = slash && slash > u->path ? memrchr(u->path, '/', (size_t)(slash - u->path)) : NULL;
    const char *id = below && *below ? below : before ? before + 1 : slash ? slash + 1 : "";
    if (hub_id_check(hub_view_of(id), NULL))
        return cli_error(CLI_USAGE,
                         "'%s' does not end in a name that can be an ID: name it, such as lab/arm-v0",
                         cli_clean(u->path));
    snprintf(u->id, sizeof u->id, "%s", id);
    return CLI_OK;
}

/* The hub's, which the id may name. */
static int connect_to(struct upload *u)
{
    const char *id = u->cli->count > 1 ? u->cli->arguments[1] : NULL;
    const int code = cli_connect(u->cli, NULL, id ? &id : NULL);
    if (code)
        return code;
    if (id)
        snprintf(u->id, sizeof u->id, "%s", id);
    else if (!find_stated_id(u))
        return find_placed_id(u);
    return CLI_OK;
}

/* The version after the newest that the hub has of the name. */
static int choose_next_version(struct upload *u)
{
    struct minari_dataset *dataset = NULL;
    struct minari_error err;
    struct hub_view alias;
    uint32_t stated;
    char name[CLI_ID];
    int64_t newest = -1;
    (void)hub_id_split_alias(hub_view_of(u->id), &alias, &stated);
    snprintf(name, sizeof name, "%.*s", (int)alias.size, alias.data);
    if (minari_dataset_get(u->cli->client, name, NULL, &dataset, &err) && err.status != MINARI_NOT_FOUND)
        return cli_report(u->cli, &err);
    for (size_t i = 0; dataset && i < minari_dataset_version_count(dataset); i++)
        newest = HUB_MAX(newest, minari_dataset_version_at(dataset, i)->version);
    minari_dataset_free(dataset);
    snprintf(u->id, sizeof u->id, "%.*s-v%" PRId64, CLI_ID - 32, name, newest + 1);
    return CLI_OK;
}

/* ---- what is wrong with it, before a byte is sent ---- */

static void add_problem(struct upload *u, const struct minari_problem *p)
{
    progress_clear(&u->progress);
    if (!u->cli->values[OPT_JSON]) {
        fprintf(stderr, "%s: %s%s%s\n", cli_clean(p->code), p->path ? cli_clean(p->path) : "",
                p->path ? ": " : "", cli_clean(p->detail));
        return;
    }
    struct hub_json json = cli_json_item(&u->problems);
    hub_json_put_text(&json, "code", p->code);
    if (p->path)
        hub_json_put_text(&json, "path", p->path);
    hub_json_put_text(&json, "detail", p->detail);
    hub_json_end_object(&json);
    if (hub_json_status(&json))
        u->no_memory = true;
}

static void add_found_problems(struct upload *u, const json_t *item)
{
    const json_t *problem;
    size_t i;
    json_array_foreach(json_object_get(item, "problems"), i, problem)
    {
        const struct minari_problem p = {.code = json_string_value(json_object_get(problem, "code")),
                                         .path = json_string_value(json_object_get(problem, "path")),
                                         .detail = json_string_value(json_object_get(problem, "detail"))};
        if (p.code && p.detail)
            add_problem(u, &p);
    }
}

static bool is_allowed(const struct cli *cli, const char *what)
{
    return cli->values[OPT_ALLOW] && strcmp(cli->values[OPT_ALLOW], what) == 0;
}

/* The hub says what it publishes: it inspects the files once more. */
static int judge_dataset(struct upload *u, const json_t *item, const char *status)
{
    const char *reason = json_string_value(json_object_get(item, "reason"));
    const bool ready = strcmp(status, "ready") == 0,
               refused = !ready || json_is_false(json_object_get(item, "loadable")),
               pushed = !refused || is_allowed(u->cli, "broken");
    if (!pushed || u->cli->values[OPT_DRY_RUN])
        add_found_problems(u, item);
    if (pushed)
        return CLI_OK;
    cli_error(CLI_BROKEN, "'%s' is not pushed, it is %s: %s", cli_clean(u->path),
              ready ? "broken" : cli_clean(status),
              cli_clean(reason ? reason : "its own library refuses it, as said above"));
    cli_hint("mend it and run the same command again, or give --allow broken");
    return CLI_BROKEN;
}

/* What the inspector says of the folder as a whole, in the words of the hub. */
static int judge(struct upload *u, const json_t *datasets)
{
    const char *first = NULL;
    const json_t *item;
    size_t i;
    json_array_foreach(datasets, i, item)
    {
        const char *path = json_string_value(json_object_get(item, "path")),
                   *format = json_string_value(json_object_get(item, "format")),
                   *status = json_string_value(json_object_get(item, "status"));
        if (!path || !format || !status || hub_format_is_files(format))
            continue;
        first = first ? first : path;
        if (strcmp(path, u->path) != 0)
            continue;
        return judge_dataset(u, item, status);
    }
    if (is_allowed(u->cli, "files"))
        return CLI_OK;
    if (first)
        return cli_error(CLI_BROKEN,
                         "'%s' is not one dataset but holds some: push them one by one, '%s' first",
                         cli_clean(u->path), cli_clean(first));
    cli_error(CLI_BROKEN, "'%s' is not pushed: no format that minari-inspect knows claims it as a dataset",
              cli_clean(u->path));
    cli_hint("give --allow files to push it as it is");
    return CLI_BROKEN;
}

static int inspect(struct upload *u)
{
    struct local_list list = {0};
    if (u->cli->values[OPT_NO_INSPECT])
        return CLI_OK;
    if (!strchr(local_program("MINARI_INSPECT", "minari-inspect"), '/')) {
        cli_note(u->cli, "minari-inspect is not beside minari-cli: the hub alone inspects the dataset");
        return CLI_OK;
    }
    int code = local_inspect(u->path, "", &list);
    if (!code)
        code = judge(u, json_object_get(list.document, "datasets"));
    local_dispose(&list);
    return code;
}

/* ---- the push ---- */

static int on_progress(const struct minari_progress *p, void *user)
{
    struct upload *u = user;
    progress_show(&u->progress, p);
    if (p->phase == MINARI_PHASE_TRANSFER && p->bytes_total)
        u->percent =
            (unsigned)((double)HUB_MIN(p->bytes_done, p->bytes_total) * 100 / (double)p->bytes_total);
    return cli_interrupted(NULL);
}

static void on_notice(const char *line, void *user)
{
    struct upload *u = user;
    cli_note(u->cli, "%s", cli_clean(line));
}

static void on_problem(const struct minari_problem *problem, void *user)
{
    add_problem(user, problem);
}

static void write_json(struct upload *u, const struct minari_upload *done)
{
    struct hub_json json = hub_json_to(&u->answer, NULL);
    hub_json_object(&json);
    hub_json_put_text(&json, "id", done->id);
    if (done->planned)
        hub_json_put_bool(&json, "planned", true);
    if (done->draft)
        hub_json_put_text(&json, "draft", done->draft);
    hub_json_put_text(&json, "commit", done->commit);
    if (done->base)
        hub_json_put_text(&json, "base", done->base);
    if (done->unchanged)
        hub_json_put_bool(&json, "unchanged", true);
    if (done->content)
        hub_json_put_text(&json, "content", done->content);
    if (done->format)
        hub_json_put_text(&json, "format", done->format);
    hub_json_put_uint(&json, "files", done->files);
    hub_json_put_uint(&json, "files_kept", done->files_kept);
    hub_json_put_uint(&json, "files_removed", done->files_removed);
    hub_json_put_uint(&json, "bytes", done->bytes);
    hub_json_put_uint(&json, "bytes_kept", done->bytes_kept);
    hub_json_put_uint(&json, "milliseconds", done->milliseconds);
    hub_json_end_object(&json);
    if (hub_json_status(&json))
        u->no_memory = true;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_planned(const struct minari_upload *done, const char *size, const char *kept)
{
    char sent[TABLE_NUMBER];
    const uint64_t files = done->files - done->files_kept;
    hub_number_size(done->bytes - done->bytes_kept, sent);
    if (!done->base) {
        printf("%s in %" PRIu64 " file%s would be pushed", size, done->files, plural(done->files));
        if (done->bytes_kept)
            printf(", %s of it are there", kept);
        return;
    }
    printf("%s in %" PRIu64 " of %" PRIu64 " files would be sent", sent, files, done->files);
    if (done->files_removed)
        printf(", %" PRIu64 " file%s would be left out", done->files_removed, plural(done->files_removed));
    printf(", in the place of commit %.10s", cli_clean(done->base));
}

static void print_pushed(const struct minari_upload *done, const char *size, const char *kept)
{
    char rate[TABLE_NUMBER];
    const uint64_t sent = done->bytes - done->bytes_kept;
    hub_number_size(done->milliseconds ? sent * 1000 / done->milliseconds : sent, rate);
    printf("%s in %" PRIu64 " file%s in %.1f s (%s/s)", size, done->files, plural(done->files),
           (double)done->milliseconds / 1000, rate);
    if (done->bytes_kept)
        printf(", %s of it were there", kept);
    if (done->commit)
        printf(", commit %s", cli_clean(done->commit));
    if (done->base)
        printf(" in the place of %.10s", cli_clean(done->base));
}

static void on_done(const struct minari_upload *done, void *user)
{
    struct upload *u = user;
    char size[TABLE_NUMBER], kept[TABLE_NUMBER];
    progress_clear(&u->progress);
    if (u->cli->values[OPT_JSON]) {
        write_json(u, done);
        return;
    }
    if (u->cli->values[OPT_QUIET])
        return;
    hub_number_size(done->bytes, size);
    hub_number_size(done->bytes_kept, kept);
    printf("%s: ", cli_clean(done->id));
    if (done->unchanged)
        printf("nothing has changed since commit %s", cli_clean(done->base));
    else if (done->planned)
        print_planned(done, size, kept);
    else
        print_pushed(done, size, kept);
    printf("\n  %s/%s\n", u->cli->remote.text, cli_clean(done->id));
}

static int report(const struct upload *u, const struct minari_error *err)
{
    const int code = cli_report(u->cli, err);
    if (cli_is_problem(err, HUB_PROBLEM_EXISTS))
        cli_hint("a new version: add --next-version%s",
                 u->cli->values[OPT_REPLACE] ? "" : "; in its place: add --replace");
    else if (cli_is_problem(err, HUB_PROBLEM_COMMIT_CONFLICT))
        return code; /* nothing goes on in that draft */
    else if (cli_is_problem(err, HUB_PROBLEM_TOO_MANY_DRAFTS))
        cli_hint("minari-cli drafts lists them, minari-cli drafts drop DRAFT drops one");
    else if (u->percent && code != CLI_BROKEN)
        cli_hint("the hub has %u%% and keeps them in a draft: run the same command again to go on",
                 u->percent);
    else if (code == CLI_INTERRUPTED)
        cli_hint("run the same command again to go on");
    return code;
}

static int push(struct upload *u, unsigned connections)
{
    struct minari_error err;
    struct minari_upload_options options = MINARI_UPLOAD_OPTIONS_INIT;
    options.path = u->path;
    options.id = u->id;
    options.message = u->cli->values[OPT_MESSAGE];
    options.allow = u->cli->values[OPT_ALLOW];
    options.connections = connections;
    options.dry_run = u->cli->values[OPT_DRY_RUN];
    options.tar = u->cli->values[OPT_TAR];
    options.base = u->cli->values[OPT_REPLACE] ? "current" : NULL;
    options.progress = on_progress;
    options.notice = on_notice;
    options.problem = on_problem;
    options.done = on_done;
    options.user = u;
    const int code = minari_dataset_upload(u->cli->client, &options, &err) ? report(u, &err) : CLI_OK;
    progress_clear(&u->progress);
    return code;
}

/* The answer, or of what is refused the problems. */
static void print_json(const struct upload *u)
{
    if (u->answer.size)
        printf("%.*s,", (int)u->answer.size - 1, u->answer.data);
    else if (u->problems.size)
        printf("{\"commit\":null,");
    else
        return;
    printf("\"problems\":[%s%s]}\n", u->problems.size ? "\n" : "", u->problems.size ? u->problems.data : "");
}

static int run(struct upload *u)
{
    uint64_t connections = 0;
    if (!cli_number(u->cli, OPT_CONNECTIONS, &connections))
        return CLI_USAGE;
    if (u->cli->values[OPT_NEXT_VERSION] && u->cli->values[OPT_REPLACE])
        return cli_error(CLI_USAGE, "--next-version makes another dataset, --replace takes the place of one: "
                                    "give one of them");
    int code = find_folder(u);
    if (!code)
        code = connect_to(u);
    if (!code && u->cli->values[OPT_NEXT_VERSION])
        code = choose_next_version(u);
    u->cli->subject = u->id;
    if (!code)
        code = inspect(u);
    return code ? code : push(u, (unsigned)connections);
}

int cli_upload(struct cli *cli)
{
    struct upload u = {.cli = cli, .problems = HUB_BUF_INIT(64 * MIB), .answer = HUB_BUF_INIT(1 * MIB)};
    cli->make_room = make_room;
    cli->room = &u;
    u.progress.terminal = cli->err_terminal;
    u.progress.quiet = cli->values[OPT_QUIET] || cli->values[OPT_NO_PROGRESS];
    const int code = run(&u);
    if (cli->values[OPT_JSON])
        print_json(&u);
    hub_buf_dispose(&u.problems);
    hub_buf_dispose(&u.answer);
    cli->make_room = NULL;
    cli->subject = NULL;
    return u.no_memory ? cli_error(CLI_FAILED, "no memory for the report") : code;
}

/* download: datasets to this machine. */
#include "client/cli/cli.h"
#include "client/cli/loading.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "storage/model/format_row.h"
#include "storage/text/json.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct download {
    struct cli *cli;
    struct progress progress;
    struct hub_buf json, failed; /* the items of --json */
    bool failed_json;
};

static void make_room(void *user)
{
    struct download *d = user;
    progress_clear(&d->progress);
}

static int on_progress(const struct minari_progress *p, void *user)
{
    struct download *d = user;
    progress_show(&d->progress, p);
    return cli_interrupted(NULL);
}

static void on_notice(const char *line, void *user)
{
    struct download *d = user;
    cli_note(d->cli, "%s", cli_clean(line));
}

/* Nothing is called verified unless the hub gave a digest of every file. */
static void assurance(const struct cli *cli, const struct minari_download *done, char *out, size_t room)
{
    if (done->assurance == MINARI_VERIFIED)
        snprintf(out, room, "verified (%s of %" PRIu64 " file%s)", done->digest, done->files,
                 done->files == 1 ? "" : "s");
    else if (done->files_verified)
        snprintf(out, room, "%s of %" PRIu64 " of %" PRIu64 " files verified, size only of the rest",
                 done->digest, done->files_verified, done->files);
    else
        snprintf(out, room, "size only: the remote states no digests%s",
                 cli->remote.kind == MINARI_REMOTE_HUB ? " yet" : "");
}

static void add_json(struct download *d, const struct minari_download *done, const char *load)
{
    struct hub_json json = cli_json_item(&d->json);
    hub_json_put_text(&json, "id", done->id);
    hub_json_put_text(&json, "path", done->path);
    hub_json_put_text(&json, "revision", done->revision);
    hub_json_put_bool(&json, "skipped", done->skipped);
    if (done->partial)
        hub_json_put_bool(&json, "partial", true);
    if (done->planned)
        hub_json_put_bool(&json, "planned", true);
    hub_json_put_text(&json, "load", load);
    if (!done->skipped) {
        hub_json_put_bool(&json, "verified", done->assurance == MINARI_VERIFIED);
        hub_json_put_uint(&json, "files", done->files);
        hub_json_put_uint(&json, "files_verified", done->files_verified);
        hub_json_put_uint(&json, "bytes", done->bytes);
        hub_json_put_uint(&json, "bytes_kept", done->bytes_kept);
        hub_json_put_uint(&json, "milliseconds", done->milliseconds);
    }
    hub_json_end_object(&json);
    if (hub_json_status(&json))
        d->failed_json = true;
}

static void on_done(const struct minari_download *done, void *user)
{
    struct download *d = user;
    char size[TABLE_NUMBER], rate[TABLE_NUMBER], sure[128];
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf load = HUB_BUF_INIT(64 * KIB);
    progress_clear(&d->progress);
    if (loading_line(done->format, done->path, done->partial ? d->cli->values[OPT_EPISODES] : NULL, &load,
                     NULL))
        load.size = 0;
    if (d->cli->values[OPT_JSON]) {
        add_json(d, done, load.size ? load.data : NULL);
        return;
    }
    if (done->skipped || d->cli->values[OPT_QUIET])
        return; /* the notice said it */
    const uint64_t fetched = done->bytes - done->bytes_kept;
    const char *part = done->partial ? ", a part of the dataset" : "";
    hub_number_size(done->bytes, size);
    if (done->planned) {
        printf("%s: %s in %" PRIu64 " file%s would be downloaded%s\n  %s\n", cli_clean(done->id), size,
               done->files, done->files == 1 ? "" : "s", part, cli_clean(done->path));
        return;
    }
    hub_number_size(done->milliseconds ? fetched * 1000 / done->milliseconds : fetched, rate);
    assurance(d->cli, done, sure, sizeof sure);
    printf("%s: %s in %.1f s (%s/s), %s%s\n  %s\n", cli_clean(done->id), size,
           (double)done->milliseconds / 1000, rate, sure, part, cli_clean(done->path));
    if (load.size)
        printf("  in Python: %s\n", cli_clean(load.data));
    fflush(stdout);
}

static void add_failure(struct download *d, const char *id, int code, const struct minari_error *err)
{
    struct hub_json json = cli_json_item(&d->failed);
    hub_json_put_text(&json, "id", id);
    hub_json_put_int(&json, "exit", code);
    hub_json_put_text(&json, "status", minari_status_name(err->status));
    hub_json_put_text(&json, "detail", cli_clean(err->detail));
    hub_json_end_object(&json);
    if (hub_json_status(&json))
        d->failed_json = true;
}

struct partial_download {
    const char *id;
    unsigned percent;
};

static int on_partial(const struct minari_partial *p, void *user)
{
    struct partial_download *kept = user;
    if (strcmp(p->id, kept->id) == 0)
        kept->percent = p->percent;
    return 0;
}

/* After a failure in the middle: nothing is lost. */
static void report_partial(const char *root, const char *id)
{
    struct partial_download kept = {.id = id};
    if (!minari_partial_each(root, on_partial, &kept, NULL) && kept.percent)
        cli_hint("%u%% are downloaded: run the same command again to continue", kept.percent);
}

static bool may_ask(const struct cli *cli)
{
    return cli->err_terminal && isatty(STDIN_FILENO) && !cli->values[OPT_JSON] && !cli->values[OPT_QUIET];
}

static int one(struct download *d, const struct minari_download_options *options, const char *id)
{
    struct minari_error err;
    struct minari_dataset *dataset = NULL;
    char full[CLI_ID];
    int code = cli_connect(d->cli, NULL, &id);
    if (code)
        return code;
    d->cli->subject = id;
    snprintf(full, sizeof full, "%s", id);
    if (!minari_dataset_get(d->cli->client, id, options->loadable_by, &dataset, &err)) {
        snprintf(full, sizeof full, "%s", /* the newest version, or the newest one that release reads */
                 minari_dataset_summary(dataset)->id);
        if (strcmp(full, id) != 0)
            cli_note(d->cli, "%s: the newest version is '%s'", cli_clean(id), cli_clean(full));
        minari_dataset_free(dataset);
    } else if (!options->loadable_by) {
        full[0] = '\0';
    }
    if (*full && !minari_dataset_download(d->cli->client, full, options, &err))
        return CLI_OK;
    code = cli_report(d->cli, &err);
    if (cli_is_problem(&err, HUB_PROBLEM_DATASET_NOT_FOUND) && may_ask(d->cli) &&
        cli_find_new_name(d->cli, id, full) && cli_confirm("Download %s?", cli_clean(full)))
        return one(d, options, full);
    add_failure(d, id, code, &err);
    report_partial(options->root, *full ? full : id);
    return code;
}

/* ---- patterns and prefixes ---- */

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

static bool is_wanted(const struct minari_summary *s, const char *prefix, const char *pattern,
                      const struct minari_download_options *o)
{
    return (!prefix || strncmp(s->id, prefix, strlen(prefix)) == 0) &&
           (!pattern || fnmatch(pattern, s->id, 0) == 0) &&
           (o->any_format || hub_format_is_of(s->format, HUB_LIBRARY_MINARI));
}

/* An id may look like a pattern. */
static bool is_an_id(const struct minari_dataset_list *list, const char *pattern)
{
    for (size_t i = 0; i < minari_dataset_list_count(list); i++)
        if (strcmp(minari_dataset_list_at(list, i)->id, pattern) == 0)
            return true;
    return false;
}

/* What is downloaded. */
struct chosen {
    char **ids;
    uint32_t count, capacity;
    uint32_t matched; /* of them patterns and prefixes named so many, which have `bytes` */
    uint64_t bytes;
};

static void chosen_free(struct chosen *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        free(c->ids[i]);
    free(c->ids);
}

static int choose(struct chosen *c, const char *id)
{
    char *own = strdup(id);
    if (!own || hub_grow(&c->ids, c->count, &c->capacity, sizeof *c->ids, NULL)) {
        free(own);
        return cli_error(CLI_FAILED, "no memory for a list");
    }
    c->ids[c->count++] = own;
    return CLI_OK;
}

/* One that matches, if it is ready. */
static int choose_match(const struct cli *cli, const struct minari_download_options *o,
                        const struct minari_summary *s, struct chosen *c)
{
    const bool is_there = strcmp(s->status, "ready") == 0 || strcmp(s->status, "remote") == 0;
    if (!o->force && (!is_there || s->unloadable)) {
        cli_note(cli, "left out: %s is %s", cli_clean(s->id),
                 s->unloadable ? "not loadable" : cli_clean(s->status));
        return CLI_OK;
    }
    c->bytes += s->size;
    c->matched++;
    if (!cli->values[OPT_QUIET] && !cli->values[OPT_YES] && !o->dry_run)
        fprintf(stderr, "  %s\n", cli_clean(s->id));
    return choose(c, s->id);
}

/* The remote's datasets that match; `pattern` NULL: those of the prefix. */
static int choose_matches(struct cli *cli, const struct minari_download_options *o, const char *pattern,
                          struct chosen *c)
{
    struct minari_dataset_list *list = NULL;
    struct minari_error err;
    const uint32_t before = c->count;
    size_t wanted = 0;
    int code = cli_connect(cli, NULL, NULL);
    if (code)
        return code;
    const struct minari_dataset_query query = {
        .prefix = cli->values[OPT_PREFIX], .loadable_by = o->loadable_by, .latest = !cli->values[OPT_ALL]};
    if (minari_dataset_list_get(cli->client, &query, &list, &err))
        return cli_report(cli, &err);
    const bool is_id = pattern && is_an_id(list, pattern);
    if (is_id)
        code = choose(c, pattern);
    for (size_t i = 0; !is_id && !code && i < minari_dataset_list_count(list); i++) {
        const struct minari_summary *s = minari_dataset_list_at(list, i);
        if (!is_wanted(s, query.prefix, pattern, o))
            continue;
        wanted++;
        code = choose_match(cli, o, s, c);
    }
    if (!code && c->count == before)
        code = cli_error(CLI_NOT_FOUND, "nothing at %s matches '%s'%s", cli_remote_name(cli),
                         cli_clean(pattern ? pattern : query.prefix), wanted ? " and is ready" : "");
    minari_dataset_list_free(list);
    return code;
}

/* What patterns named is asked for, once. */
static bool may_download(const struct cli *cli, const struct minari_download_options *o,
                         const struct chosen *c)
{
    char size[HUB_SIZE_CHARS];
    const uint32_t others = c->count - c->matched;
    hub_number_size(c->bytes, size);
    if (!c->matched || cli->values[OPT_YES] || o->dry_run)
        return true;
    if (others)
        return cli_confirm("Download %u dataset%s, %s, and %u named in full, to '%s'?", c->matched,
                           c->matched == 1 ? "" : "s", size, others, cli_clean(o->root));
    return cli_confirm("Download %u dataset%s, %s, to '%s'?", c->matched, c->matched == 1 ? "" : "s", size,
                       cli_clean(o->root));
}

/* All of a remote, as it lies: its id is the last name of its address. */
static int whole(struct download *d, const struct minari_download_options *o)
{
    char name[512];
    const int code = cli_connect(d->cli, NULL, NULL);
    if (code)
        return code;
    if (d->cli->remote.kind == MINARI_REMOTE_HUB)
        return cli_error(CLI_USAGE, "a hub has datasets: name one with --as, by its ID");
    snprintf(name, sizeof name, "%s", strrchr(d->cli->remote.text, '/') + 1);
    if (d->cli->remote.kind == MINARI_REMOTE_HF) {
        const char *repo = strchr(d->cli->remote.text + strlen("hf://"), '/');
        if (!repo)
            return cli_error(CLI_USAGE, "name a repo: hf://ORG/REPO");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(repo + 1, "@"), repo + 1);
    }
    return one(d, o, name);
}

/* What the command line names, patterns among it. The others are tried where one matches nothing. */
static int choose_all(struct cli *cli, const struct minari_download_options *o, struct chosen *c)
{
    int code = cli->count ? CLI_OK : choose_matches(cli, o, NULL, c);
    for (int i = 0; i < cli->count && code != CLI_INTERRUPTED; i++) {
        const char *id = cli->arguments[i];
        const int this = is_pattern(id) && !strstr(id, "://") ? choose_matches(cli, o, id, c) : choose(c, id);
        code = this ? this : code;
    }
    return code;
}

static int all(struct download *d, const struct minari_download_options *o)
{
    struct cli *cli = d->cli;
    struct chosen chosen = {0};
    if (cli->values[OPT_AS] && (cli->count > 1 || cli->values[OPT_PREFIX]))
        return cli_error(CLI_USAGE, "--as names one dataset, or, without an ID, everything at the remote");
    if (cli->values[OPT_AS] && !cli->count)
        return whole(d, o);
    if (!cli->count && !cli->values[OPT_PREFIX])
        return cli_error(CLI_USAGE,
                         "name what to download: an ID, a pattern such as 'D4RL/door/*', or -p PREFIX");
    if (cli->count && cli->values[OPT_PREFIX])
        return cli_error(CLI_USAGE, "ids and --prefix cannot be combined");
    int code = choose_all(cli, o, &chosen);
    const bool may = code != CLI_INTERRUPTED && may_download(cli, o, &chosen);
    if (!may)
        code = cli_interrupted(NULL) ? CLI_INTERRUPTED : CLI_FAILED;
    for (uint32_t i = 0; may && i < chosen.count && code != CLI_INTERRUPTED; i++) {
        const int this = one(d, o, chosen.ids[i]);
        code = this ? this : code;
    }
    chosen_free(&chosen);
    return code;
}

int cli_download(struct cli *cli)
{
    struct download d = {.cli = cli, .json = HUB_BUF_INIT(256 * MIB), .failed = HUB_BUF_INIT(256 * MIB)};
    uint64_t connections = 0, digest_wait_ms = 0;
    const char *output = cli->values[OPT_OUTPUT];
    char folder[PATH_MAX];
    if (!cli_number(cli, OPT_CONNECTIONS, &connections) || !cli_number(cli, OPT_DIGEST_WAIT, &digest_wait_ms))
        return CLI_USAGE;
    snprintf(folder, sizeof folder, "%s", output ? output : cli_root());
    for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
        folder[n - 1] = '\0';
    cli->make_room = make_room;
    cli->room = &d;
    d.progress.terminal = cli->err_terminal;
    d.progress.quiet = cli->values[OPT_QUIET] || cli->values[OPT_NO_PROGRESS];
    struct minari_download_options options = MINARI_DOWNLOAD_OPTIONS_INIT;
    options.root = folder;
    options.loadable_by = cli->values[OPT_FOR];
    options.force = cli->values[OPT_FORCE];
    options.any_format = output;
    options.as = cli->values[OPT_AS];
    options.include = *cli->include ? cli->include : NULL;
    options.exclude = *cli->exclude ? cli->exclude : NULL;
    options.episodes = cli->values[OPT_EPISODES];
    options.where = cli->values[OPT_WHERE];
    options.split = cli->values[OPT_SPLIT];
    options.task = cli->values[OPT_TASK];
    options.dry_run = cli->values[OPT_DRY_RUN];
    options.alone = cli->values[OPT_ALONE];
    options.connections = (unsigned)connections;
    options.digest_wait_ms = (unsigned)digest_wait_ms;
    options.progress = on_progress;
    options.notice = on_notice;
    options.done = on_done;
    options.user = &d;
    const int code = all(&d, &options);
    if (cli->values[OPT_JSON] && code != CLI_USAGE)
        printf("{\"downloads\":[%s%s],\"failed\":[%s%s]}\n", d.json.size ? "\n" : "",
               d.json.size ? d.json.data : "", d.failed.size ? "\n" : "", d.failed.size ? d.failed.data : "");
    hub_buf_dispose(&d.json);
    hub_buf_dispose(&d.failed);
    cli->make_room = NULL;
    return d.failed_json ? cli_error(CLI_FAILED, "no memory for the report") : code;
}

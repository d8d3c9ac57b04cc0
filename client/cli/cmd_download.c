/* download: datasets to this machine. */
#include "client/cli/cli.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "storage/base/json.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

struct download {
    struct cli *cli;
    struct progress progress;
    struct hub_buf json; /* the items of --json */
    bool failed_json;
};

static int on_progress(const struct minari_progress *p, void *user)
{
    struct download *d = user;
    progress_show(&d->progress, p);
    return cli_interrupted(NULL);
}

static void on_notice(const char *line, void *user)
{
    struct download *d = user;
    if (d->progress.quiet)
        return;
    progress_clear(&d->progress);
    fprintf(stderr, "%s\n", cli_clean(line));
}

/* Nothing is called verified unless the hub gave a digest of every file. */
static void assurance(const struct minari_download *done, char *out, size_t room)
{
    if (done->assurance == MINARI_VERIFIED)
        snprintf(out, room, "verified (SHA-256 of %" PRIu64 " file%s)", done->files,
                 done->files == 1 ? "" : "s");
    else if (done->files_verified)
        snprintf(out, room, "SHA-256 of %" PRIu64 " of %" PRIu64 " files verified, size only of the rest",
                 done->files_verified, done->files);
    else
        snprintf(out, room, "size only: the hub has no digests yet");
}

static void add_json(struct download *d, const struct minari_download *done)
{
    struct hub_json json = hub_json_to(&d->json, NULL);
    if (d->json.size && hub_buf_add_text(&d->json, ",\n", NULL))
        d->failed_json = true;
    hub_json_object(&json);
    hub_json_put_text(&json, "id", done->id);
    hub_json_put_text(&json, "path", done->path);
    hub_json_put_text(&json, "revision", done->revision);
    hub_json_put_bool(&json, "skipped", done->skipped);
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
    progress_clear(&d->progress);
    if (d->cli->values[OPT_JSON]) {
        add_json(d, done);
        return;
    }
    if (done->skipped)
        return; /* the notice said it */
    const uint64_t fetched = done->bytes - done->bytes_kept;
    table_size(done->bytes, size);
    table_size(done->milliseconds ? fetched * 1000 / done->milliseconds : fetched, rate);
    assurance(done, sure, sizeof sure);
    printf("%s: %s in %.1f s (%s/s), %s\n  %s\n", cli_clean(done->id), size,
           (double)done->milliseconds / 1000, rate, sure, cli_clean(done->path));
    fflush(stdout);
}

static int one(struct download *d, const struct minari_download_options *options, const char *id)
{
    struct minari_error err;
    struct minari_dataset *ds = NULL;
    char full[1100];
    int code = cli_connect(d->cli, NULL, &id);
    if (code)
        return code;
    snprintf(full, sizeof full, "%s", id);
    if (options->loadable_by && !minari_dataset_get(d->cli->client, id, options->loadable_by, &ds, NULL)) {
        snprintf(full, sizeof full, "%s",
                 minari_dataset_summary(ds)->id); /* the newest version that release reads */
        minari_dataset_free(ds);
    }
    if (!minari_dataset_download(d->cli->client, full, options, &err))
        return CLI_OK;
    progress_clear(&d->progress);
    code = cli_report(d->cli, &err);
    if (err.status == MINARI_NOT_FOUND)
        cli_offer_new_name(d->cli, id);
    if (code == CLI_INTERRUPTED)
        fprintf(stderr, "  what came is kept: the same command goes on from there\n");
    return code;
}

int cli_download(struct cli *cli)
{
    struct download d = {.cli = cli, .json = HUB_BUF_INIT(256 * MIB)};
    uint64_t connections = 0, digest_wait_s = 0;
    const char *output = cli->values[OPT_OUTPUT];
    char folder[PATH_MAX];
    if (!cli_number(cli, OPT_CONNECTIONS, 1, 32, 4, &connections) ||
        !cli_number(cli, OPT_DIGEST_WAIT, 1, 86400, 0, &digest_wait_s))
        return CLI_USAGE;
    snprintf(folder, sizeof folder, "%s", output ? output : cli_root());
    for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
        folder[n - 1] = '\0';
    d.progress.terminal = cli->err_terminal;
    d.progress.quiet = cli->values[OPT_QUIET];
    const struct minari_download_options options = {.root = folder,
                                                    .loadable_by = cli->values[OPT_FOR],
                                                    .force = cli->values[OPT_FORCE],
                                                    .any_format = output,
                                                    .alone = cli->values[OPT_ALONE],
                                                    .connections = (unsigned)connections,
                                                    .digest_wait_ms = (unsigned)digest_wait_s * 1000,
                                                    .progress = on_progress,
                                                    .notice = on_notice,
                                                    .done = on_done,
                                                    .user = &d};
    int code = CLI_OK;
    for (int i = 0; i < cli->count && code != CLI_INTERRUPTED; i++) {
        const int this = one(&d, &options, cli->arguments[i]);
        code = this ? this : code; /* the others are still tried */
    }
    if (cli->values[OPT_JSON])
        printf("{\"downloads\":[%s%s]}\n", d.json.size ? "\n" : "", d.json.size ? d.json.data : "");
    hub_buf_dispose(&d.json);
    return d.failed_json ? cli_error(CLI_FAILED, "no memory for the report") : code;
}

/* verify: a dataset on disk against the record of its download, or against a hub. */
#include "client/cli/cli.h"
#include "storage/text/json.h"
#include "storage/transfer/record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct verify {
    const struct cli *cli;
    struct hub_buf json;
};

static const char *const names[] = {
    [MINARI_FILE_VERIFIED] = "verified",   [MINARI_FILE_UNCHANGED] = "unchanged",
    [MINARI_FILE_SIZE_ONLY] = "size-only", [MINARI_FILE_MISSING] = "missing",
    [MINARI_FILE_CHANGED] = "changed",     [MINARI_FILE_EXTRA] = "extra",
};

static int on_file(const char *path, enum minari_file_state state, void *user)
{
    struct verify *v = user;
    if (v->cli->values[OPT_JSON]) {
        struct hub_json json = cli_json_item(&v->json);
        hub_json_put_text(&json, "path", path);
        hub_json_put_text(&json, "state", names[state]);
        hub_json_end_object(&json);
        if (hub_json_status(&json))
            return 1;
    } else if (state >= MINARI_FILE_MISSING) {
        printf("%s: %s\n", names[state], cli_clean(path));
    }
    return cli_interrupted(NULL);
}

/* A folder as it is, else the dataset of that id. */
static void find(const char *argument, char path[PATH_MAX])
{
    char record[PATH_MAX], folder[CLI_FOLDER];
    snprintf(path, PATH_MAX, "%.1000s/%.1100s", cli_root(), cli_folder(argument, folder));
    snprintf(record, sizeof record, "%.4000s/.minari-hub.json", argument);
    struct stat st;
    const bool is_folder = stat(argument, &st) == 0 && S_ISDIR(st.st_mode);
    if (is_folder &&
        (access(record, F_OK) == 0 || stat(path, &st) != 0 || argument[0] == '/' || argument[0] == '.'))
        snprintf(path, PATH_MAX, "%s", argument);
}

/* The id to ask a hub about: what the record says, the argument, or, for a folder without a record, the
 * longest end of its path that the hub knows. An exit code. */
static int find_id(const struct cli *cli, const char *directory, char id[1100])
{
    enum { MOST_SEGMENTS = 5 };
    const char *ends[MOST_SEGMENTS], *argument = cli->arguments[0];
    char whole[PATH_MAX];
    size_t n = 0;
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    const bool recorded = !hub_record_read(directory, &record, NULL) && *record.id;
    snprintf(id, 1100, "%.1099s", recorded ? record.id : argument);
    if (recorded)
        return CLI_OK;
    if (!cli->client || !realpath(directory, whole) || strcmp(directory, argument) != 0)
        return CLI_OK;
    for (char *slash = whole + strlen(whole); n < MOST_SEGMENTS && slash > whole;) {
        slash = memrchr(whole, '/', (size_t)(slash - whole));
        if (!slash)
            break;
        ends[n++] = slash + 1;
    }
    for (; n > 0; n--) {
        struct minari_dataset *dataset = NULL;
        struct minari_error err;
        if (!minari_dataset_get(cli->client, ends[n - 1], NULL, &dataset, &err)) {
            snprintf(id, 1100, "%s", minari_dataset_summary(dataset)->id);
            minari_dataset_free(dataset);
            return CLI_OK;
        }
        if (err.status != MINARI_NOT_FOUND && err.status != MINARI_INVALID)
            return cli_report(cli, &err);
    }
    return cli_error(
        CLI_NOT_FOUND,
        "'%s' has no record of a download, and its path does not end in the ID of a dataset of the remote",
        cli_clean(argument));
}

static void summary(const struct cli *cli, const struct minari_verify_result *r, const char *directory)
{
    const char *with = !r->against_hub                         ? "the record of its download"
                       : cli->remote.kind == MINARI_REMOTE_HUB ? "the hub"
                                                               : cli->remote.text;
    if (r->verified == r->files)
        printf("%s: verified, %" PRIu64
               " file%s agree%s with the digests of the remote (compared with %s, revision %s)\n",
               directory, r->files, r->files == 1 ? "" : "s", r->files == 1 ? "s" : "", with, r->revision);
    else
        printf("%s: nothing missing or changed, but not all digests are known: %" PRIu64 " verified, %" PRIu64
               " as downloaded, %" PRIu64 " by size only (compared with %s, revision %s)\n",
               directory, r->verified, r->unchanged, r->size_only, with, r->revision);
    if (r->extra)
        printf("  %" PRIu64 " files do not belong to it\n", r->extra);
}

static void print_json(const struct verify *v, const struct minari_verify_result *r, const char *directory,
                       bool good)
{
    printf("{\"path\":");
    json_t *text = json_string(directory);
    json_dumpf(text, stdout, JSON_ENCODE_ANY);
    json_decref(text);
    printf(",\"good\":%s,\"against\":\"%s\",\"revision\":\"%s\",\"verified\":%" PRIu64
           ",\"unchanged\":%" PRIu64 ",\"size_only\":%" PRIu64 ",\"missing\":%" PRIu64 ",\"changed\":%" PRIu64
           ",\"extra\":%" PRIu64 ",\"files\":[%s]}\n",
           good ? "true" : "false", r->against_hub ? "hub" : "record", r->revision, r->verified, r->unchanged,
           r->size_only, r->missing, r->changed, r->extra, v->json.size ? v->json.data : "");
}

int cli_verify(struct cli *cli)
{
    struct verify v = {.cli = cli, .json = HUB_BUF_INIT(1 * GIB)};
    struct minari_verify_result result;
    struct minari_error err;
    char path[PATH_MAX], id[1100];
    struct stat st;
    find(cli->arguments[0], path);
    if (stat(path, &st))
        return cli_error(CLI_NOT_FOUND, "'%s' is neither a folder nor a dataset in '%s'",
                         cli_clean(cli->arguments[0]), cli_clean(cli_root()));
    int code = cli->values[OPT_REMOTE] ? cli_connect(cli, NULL, NULL) : CLI_OK;
    if (!code)
        code = find_id(cli, path, id);
    if (code)
        return code;
    cli->subject = id;
    const enum minari_status got = minari_dataset_verify(cli->client, id, path, on_file, &v, &result, &err);
    code = got ? cli_report(cli, &err) : CLI_OK;
    if (cli->values[OPT_JSON] && (!got || got == MINARI_VERIFY))
        print_json(&v, &result, path, !got);
    else if (!got && !cli->values[OPT_QUIET])
        summary(cli, &result, cli_clean(path));
    hub_buf_dispose(&v.json);
    return code;
}

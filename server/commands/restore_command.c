/* `minari-hub restore`: see backup_command.h. */
#include "server/commands/backup_command.h"

#include "server/commands/admin.h"
#include "server/commands/backup_show.h"
#include "server/commands/command.h"
#include "storage/backup/restore.h"
#include "storage/text/number.h"
#include "storage/text/time.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SHOWN_OBJECTS = 3 }; /* of each repo */

struct restore_command {
    const char *folder;
    bool json;
    struct hub_backup_show show;
};

const struct hub_usage_option hub_restore_rows[HUB_RESTORE_OPTIONS] = {
    {0, "json", NULL, NULL, "print JSON", HUB_OPTION_AT(TEXT, struct restore_command, json)},
};

static enum hub_status take_folder(void *user, const char *word, struct hub_error *err)
{
    return hub_backup_take_folder(&((struct restore_command *)user)->folder, word, err);
}

static enum hub_status check(void *user, struct hub_error *err)
{
    const struct restore_command *c = user;
    return c->folder ? HUB_OK
                     : hub_fail(err, HUB_INVALID, "restore: name the folder that `minari-hub backup` wrote");
}

/* Without --root no default counts: what the backup needs is listed instead. */
static enum hub_status restore(struct restore_command *c, struct hub_config *config,
                               struct hub_restore_report *report, struct hub_error *err)
{
    char *state;
    HUB_TRY(hub_config_state(config, &state, err));
    free(config->state);
    config->state = state;
    if (config->root_texts.count)
        HUB_TRY(hub_config_finish(config, err));
    const struct hub_restore_options options = {.folder = c->folder,
                                                .state = config->state,
                                                .roots = &config->roots,
                                                .tick = hub_backup_show_tick,
                                                .user = &c->show};
    return hub_restore(&options, report, err);
}

/* ---- what came of it ---- */

/* How to come by the files of one that is missing. */
static void print_remedy(const struct hub_backup_set *set)
{
    if (set->kept)
        printf("    the hub goes on without it: nobody reads it by its commit any more\n");
    else if (*set->remote)
        printf("    it came from %s (%s): its mirror fetches it again\n", set->remote, set->remote_id);
    else
        printf("    copy its files to %s below the root, or push it again\n",
               *set->path ? set->path : set->id);
}

static void print_object(const struct hub_missing_object *object)
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_hex(object->sha256, HUB_SHA256_BYTES, hex);
    printf("    %s%s%s\n", hex, *object->source ? ", the same file as in " : "", object->source);
}

/* Which commits of a repo are lost, and what is to do. */
static void print_repo(const struct hub_restored_repo *repo)
{
    const uint32_t missing = repo->missing_count, shown = HUB_MIN(missing, SHOWN_OBJECTS);
    printf("  repo %s: %u object%s missing: %s\n", repo->id, missing, missing == 1 ? " is" : "s are",
           repo->why);
    for (uint32_t i = 0; i < shown; i++)
        print_object(&repo->missing[i]);
    if (shown < missing)
        printf("    and %u more (--json lists them)\n", missing - shown);
    if (repo->all)
        puts("    the repo is left out: clients see the dataset of its name, and their next push begins "
             "with it");
    else
        printf("    %u of its commits %s left out%s%s\n", repo->commits, repo->commits == 1 ? "is" : "are",
               *repo->refs ? ", and with them " : "", repo->refs);
}

static void print_repos(const struct hub_restore_report *report)
{
    const uint64_t objects = report->objects;
    if (!objects)
        return;
    printf("%" PRIu64 " object%s of repos: %" PRIu64 " put in place, %" PRIu64
           " linked to files of datasets, %" PRIu64 " there already\n",
           objects, hub_plural(objects), report->objects_placed, report->objects_linked,
           report->objects_there);
    for (uint32_t i = 0; i < report->repo_count; i++)
        print_repo(&report->repos[i]);
    if (report->repo_count)
        puts("  to have them: copy .minari-hub/objects of the old root into the new one, or take a backup "
             "with --data, and restore again into an empty state directory; or push again");
}

static void print_report(const struct restore_command *c, const struct hub_config *config,
                         const struct hub_restore_report *report)
{
    char bytes[HUB_SIZE_CHARS], made[HUB_TIME_CHARS], label[HUB_BACKUP_LABEL];
    const struct hub_backup *backup = &report->backup;
    hub_number_size(report->bytes, bytes);
    hub_time_rfc3339(backup->made_ms / 1000, made);
    printf("%s: hub.db as it was at %s\n", config->state, made);
    printf("%u dataset%s put in place (%" PRIu64 " file%s, %s), %u %s there already, %u %s missing\n",
           report->placed, hub_plural(report->placed), report->files, hub_plural(report->files), bytes,
           report->there, report->there == 1 ? "was" : "were", report->missing,
           report->missing == 1 ? "is" : "are");
    if (report->kept)
        printf("%u earlier revision%s kept\n", report->kept, report->kept == 1 ? " is" : "s are");
    for (uint32_t i = 0; i < backup->set_count; i++)
        if (report->results[i] == HUB_RESTORE_MISSING) {
            printf("  %s: %s\n", hub_backup_set_label(&backup->sets[i], label), backup->sets[i].problem);
            print_remedy(&backup->sets[i]);
        }
    print_repos(report);
    printf("its configuration is %s/%s\n", c->folder, backup->config.name);
}

static void put_missing(struct hub_json *json, const struct hub_restore_report *report)
{
    char label[HUB_BACKUP_LABEL];
    hub_json_put_array(json, "missing");
    for (uint32_t i = 0; i < report->backup.set_count; i++) {
        const struct hub_backup_set *set = &report->backup.sets[i];
        if (report->results[i] != HUB_RESTORE_MISSING)
            continue;
        hub_json_object(json);
        hub_json_put_text(json, "dataset", hub_backup_set_label(set, label));
        hub_json_put_text(json, "why", set->problem);
        hub_json_put_text(json, "remote", *set->remote ? set->remote : NULL);
        hub_json_put_text(json, "remote_id", *set->remote_id ? set->remote_id : NULL);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

static void put_repos(struct hub_json *json, const struct hub_restore_report *report)
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_json_put_array(json, "repos_missing");
    for (uint32_t i = 0; i < report->repo_count; i++) {
        const struct hub_restored_repo *repo = &report->repos[i];
        hub_json_object(json);
        hub_json_put_text(json, "repo", repo->id);
        hub_json_put_text(json, "why", repo->why);
        hub_json_put_bool(json, "all", repo->all);
        hub_json_put_uint(json, "commits", repo->commits);
        hub_json_put_text(json, "refs", repo->refs);
        hub_json_put_array(json, "objects");
        for (uint32_t k = 0; k < repo->missing_count; k++) {
            const struct hub_missing_object *object = &repo->missing[k];
            hub_hex(object->sha256, HUB_SHA256_BYTES, hex);
            hub_json_object(json);
            hub_json_put_text(json, "sha256", hex);
            hub_json_put_text(json, "source", *object->source ? object->source : NULL);
            hub_json_end_object(json);
        }
        hub_json_end_array(json);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

static enum hub_status print_json(const struct restore_command *c, const struct hub_config *config,
                                  const struct hub_restore_report *report, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(GIB);
    struct hub_json json = hub_json_to(&text, err);
    char made[HUB_TIME_CHARS];
    hub_time_rfc3339_ms(report->backup.made_ms, made);
    hub_json_object(&json);
    hub_json_put_text(&json, "folder", c->folder);
    hub_json_put_text(&json, "state", config->state);
    hub_json_put_text(&json, "made", made);
    hub_json_put_text(&json, "config", report->backup.config.name);
    hub_json_put_uint(&json, "placed", report->placed);
    hub_json_put_uint(&json, "there", report->there);
    hub_json_put_uint(&json, "kept", report->kept);
    hub_json_put_uint(&json, "files", report->files);
    hub_json_put_uint(&json, "bytes", report->bytes);
    hub_json_put_uint(&json, "objects", report->objects);
    hub_json_put_uint(&json, "objects_placed", report->objects_placed);
    hub_json_put_uint(&json, "objects_linked", report->objects_linked);
    hub_json_put_uint(&json, "objects_there", report->objects_there);
    put_missing(&json, report);
    put_repos(&json, report);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    puts(text.data);
    return HUB_OK;
}

static int run(void *user, struct hub_config *config)
{
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report report = {0};
    struct restore_command *c = user;
    struct hub_error err = {0};
    hub_backup_show_begin(&c->show);
    const enum hub_status st = restore(c, config, &report, &err);
    hub_backup_show_clear(&c->show);
    if (st) {
        fprintf(stderr, "minari-hub: %s\n", err.detail);
        return hub_command_code(st);
    }
    if (!c->json)
        print_report(c, config, &report);
    else if (print_json(c, config, &report, &err))
        return HUB_EXIT_FAILED;
    const bool lacks = report.missing || report.repo_count;
    return fflush(stdout) ? HUB_EXIT_FAILED : lacks && report.backup.data ? HUB_EXIT_CORRUPT : 0;
}

int hub_restore_command(char **argv)
{
    struct restore_command c = {.show = {.verb = "restoring"}};
    return hub_command_run(&(struct hub_command){.options = HUB_OPTIONS(hub_restore_rows),
                                                 .word = take_folder,
                                                 .check = check,
                                                 .run = run,
                                                 .user = &c},
                           argv);
}

/* `minari-hub backup`: see backup_command.h. It reads the state directory of the hub that runs, and asks it
 * nothing. */
#include "server/commands/backup_command.h"

#include "server/commands/admin.h"
#include "server/commands/backup_show.h"
#include "server/commands/command.h"
#include "server/commands/control.h"
#include "storage/text/number.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

struct backup_command {
    const char *folder;
    bool data, prune, json;
    struct hub_backup_show show;
};

#define AT(member) HUB_OPTION_AT(TEXT, struct backup_command, member)
const struct hub_usage_option hub_backup_rows[HUB_BACKUP_OPTIONS] = {
    {0, "data", NULL, NULL, "also the files of the datasets; those that DIR has already are not copied again",
     AT(data)},
    {0, "prune", NULL, NULL, "with --data: remove files that only earlier backups in DIR needed", AT(prune)},
    {0, "json", NULL, NULL, "print JSON", AT(json)},
};

static enum hub_status take_folder(void *user, const char *word, struct hub_error *err)
{
    return hub_backup_take_folder(&((struct backup_command *)user)->folder, word, err);
}

static enum hub_status check(void *user, struct hub_error *err)
{
    const struct backup_command *c = user;
    if (!c->folder)
        return hub_fail(err, HUB_INVALID,
                        "backup: name the folder that it is written to, such as /backup/hub");
    return c->prune && !c->data ? hub_fail(err, HUB_INVALID, "backup: --prune is for backups with --data")
                                : HUB_OK;
}

/* ---- what the hub serves ---- */

/* The settings of the hub of that state directory; those of this command where it left none. */
static enum hub_status read_settings(const struct hub_config *config, const char *state, struct hub_buf *out,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *path = NULL;
    HUB_CLEANUP(hub_freep) char *text = NULL;
    size_t size = 0;
    if (asprintf(&path, "%s/" HUB_SERVING_CONF, state) < 0)
        return hub_no_memory(err);
    if (hub_fs_read(AT_FDCWD, path, out, NULL) == HUB_OK)
        return HUB_OK;
    out->size = 0;
    FILE *print = open_memstream(&text, &size);
    HUB_TRY(hub_allocated(print, err));
    hub_config_print(config, print);
    HUB_TRY(hub_allocated(fclose(print) == 0, err));
    return hub_buf_add(out, text, size, err);
}

/* Roots that nobody names are those of the settings. */
static enum hub_status take_roots(struct hub_config *config, const struct hub_buf *settings,
                                  struct hub_error *err)
{
    static const char word[] = "root = ";
    for (const char *line = settings->data; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '[')
            return HUB_OK; /* sections have rules alone */
        if (strncmp(line, word, sizeof word - 1) != 0)
            continue;
        const char *value = line + sizeof word - 1;
        if (config->root_texts.count == HUB_MAX_ROOTS)
            return hub_fail(err, HUB_TOO_BIG, "more than %d roots", HUB_MAX_ROOTS);
        char *text = strndup(value, strcspn(value, "\n"));
        HUB_TRY(hub_allocated(text, err));
        config->root_texts.items[config->root_texts.count++] = text;
    }
    return HUB_OK;
}

static enum hub_status prepare(struct hub_config *config, struct hub_buf *settings, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *state = NULL, *database = NULL;
    HUB_TRY(hub_control_state(config, &state, err));
    if (asprintf(&database, "%s/hub.db", state) < 0)
        return hub_no_memory(err);
    if (access(database, F_OK))
        return hub_fail(err, HUB_INVALID,
                        "there is no hub.db in %s: name the state directory of the hub with --state DIR",
                        state);
    HUB_TRY(read_settings(config, state, settings, err));
    free(config->state);
    config->state = state;
    state = NULL;
    if (!config->root_texts.count)
        HUB_TRY(take_roots(config, settings, err));
    return hub_config_finish(config, err);
}

/* ---- what came of it ---- */

static void put_problems(struct hub_json *json, const struct hub_backup_report *report)
{
    char label[HUB_BACKUP_LABEL];
    hub_json_put_array(json, "problems");
    for (uint32_t i = 0; i < report->backup.set_count; i++) {
        const struct hub_backup_set *set = &report->backup.sets[i];
        if (!*set->problem)
            continue;
        hub_json_object(json);
        hub_json_put_text(json, "dataset", hub_backup_set_label(set, label));
        hub_json_put_text(json, "problem", set->problem);
        hub_json_end_object(json);
    }
    for (uint32_t i = 0; i < report->backup.repo_count; i++) {
        const struct hub_backup_repo *repo = &report->backup.repos[i];
        if (!*repo->problem)
            continue;
        hub_json_object(json);
        hub_json_put_text(json, "repo", repo->id);
        hub_json_put_text(json, "problem", repo->problem);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

static enum hub_status print_json(const struct backup_command *c, const struct hub_backup_report *report,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(GIB);
    struct hub_json json = hub_json_to(&text, err);
    hub_json_object(&json);
    hub_json_put_text(&json, "folder", c->folder);
    hub_json_put_bool(&json, "data", c->data);
    hub_json_put_uint(&json, "datasets", report->datasets);
    hub_json_put_uint(&json, "kept", report->kept);
    hub_json_put_uint(&json, "files", report->files);
    hub_json_put_uint(&json, "bytes", report->bytes);
    hub_json_put_uint(&json, "repos", report->backup.repo_count);
    hub_json_put_uint(&json, "objects", report->objects);
    hub_json_put_uint(&json, "new_files", report->new_files);
    hub_json_put_uint(&json, "new_bytes", report->new_bytes);
    hub_json_put_uint(&json, "pruned_files", report->pruned);
    put_problems(&json, report);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    puts(text.data);
    return HUB_OK;
}

static void print_problems(const struct hub_backup_report *report)
{
    char label[HUB_BACKUP_LABEL];
    for (uint32_t i = 0; i < report->backup.set_count; i++) {
        const struct hub_backup_set *set = &report->backup.sets[i];
        if (*set->problem)
            fprintf(stderr, "minari-hub: the backup does not have all of %s: %s\n",
                    hub_backup_set_label(set, label), set->problem);
    }
    for (uint32_t i = 0; i < report->backup.repo_count; i++)
        if (*report->backup.repos[i].problem)
            fprintf(stderr, "minari-hub: the backup does not have all commits of the repo %s: %s\n",
                    report->backup.repos[i].id, report->backup.repos[i].problem);
}

static void print_report(const struct backup_command *c, const struct hub_backup_report *report)
{
    char bytes[HUB_SIZE_CHARS], fresh[HUB_SIZE_CHARS];
    const uint32_t sets = report->datasets, repos = report->backup.repo_count;
    hub_number_size(report->bytes, bytes);
    hub_number_size(report->new_bytes, fresh);
    printf("%s: hub.db, the configuration and a list of %u dataset%s (%" PRIu64 " file%s, %s)\n", c->folder,
           sets, hub_plural(sets), report->files, hub_plural(report->files), bytes);
    if (report->kept)
        printf("%u earlier revision%s among them\n", report->kept, hub_plural(report->kept));
    if (repos)
        printf("%u repo%s with branches, tags and commits (%" PRIu64 " object%s)\n", repos, hub_plural(repos),
               report->objects, hub_plural(report->objects));
    if (c->data)
        printf("%" PRIu64 " file%s (%s) copied, the others were there\n", report->new_files,
               hub_plural(report->new_files), fresh);
    else if (sets || repos)
        puts("their files are not in it: --data copies them as well");
    if (report->pruned)
        printf("%" PRIu64 " file%s of earlier backups removed\n", report->pruned, hub_plural(report->pruned));
}

static int run(void *user, struct hub_config *config)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf settings = HUB_BUF_INIT(16 * MIB);
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    struct backup_command *c = user;
    struct hub_error err = {0};
    hub_backup_show_begin(&c->show);
    enum hub_status st = prepare(config, &settings, &err);
    const struct hub_backup_options options = {.state = config->state,
                                               .folder = c->folder,
                                               .roots = &config->roots,
                                               .config = hub_buf_view(&settings),
                                               .data = c->data,
                                               .prune = c->prune,
                                               .tick = hub_backup_show_tick,
                                               .user = &c->show};
    if (!st)
        st = hub_backup_take(&options, &report, &err);
    hub_backup_show_clear(&c->show);
    print_problems(&report);
    if (st) {
        fprintf(stderr, "minari-hub: %s\n", err.detail);
        return hub_command_code(st);
    }
    if (!c->json)
        print_report(c, &report);
    else if (print_json(c, &report, &err))
        return HUB_EXIT_FAILED;
    return fflush(stdout) ? HUB_EXIT_FAILED : report.problems ? HUB_EXIT_CORRUPT : 0;
}

int hub_backup_command(char **argv)
{
    struct backup_command c = {.show = {.verb = "backing up"}};
    return hub_command_run(&(struct hub_command){.options = HUB_OPTIONS(hub_backup_rows),
                                                 .word = take_folder,
                                                 .check = check,
                                                 .run = run,
                                                 .user = &c},
                           argv);
}

/* episodes: the episodes of a dataset on a hub, for people, or as a table for programs. */
#include "client/cli/output.h"
#include "client/cli/own_hub.h"
#include "client/cli/table.h"
#include "client/cli/waiting.h"
#include "storage/text/number.h"

#include <inttypes.h>
#include <math.h>

struct episodes {
    struct cli *cli;
    struct text_table table;
    uint64_t count;
};

static int on_episode(const struct minari_episode *e, void *user)
{
    struct episodes *s = user;
    if (s->cli->values[OPT_JSON]) {
        printf("%s", s->count++ ? ",\n" : "{\"items\":[\n"); /* nothing before the hub answers */
        cli_put(s->cli, e->json, strlen(e->json));
        return cli_interrupted(NULL);
    }
    char number[24], steps[24], total[HUB_NUMBER_CHARS + 1] = "";
    snprintf(number, sizeof number, "%" PRIu64, e->number);
    snprintf(steps, sizeof steps, "%" PRIu64, e->steps);
    if (e->has_return && isfinite(e->total_return))
        total[hub_number_double(e->total_return, total)] = '\0';
    else if (e->has_return)
        snprintf(total, sizeof total, "%s",
                 isnan(e->total_return) ? "NaN"
                 : e->total_return > 0  ? "inf"
                                        : "-inf");
    const char *row[] = {number, steps, total, e->seed, e->task};
    s->count++;
    return !table_add(&s->table, row) || cli_interrupted(NULL);
}

/* ---- as a table of all of them ---- */

#define COLUMNS "number,steps,return,terminated,truncated,success,task,seed"

struct episodes_args {
    const char *id;
    struct minari_table_query query;
};

static enum minari_status fetch(struct cli *cli, minari_sink_fn sink, void *sink_user,
                                struct minari_rows_info *info, void *user, struct minari_error *err)
{
    const struct episodes_args *args = user;
    return minari_episode_table_get(cli->client, args->id, &args->query, sink, sink_user, info, err);
}

static bool wants_table(const struct cli *cli)
{
    return cli->values[OPT_CSV] || cli->values[OPT_COLUMNS] || cli->values[OPT_FORMAT] ||
           cli->values[OPT_OUTPUT];
}

static int save_table(struct cli *cli, uint64_t limit)
{
    const char *path = output_path(cli);
    const char *own = cli->values[OPT_CSV] ? "csv" : cli->values[OPT_JSON] ? "json" : path ? NULL : "csv";
    const char *format = output_format(cli, HUB_TABLE_VALUES, own);
    const bool text = format && output_is_text(format);
    struct episodes_args args = {
        .id = cli->arguments[0],
        .query = {.size = sizeof args.query,
                  .columns = cli->values[OPT_COLUMNS] ? cli->values[OPT_COLUMNS] : COLUMNS,
                  .where = cli->values[OPT_WHERE],
                  .sort = cli->values[OPT_SORT],
                  .split = cli->values[OPT_SPLIT],
                  .task = cli->values[OPT_TASK],
                  .format = format,
                  .limit = limit}};
    if (!format)
        return CLI_USAGE;
    if (cli->values[OPT_CSV] && strcmp(format, "csv") != 0)
        return cli_error(
            CLI_USAGE, "--csv contradicts %s, which --format or the name given to -o means: give one of them",
            format);
    if (!output_fits(cli, path, text, format))
        return CLI_USAGE;
    const int code = own_hub_connect(cli, &args.id);
    cli->subject = code ? cli->subject : args.id;
    return code ? code : output_save(cli, path, text, fetch, &args);
}

int cli_episodes(struct cli *cli)
{
    struct episodes s = {
        .cli = cli,
        .table = {.columns =
                      {{"Episode", true}, {"Steps", true}, {"Return", true}, {"Seed", true}, {"Task", false}},
                  .count = 5}};
    const char *id = cli->arguments[0];
    uint64_t limit = 0;
    struct minari_error err;
    char title[2400], caption[64];
    if (!cli_number(cli, OPT_LIMIT, &limit))
        return CLI_USAGE;
    if (wants_table(cli))
        return save_table(cli, limit);
    int code = own_hub_connect(cli, &id);
    if (code)
        return code;
    const struct minari_episode_query query = {
        .size = sizeof query,
        .sort = cli->values[OPT_SORT],
        .split = cli->values[OPT_SPLIT],
        .task = cli->values[OPT_TASK],
        .limit = limit,
        .where = cli->values[OPT_WHERE],
    };
    enum minari_status st;
    do
        st = minari_episodes_each(cli->client, id, &query, on_episode, &s, &err);
    while (st && !s.count && waiting_goes_on(cli, &err, own_hub_measures()));
    waiting_clear();
    if (cli->values[OPT_JSON] && !st)
        puts(s.count ? "\n]}" : "{\"items\":[]}");
    if (st) {
        code = cli_report(cli, &err);
    } else if (!cli->values[OPT_JSON]) {
        snprintf(title, sizeof title, "Episodes of %s in %s", cli_clean(id), cli_remote_name(cli));
        snprintf(caption, sizeof caption, "Number of episodes: %" PRIu64, s.count);
        s.table.title = title;
        s.table.caption = caption;
        table_print(&s.table, stdout, cli->terminal, cli->colour);
    }
    table_dispose(&s.table);
    return code;
}

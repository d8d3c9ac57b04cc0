/* rows: rows of all episodes of a dataset, one after another. */
#include "client/cli/output.h"
#include "client/cli/own_hub.h"
#include "client/cli/slice.h"

struct rows_args {
    const char *id;
    struct minari_all_rows_query query;
};

static enum minari_status fetch(struct cli *cli, minari_sink_fn sink, void *sink_user,
                                struct minari_rows_info *info, void *user, struct minari_error *err)
{
    const struct rows_args *args = user;
    return minari_all_rows_get(cli->client, args->id, &args->query, sink, sink_user, info, err);
}

/* --start, --stop and --step. False after an error message. */
static bool steps_of(const struct cli *cli, struct minari_slice *out)
{
    const char *start = cli->values[OPT_START], *stop = cli->values[OPT_STOP], *step = cli->values[OPT_STEP];
    char text[80]; /* as Python writes a slice */
    const int n =
        snprintf(text, sizeof text, "%s:%s:%s", start ? start : "", stop ? stop : "", step ? step : "");
    if (n < (int)sizeof text && slice_parse(text, out) && (!out->has_step || out->step > 0))
        return true;
    cli_error(CLI_USAGE, "--start and --stop must be whole numbers, --step one from 1");
    return false;
}

int cli_rows(struct cli *cli)
{
    const char *path = output_path(cli), *format = output_format(cli, HUB_TABLE_ROWS, path ? NULL : "csv");
    struct rows_args args = {.id = cli->arguments[0],
                             .query = {.size = sizeof args.query,
                                       .fields = cli->arguments + 1,
                                       .field_count = (size_t)cli->count - 1,
                                       .where = cli->values[OPT_WHERE],
                                       .sort = cli->values[OPT_SORT],
                                       .split = cli->values[OPT_SPLIT],
                                       .task = cli->values[OPT_TASK],
                                       .layout = cli->values[OPT_LAYOUT],
                                       .seed = cli->values[OPT_SEED],
                                       .sentinel = cli->values[OPT_SENTINEL],
                                       .step_where = cli->values[OPT_STEP_WHERE],
                                       .valid = cli->values[OPT_VALID],
                                       .format = format}};
    const bool text = format && output_is_text(format);
    struct minari_all_rows_query *query = &args.query;
    if (!format || !output_fits(cli, path, text, format) ||
        !cli_part(cli, &query->partition, &query->partition_seed, &query->part) ||
        !steps_of(cli, &query->steps) || !cli_number(cli, OPT_RANDOM, &query->random))
        return CLI_USAGE;
    if (!query->random != !query->seed)
        return cli_error(CLI_USAGE, query->seed
                                        ? "--seed needs --random N"
                                        : "--random needs --seed N, which draws the same episodes again");
    const int code = own_hub_connect(cli, &args.id);
    cli->subject = code ? cli->subject : args.id;
    return code ? code : output_save(cli, path, text, fetch, &args);
}

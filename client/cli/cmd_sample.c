/* sample: windows of steps drawn at random. */
#include "client/cli/output.h"
#include "client/cli/own_hub.h"

struct sample_args {
    const char *id;
    struct minari_sample_query query;
};

static enum minari_status fetch(struct cli *cli, minari_sink_fn sink, void *sink_user,
                                struct minari_rows_info *info, void *user, struct minari_error *err)
{
    const struct sample_args *args = user;
    return minari_sample_get(cli->client, args->id, &args->query, sink, sink_user, info, err);
}

int cli_sample(struct cli *cli)
{
    const char *path = output_path(cli), *format = output_format(cli, HUB_TABLE_WINDOWS, path ? NULL : "npz");
    struct sample_args args = {.id = cli->arguments[0],
                               .query = {.size = sizeof args.query,
                                         .fields = cli->arguments + 1,
                                         .field_count = (size_t)cli->count - 1,
                                         .where = cli->values[OPT_WHERE],
                                         .split = cli->values[OPT_SPLIT],
                                         .task = cli->values[OPT_TASK],
                                         .seed = cli->values[OPT_SEED],
                                         .pad = cli->values[OPT_PAD],
                                         .weight = cli->values[OPT_WEIGHT],
                                         .final_row = cli->values[OPT_FINAL],
                                         .sentinel = cli->values[OPT_SENTINEL],
                                         .valid = cli->values[OPT_VALID],
                                         .format = format}};
    if (!format || !cli_number(cli, OPT_WINDOWS, &args.query.windows) ||
        !cli_number(cli, OPT_LENGTH, &args.query.length) ||
        !cli_part(cli, &args.query.partition, &args.query.partition_seed, &args.query.part) ||
        !output_fits(cli, path, false, format))
        return CLI_USAGE;
    const int code = own_hub_connect(cli, &args.id);
    cli->subject = code ? cli->subject : args.id;
    return code ? code : output_save(cli, path, false, fetch, &args);
}

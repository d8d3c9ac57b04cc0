/* stats: what the numbers of a dataset on a hub come to, and its odd episodes. */
#include "client/cli/own_hub.h"
#include "client/cli/table.h"
#include "client/cli/waiting.h"

#include <stdlib.h>

enum { SHOWN_DIMS = 8, SHOWN_EPISODES = 10, CELL = 32 };

/* A number or a text of the answer; a list has one a dimension. All digits are in --json. */
static const char *cell(const json_t *value, uint32_t dim, char out[CELL])
{
    const json_t *one = json_is_array(value) ? json_array_get(value, dim) : value;
    if (json_is_string(one))
        return json_string_value(one);
    if (json_is_integer(one))
        snprintf(out, CELL, "%" JSON_INTEGER_FORMAT, json_integer_value(one));
    else if (json_is_real(one))
        snprintf(out, CELL, "%.6g", json_real_value(one));
    return json_is_number(one) ? out : "-";
}

static bool add_dim(struct text_table *table, const char *name, const json_t *of, uint32_t dim, bool several)
{
    char place[16] = "", min[CELL], max[CELL], mean[CELL], std[CELL], count[CELL];
    if (several)
        snprintf(place, sizeof place, "%u", (unsigned)dim);
    const char *row[] = {dim ? "" : name,
                         place,
                         dim ? "" : cell(json_object_get(of, "count"), 0, count),
                         cell(json_object_get(of, "min"), dim, min),
                         cell(json_object_get(of, "max"), dim, max),
                         cell(json_object_get(of, "mean"), dim, mean),
                         cell(json_object_get(of, "std"), dim, std),
                         dim ? "" : json_string_value(json_object_get(of, "origin"))};
    return table_add(table, row);
}

static bool add_rest(struct text_table *table, size_t more)
{
    char text[64];
    snprintf(text, sizeof text, "... %zu more (--json)", more);
    const char *row[] = {text, "", "", "", "", "", "", ""};
    return table_add(table, row);
}

static bool add_fields(struct text_table *table, const json_t *fields)
{
    const char *name;
    json_t *of;
    bool ok = true;
    json_object_foreach((json_t *)fields, name, of)
    {
        const json_t *min = json_object_get(of, "min");
        const size_t dims = json_is_array(min) ? json_array_size(min) : 1;
        for (uint32_t d = 0; d < dims && d < SHOWN_DIMS; d++)
            ok = ok && add_dim(table, name, of, d, dims > 1);
        if (dims > SHOWN_DIMS)
            ok = ok && add_rest(table, dims - SHOWN_DIMS);
    }
    return ok;
}

static bool add_rule(struct text_table *table, const json_t *rule)
{
    char count[24], value[CELL], at[CELL], number[CELL];
    const json_t *episode, *episodes = json_object_get(rule, "episodes");
    bool ok = true;
    size_t i;
    const json_int_t odd = json_integer_value(json_object_get(rule, "count"));
    snprintf(count, sizeof count, "%" JSON_INTEGER_FORMAT, odd);
    if (odd < (json_int_t)json_array_size(episodes)) /* the lowest and the like: all have a rank */
        snprintf(count, sizeof count, "ranked");
    json_array_foreach(episodes, i, episode)
    {
        if (i == SHOWN_EPISODES)
            break;
        snprintf(number, sizeof number, "%lld",
                 (long long)json_integer_value(json_object_get(episode, "number")));
        const char *row[] = {i ? "" : json_string_value(json_object_get(rule, "rule")),
                             i ? "" : count,
                             number,
                             cell(json_object_get(episode, "value"), 0, value),
                             cell(json_object_get(episode, "at"), 0, at),
                             json_string_value(json_object_get(episode, "field"))};
        ok = ok && table_add(table, row);
    }
    return ok;
}

static bool add_rules(struct text_table *table, const json_t *rules)
{
    const json_t *rule;
    bool ok = true;
    size_t i;
    json_array_foreach(rules, i, rule) ok = ok && add_rule(table, rule);
    return ok;
}

/* How much of the dataset all of it is about. */
static void say_coverage(const struct cli *cli, const json_t *answer)
{
    const json_t *coverage = json_object_get(answer, "coverage");
    const char *mode = json_string_value(json_object_get(answer, "measure"));
    const long long parts = json_integer_value(json_object_get(coverage, "parts")),
                    of = json_integer_value(json_object_get(coverage, "of_parts"));
    const long long failed = json_integer_value(json_object_get(coverage, "failed"));
    if (failed)
        cli_note(
            cli,
            "%lld of %lld parts could not be measured and are left out; `minari-cli show` lists the problems",
            failed, of);
    const long long lost =
        json_integer_value(json_object_get(json_object_get(coverage, "unreadable"), "episodes"));
    if (lost)
        cli_note(cli, "rows of %lld episodes cannot be read: these numbers leave them out", lost);
    if (json_is_true(json_object_get(coverage, "complete")) || (lost && parts == of))
        return;
    if (json_is_true(json_object_get(coverage, "stale")))
        cli_note(cli, "ranges of the actions changed: episodes are being measured again");
    else
        cli_note(cli, "so far %lld of %lld parts are measured%s", parts, of,
                 mode && strcmp(mode, "off") == 0 ? "; this hub does not measure (--measure off)" : "");
}

static int show(const struct cli *cli, const char *id, bool findings, const json_t *answer)
{
    char title[2400];
    struct text_table table = {.columns = {{"Field", false},
                                           {"Dim", true},
                                           {"Count", true},
                                           {"Min", true},
                                           {"Max", true},
                                           {"Mean", true},
                                           {"Std", true},
                                           {"Origin", false}},
                               .count = 8};
    const struct text_table rules = {.columns = {{"Rule", false},
                                                 {"Count", true},
                                                 {"Episode", true},
                                                 {"Value", true},
                                                 {"Step", true},
                                                 {"Field", false}},
                                     .count = 6};
    if (findings)
        table = rules;
    const bool ok = findings ? add_rules(&table, json_object_get(answer, "rules"))
                             : add_fields(&table, json_object_get(answer, "fields"));
    snprintf(title, sizeof title, "%s of %s in %s", findings ? "Odd episodes" : "Numbers", cli_clean(id),
             cli_remote_name(cli));
    table.title = title;
    if (ok)
        table_print(&table, stdout, cli->terminal, cli->colour);
    table_dispose(&table);
    say_coverage(cli, answer);
    return ok ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

int cli_stats(struct cli *cli)
{
    const char *id = cli->arguments[0];
    const bool findings = cli->values[OPT_FINDINGS];
    struct minari_error err;
    char *text = NULL;
    if (findings && (cli->values[OPT_FIELD] || cli->values[OPT_WHERE]))
        return cli_error(CLI_USAGE, "--findings covers all episodes: leave out --field and --where");
    int code = own_hub_connect(cli, &id);
    if (code)
        return code;
    const struct minari_statistics_query query = {.size = sizeof query,
                                                  .field = cli->values[OPT_FIELD],
                                                  .where = cli->values[OPT_WHERE],
                                                  .split = cli->values[OPT_SPLIT],
                                                  .task = cli->values[OPT_TASK]};
    enum minari_status st;
    do {
        free(text);
        text = NULL;
        st = findings ? minari_findings_get(cli->client, id, NULL, &text, &err)
                      : minari_statistics_get(cli->client, id, &query, &text, &err);
    } while (st ? waiting_goes_on(cli, &err, own_hub_measures()) : own_hub_goes_on(cli, text));
    waiting_clear();
    if (st)
        return cli_report(cli, &err);
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = json_loads(text, 0, NULL);
    if (cli->values[OPT_JSON])
        cli_put(cli, text, strlen(text));
    else
        code = show(cli, id, findings, answer);
    if (cli->values[OPT_JSON])
        puts("");
    free(text);
    return code;
}

/* --facets: how many datasets have each value of what lists can be chosen by. */
#include "client/cli/cli.h"
#include "client/cli/table.h"

#include <inttypes.h>

enum { SHOWN_VALUES = 10 }; /* of each facet, where all of them are shown */

static bool add_row(struct text_table *table, const char *name, const char *value, uint64_t count)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    return table_add(table, (const char *const[]){name, value, digits});
}

static bool add_more(struct text_table *table, const char *name, size_t more)
{
    char text[64];
    snprintf(text, sizeof text, "... %zu more (--facets %s)", more, cli_clean(name));
    return table_add(table, (const char *const[]){"", text, ""});
}

static bool fill(const struct cli *cli, struct text_table *table, const struct minari_facet_list *list)
{
    const size_t count = minari_facet_list_count(list);
    const size_t most = *cli->values[OPT_FACETS] || !cli->terminal ? SIZE_MAX : SHOWN_VALUES;
    bool ok = true;
    for (size_t i = 0, end; i < count; i = end) {
        const char *name = minari_facet_list_at(list, i)->name;
        for (end = i; end < count && strcmp(minari_facet_list_at(list, end)->name, name) == 0;)
            end++;
        ok = ok && (!i || table_add(table, NULL));
        for (size_t k = i; k < end && k - i < most; k++) {
            const struct minari_facet *f = minari_facet_list_at(list, k);
            ok = ok && add_row(table, k == i || !cli->terminal ? name : "", f->value, f->count);
        }
        if (end - i > most)
            ok = ok && add_more(table, name, end - i - most);
    }
    return ok;
}

static int show(const struct cli *cli, const struct minari_facet_list *list)
{
    struct text_table table = {.columns = {{"Facet", false}, {"Value", false}, {"Datasets", true}},
                               .count = 3};
    char title[800], caption[64];
    snprintf(title, sizeof title, "Filters for the lists of %s", cli_remote_name(cli));
    snprintf(caption, sizeof caption, "Number of datasets: %" PRIu64, minari_facet_list_total(list));
    table.title = title;
    table.caption = caption;
    if (!minari_facet_list_count(list))
        cli_note(cli, "none of these datasets has a value for it");
    const bool ok = fill(cli, &table, list);
    if (ok)
        table_print(&table, stdout, cli->terminal, cli->colour);
    table_dispose(&table);
    return ok ? CLI_OK : cli_error(CLI_FAILED, "no memory for a table");
}

static void print_json(const struct cli *cli, const struct minari_facet_list *list)
{
    const char *facets = minari_facet_list_json(list);
    printf("{\"remote\":\"%s\",\"remote_from\":\"%s\",\"total\":%" PRIu64 ",\"facets\":", cli->remote.text,
           cli->remote.origin, minari_facet_list_total(list));
    cli_put(cli, facets, strlen(facets));
    puts("}");
}

int cli_facets(const struct cli *cli, const struct minari_dataset_query *query)
{
    const char *names = cli->values[OPT_FACETS];
    struct minari_facet_list *list = NULL;
    struct minari_error err;
    int code = CLI_OK;
    if (minari_facet_list_get(cli->client, query, *names ? names : NULL, &list, &err))
        return cli_report(cli, &err);
    if (cli->values[OPT_JSON])
        print_json(cli, list);
    else
        code = show(cli, list);
    minari_facet_list_free(list);
    return code;
}

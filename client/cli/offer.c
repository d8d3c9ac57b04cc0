/*
 * What could stand where somebody is writing, for the completions of shells: ids, fields, cameras, splits,
 * and values that datasets of the remote have. A shell waits for it: it ends soon, and its errors are not
 * shown.
 */
#include "client/cli/cli.h"
#include "client/cli/local.h"
#include "client/cli/own_location.h"
#include "client/lib/internal.h"
#include "storage/text/json.h"

#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE_S = 15 };

struct offer {
    struct cli *cli;
    const char *begun; /* what is there of the word */
};

/* Nothing that a shell would take for more than a word. */
static bool is_plain(const char *text)
{
    static const char others[] = "._-/~+=@,%:";
    for (; *text; text++) {
        const char c = *text;
        if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') &&
            !strchr(others, c))
            return false;
    }
    return true;
}

static void put(const struct offer *offer, const char *head, const char *text)
{
    char word[CLI_ID];
    const int size = snprintf(word, sizeof word, "%s%s", head, text ? text : "");
    if (text && size > 0 && (size_t)size < sizeof word && is_plain(word) &&
        hub_view_starts(hub_view_of(word), offer->begun))
        puts(word);
}

/* ---- ids ---- */

static void local_ids(const struct offer *offer)
{
    struct local_list list = {0};
    if (!local_inspect(cli_root(), "", &list))
        for (size_t i = 0; i < list.count; i++)
            put(offer, "", list.items[i].summary.id);
    local_dispose(&list);
}

static void remote_ids(const struct offer *offer)
{
    const struct minari_dataset_query query = {.size = sizeof query, .prefix = offer->begun};
    struct minari_dataset_list *list = NULL;
    if (cli_connect(offer->cli, NULL, NULL) ||
        minari_dataset_list_get(offer->cli->client, &query, &list, NULL))
        return;
    for (size_t i = 0; i < minari_dataset_list_count(list); i++)
        put(offer, "", minari_dataset_list_at(list, i)->id);
    minari_dataset_list_free(list);
}

/* Without a remote an id is of this machine, but for commands that only a hub knows. */
static bool is_remote(const struct cli *cli)
{
    const char *hub = getenv("MINARI_HUB_URL"), *remote = getenv("MINARI_REMOTE");
    return cli->values[OPT_REMOTE] || (hub && *hub) || (remote && *remote) ||
           strcmp(cli->command->name, "download") == 0 || cli->command->run == cli_revisions ||
           cli->command->run == cli_revert;
}

static bool is_here(const struct cli *cli)
{
    if (cli->command->run == cli_delete)
        return !cli->values[OPT_REMOTE];
    return cli->command->run == cli_verify || !is_remote(cli);
}

/* ---- what a dataset has ---- */

/* Its document; NULL: none. json_decref it. */
static json_t *document_of(struct cli *cli, const char *id)
{
    json_t *doc = NULL;
    struct minari_dataset *dataset = NULL;
    struct local_list list = {0};
    struct own_location location;
    if (own_is_path(id)) {
        if (!own_location_of_path(id, &location) && !local_inspect(location.folder, location.name, &list) &&
            list.count)
            doc = json_incref(list.items[0].object);
    } else if (!is_remote(cli)) {
        if (!local_inspect(cli_root(), id, &list) && list.count)
            doc = json_incref(list.items[0].object);
    } else if (!cli_connect(cli, NULL, NULL) && !minari_dataset_get(cli->client, id, NULL, &dataset, NULL)) {
        (void)!hub_json_parse(hub_view_of(minari_dataset_json(dataset)), 64 * MIB, &doc, NULL);
    }
    minari_dataset_free(dataset);
    local_dispose(&list);
    return doc;
}

static void fields_of(const struct offer *offer, const json_t *doc)
{
    const json_t *field;
    size_t i;
    json_array_foreach(json_object_get(doc, "fields"), i, field)
        put(offer, "", hub_member_text(field, "path"));
}

static void splits_of(const struct offer *offer, const json_t *doc)
{
    const char *name;
    json_t *split;
    json_object_foreach(json_object_get(doc, "splits"), name, split) put(offer, "", name);
}

/* Of this machine what its files say of the episode, else what the hub does. */
static void cameras_of(const struct offer *offer, const json_t *doc)
{
    struct cli *cli = offer->cli;
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_CLEANUP(hub_freep) char *text = NULL;
    const json_int_t number = strtoll(cli->arguments[1], NULL, 10);
    const json_t *items = json_object_get(doc, "media"), *item;
    size_t i;
    if (cli->client &&
        !minari_media_list_get(cli->client, cli->arguments[0], (uint64_t)number, &text, NULL) &&
        !hub_json_parse(hub_view_of(text), 64 * MIB, &list, NULL))
        items = json_object_get(list, "items");
    json_array_foreach(items, i, item)
    {
        const char *label = hub_member_text(item, "label");
        if (list || json_integer_value(json_object_get(item, "episode")) == number)
            put(offer, "~media/", label ? label : hub_member_text(item, "camera"));
    }
}

static void of_dataset(const struct offer *offer, void (*what)(const struct offer *, const json_t *))
{
    HUB_CLEANUP(hub_json_decrefp)
    json_t *doc = offer->cli->count ? document_of(offer->cli, offer->cli->arguments[0]) : NULL;
    what(offer, doc);
}

static void fields_and_cameras_of(const struct offer *offer, const json_t *doc)
{
    fields_of(offer, doc);
    cameras_of(offer, doc);
}

/* ---- what datasets have ---- */

static const struct {
    enum cli_option option;
    const char *facet;
} facets[] = {
    {OPT_ENV, "env"},          {OPT_TASK, "task"},       {OPT_ROBOT, "robot"},
    {OPT_CAMERA, "camera"},    {OPT_AUTHOR, "author"},   {OPT_ALGORITHM, "algorithm"},
    {OPT_KIND, "kind"},        {OPT_LICENSE, "license"}, {OPT_ACTION_DIM, "action_dim"},
    {OPT_OF_FORMAT, "format"},
};

static void values_of(const struct offer *offer, enum cli_option option)
{
    struct minari_facet_list *list = NULL;
    const char *facet = NULL;
    for (size_t i = 0; i < HUB_COUNT(facets); i++)
        facet = facets[i].option == option ? facets[i].facet : facet;
    if (!facet || cli_connect(offer->cli, NULL, NULL) ||
        minari_facet_list_get(offer->cli->client, NULL, facet, &list, NULL))
        return;
    for (size_t i = 0; i < minari_facet_list_count(list); i++)
        put(offer, "", minari_facet_list_at(list, i)->value);
    minari_facet_list_free(list);
}

/* ---- */

static void argument(const struct offer *offer)
{
    const struct cli *cli = offer->cli;
    const char *name = cli->command->name, *takes = cli->command->arguments;
    const bool get = strcmp(name, "get") == 0,
               tables = strcmp(name, "rows") == 0 || strcmp(name, "sample") == 0;
    if (strncmp(takes, "ID", 2) == 0 && (!cli->count || strncmp(takes, "ID...", 5) == 0)) {
        if (own_is_path(offer->begun))
            return;
        if (is_here(cli))
            local_ids(offer);
        else
            remote_ids(offer);
    } else if (get && cli->count >= 2) {
        of_dataset(offer, fields_and_cameras_of);
    } else if (tables) {
        of_dataset(offer, fields_of);
    }
}

/* The words of a line, without quotes: what needs them is not offered either. The last is what is begun. */
static int split(char *line, char *words[CLI_OFFERED])
{
    int count = 0;
    while (count < CLI_OFFERED - 1) {
        line += strspn(line, " \t");
        words[count++] = line;
        line += strcspn(line, " \t");
        if (!*line)
            break;
        *line++ = '\0';
    }
    return count;
}

int cli_offer(struct cli *cli, const char *line)
{
    char *words[CLI_OFFERED], *copy = strdup(line);
    int count = copy ? split(copy, words) : 0;
    struct offer offer = {.cli = cli, .begun = count ? words[count - 1] : ""};
    char *value = strncmp(offer.begun, "--", 2) == 0 ? strchr(offer.begun, '=') : NULL;
    if (value) { /* --camera=fr */
        *value = '\0';
        offer.begun = value + 1;
        count++;
    }
    const enum cli_option option = count > 1 ? cli_parse_begun(cli, count - 1, words) : OPT_COUNT;
    cli->values[OPT_ATTEMPTS] = "1";
    cli->values[OPT_TIMEOUT] = "5";
    alarm(PATIENCE_S);
    if (option == OPT_SPLIT)
        of_dataset(&offer, splits_of);
    else if (option == OPT_FIELD)
        of_dataset(&offer, fields_of);
    else if (option == OPT_END)
        argument(&offer);
    else if (option != OPT_COUNT)
        values_of(&offer, option);
    free(copy);
    return cli_flush(CLI_OK);
}

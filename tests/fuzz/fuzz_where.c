/* What chooses episodes, and steps: any text is refused with its position or can be asked of an episode. */
#include "storage/query/where.h"

#include <stdlib.h>

struct episode {
    const uint8_t *data;
    size_t size, at;
};

/* What it has under a name comes from the input as well. */
static enum hub_status get(void *user, const struct hub_property *name, struct hub_values *out,
                           struct hub_error *err)
{
    static struct hub_value values[4];
    struct episode *episode = user;
    (void)name;
    (void)err;
    for (size_t i = 0; i < HUB_COUNT(values); i++) {
        const uint8_t byte = episode->size ? episode->data[episode->at++ % episode->size] : 0;
        values[i] = (struct hub_value){.kind = byte % 4, .number = (int64_t)((uint64_t)byte << byte % 60)};
        if (values[i].kind == HUB_VALUE_TEXT)
            values[i].text = (struct hub_view){(const char *)episode->data, byte % (episode->size + 1)};
        if (values[i].kind == HUB_VALUE_UINT)
            values[i].large = UINT64_MAX - byte;
    }
    *out = (struct hub_values){values, episode->size % 5 % HUB_COUNT(values)};
    return HUB_OK;
}

typedef enum hub_status parser(struct hub_view text, struct hub_where **out, struct hub_error *err);

static void try(parser *parse, const uint8_t *data, size_t size)
{
    struct episode episode = {data, size, 0};
    struct hub_where *where = NULL;
    struct hub_error err = {0};
    bool holds, again;
    if (parse((struct hub_view){(const char *)data, size}, &where, &err)) {
        if (err.problem != HUB_PROBLEM_BAD_WHERE)
            abort();
        return;
    }
    if (hub_where_holds(where, &(struct hub_episode_values){get, &episode}, &holds, &err))
        abort();
    episode.at = 0;
    if (hub_where_holds(where, &(struct hub_episode_values){get, &episode}, &again, &err) || holds != again)
        abort();
    hub_where_free(where);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try(hub_where_parse, data, size);
    try(hub_step_where_parse, data, size);
    return 0;
}

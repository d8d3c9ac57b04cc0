/*
 * The attributes of one episode: seed, statistics of the rewards (on the rewards dataset in E4a, on the group
 * since E4b), options flattened as options/<key>, and whatever else its writer kept. Keys with '/' become
 * nested objects.
 */
#include "storage/formats/minari/minari.h"
#include "storage/text/json.h"
#include "storage/text/number.h"

static const char *const stat_names[] = {"sum", "mean", "std", "min", "max"};

struct episode_attributes {
    struct hub_h5_tree *tree;
    struct mh5_episode *episode;
};

static bool take_statistic(struct mh5_episode *e, struct hub_view name, const struct hub_h5_attribute *a)
{
    for (size_t i = 0; i < HUB_COUNT(stat_names); i++)
        if (hub_view_is(name, stat_names[i]) && hub_h5_attribute_double(a, &e->stats[i])) {
            e->has_stat[i] = true;
            return true;
        }
    return false;
}

/* int64, uint64 from 2^63 on, or text; the text "None" is no seed and stays among the attributes. */
static bool take_seed(struct episode_attributes *g, const struct hub_h5_attribute *a)
{
    struct mh5_episode *e = g->episode;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(sizeof e->seed - 1);
    int64_t value;
    size_t n = 0;
    char digits[HUB_NUMBER_CHARS];
    if (a->rank != 0)
        return false;
    if (hub_h5_attribute_int(a, &value)) {
        n = hub_number_i64(value, digits);
        memcpy(e->seed, digits, n);
    } else if (a->type.variant.kind == HUB_KIND_UINT && a->type.size == 8 && a->items == 1) {
        n = hub_number_u64(hub_variant_scalar(&a->type.variant, a->data.data).bits, digits);
        memcpy(e->seed, digits, n);
    } else if (!hub_h5_attribute_text(g->tree->file, a, 0, &text, NULL) && text.size &&
               !hub_view_is(hub_buf_view(&text), "None")) {
        n = text.size;
        memcpy(e->seed, text.data, n);
    }
    e->seed[n] = '\0';
    return n > 0;
}

static enum hub_status take_group_attribute(void *user, const struct hub_h5_attribute *a,
                                            struct hub_error *err)
{
    struct episode_attributes *g = user;
    struct mh5_episode *e = g->episode;
    if (hub_view_is(a->name, "id") && hub_h5_attribute_int(a, &e->id)) {
        e->has_id = true;
        return HUB_OK;
    }
    if (hub_view_is(a->name, "total_steps") && hub_h5_attribute_int(a, &e->steps)) {
        e->has_steps = true;
        return HUB_OK;
    }
    if (hub_view_is(a->name, "seed") && take_seed(g, a))
        return HUB_OK;
    if (hub_view_starts(a->name, "rewards_") &&
        take_statistic(e, (struct hub_view){a->name.data + 8, a->name.size - 8}, a))
        return HUB_OK;
    return hub_h5_notes_take(&e->notes, g->tree, a, err);
}

static enum hub_status take_rewards_attribute(void *user, const struct hub_h5_attribute *a,
                                              struct hub_error *err)
{
    (void)err;
    struct episode_attributes *g = user;
    if (take_statistic(g->episode, a->name, a))
        g->episode->stats_on_rewards = true;
    return HUB_OK;
}

static enum hub_status write_statistics(struct mh5_episode *e, struct hub_error *err)
{
    bool any = false;
    struct hub_json json = hub_json_to(&e->statistics, err);
    for (size_t i = 0; i < HUB_COUNT(stat_names); i++)
        any |= e->has_stat[i];
    if (!any)
        return HUB_OK;
    hub_json_object(&json);
    hub_json_put_object(&json, "rewards");
    for (size_t i = 0; i < HUB_COUNT(stat_names); i++)
        if (e->has_stat[i])
            hub_json_put_double(&json, stat_names[i], e->stats[i]);
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

enum hub_status mh5_episode_load(struct hub_h5_tree *tree, struct mh5_episode *out, struct hub_error *err)
{
    struct episode_attributes g = {tree, out};
    struct hub_error why = {0};
    out->seed[0] = '\0';
    out->has_id = out->has_steps = out->stats_on_rewards = false;
    memset(out->has_stat, 0, sizeof out->has_stat);
    hub_h5_notes_clear(&out->notes);
    out->statistics.size = 0;
    out->statistics.limit = HUB_MAX_ATTRIBUTES;
    enum hub_status st = hub_h5_attributes(tree->file, &tree->groups[0], take_group_attribute, &g, &why);
    const struct hub_h5_leaf *rewards = hub_h5_tree_find(tree, "rewards");
    if (!st && rewards && !out->has_stat[0])
        st = hub_h5_attributes(tree->file, &rewards->object, take_rewards_attribute, &g, &why);
    if (st == HUB_CORRUPT || st == HUB_UNSUPPORTED || st == HUB_TOO_BIG)
        st = hub_h5_tree_problem(tree, "attribute-damaged", HUB_VIEW(""), err, why.detail);
    else if (st)
        return hub_pass(st, &why, err);
    if (!st)
        st = write_statistics(out, err);
    return st ? st : hub_h5_notes_write(&out->notes, tree, err);
}

void mh5_episode_dispose(struct mh5_episode *episode)
{
    hub_h5_notes_dispose(&episode->notes);
    hub_buf_dispose(&episode->statistics);
}

uint64_t mh5_episode_steps(const struct hub_h5_tree *tree, const struct mh5_episode *episode)
{
    static const char *const along[] = {"rewards", "actions", "terminations", "truncations"};
    uint64_t rows;
    for (size_t i = 0; i < HUB_COUNT(along); i++)
        if (hub_h5_tree_rows(tree, along[i], &rows))
            return rows;
    if (episode->has_steps && episode->steps >= 0)
        return (uint64_t)episode->steps;
    return hub_h5_tree_rows(tree, "observations", &rows) && rows ? rows - 1 : 0;
}

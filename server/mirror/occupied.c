/* Ids below the NAME/ of a rule: see occupied.h. */
#include "server/mirror/occupied.h"

#include "storage/ids/id.h"

#include <stdio.h>

struct occupied_name {
    const struct hub_roots *roots;
    const char *id;
};

/* What a rule fills: "lab/"; "": no name of its own. */
static void name_of(const json_t *spec, const struct hub_roots *roots, char out[2 * HUB_MAX_ID])
{
    const char *as = hub_member_text(spec, "as");
    uint32_t number;
    out[0] = '\0';
    if (!as || !as[0] || hub_mirror_root(spec, roots, &number, NULL))
        return;
    const char *root = roots->roots[number].name;
    snprintf(out, 2 * HUB_MAX_ID, "%s%s%s", root ? root : "", root ? "/" : "", as);
}

static enum hub_status look_at(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    const struct occupied_name *s = user;
    char name[2 * HUB_MAX_ID];
    name_of(rule->spec, s->roots, name);
    if (!name[0] || !hub_path_below(s->id, name))
        return HUB_OK;
    return hub_fail_as(
        err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
        "'%.200s' lies below '%.200s', which the rule '%s' fills from its remote: choose an id "
        "elsewhere, or give the rule another name with --as",
        s->id, name, rule->name);
}

enum hub_status hub_mirror_check_id(struct hub_truth *truth, const struct hub_roots *roots, const char *id,
                                    struct hub_error *err)
{
    struct occupied_name search = {roots, id};
    return hub_rules_each(truth, look_at, &search, err);
}

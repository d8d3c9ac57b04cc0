/* Kleene's logic: what is unknown stays so unless the other side decides. */
#include "storage/query/where_inside.h"

enum truth { NO, YES, UNKNOWN };

static enum truth negate(enum truth truth)
{
    return truth == UNKNOWN ? UNKNOWN : truth == NO ? YES : NO;
}

static enum truth compare(unsigned op, const struct hub_value *has, const struct hub_value *wanted)
{
    const enum hub_order order = hub_value_compare(has, wanted);
    if (op == HUB_TEST_EQUAL || op == HUB_TEST_UNEQUAL)
        return (order == HUB_EQUAL) == (op == HUB_TEST_EQUAL) ? YES : NO;
    if (order == HUB_UNORDERED)
        return UNKNOWN;
    if (op == HUB_TEST_LESS || op == HUB_TEST_AT_LEAST)
        return (order == HUB_LESS) == (op == HUB_TEST_LESS) ? YES : NO;
    return (order == HUB_GREATER) == (op == HUB_TEST_GREATER) ? YES : NO;
}

/* Whether any of its values is any of those that are asked for. */
static enum truth any(unsigned op, const struct hub_values *has, const struct hub_value *wanted, size_t count)
{
    enum truth found = NO;
    for (size_t i = 0; i < has->count; i++)
        for (size_t j = 0; j < count; j++) {
            const enum truth one = compare(op, &has->first[i], &wanted[j]);
            if (one == YES)
                return YES;
            found = one == UNKNOWN ? UNKNOWN : found;
        }
    return found;
}

static enum truth test_values(const struct hub_where *where, const struct hub_where_test *test,
                              const struct hub_values *has)
{
    const struct hub_value *wanted = &where->values[test->first];
    if (test->op == HUB_TEST_NULL)
        return has->count ? NO : YES;
    if (!has->count && hub_property_row(test->name.kind)->type != HUB_PROPERTY_TEXTS)
        return UNKNOWN;
    if (test->op == HUB_TEST_UNEQUAL)
        return negate(any(HUB_TEST_EQUAL, has, wanted, test->count));
    return any(test->op, has, wanted, test->count);
}

static enum hub_status decide(const struct hub_where *where, uint16_t at,
                              const struct hub_episode_values *episode, enum truth *out,
                              struct hub_error *err)
{
    const struct hub_where_node *node = &where->nodes[at];
    const enum truth decides = node->kind == HUB_WHERE_OR ? YES : NO;
    if (node->kind == HUB_WHERE_TEST) {
        const struct hub_where_test *test = &where->tests[node->left];
        struct hub_values has = {0};
        HUB_TRY(episode->get(episode->user, &test->name, &has, err));
        *out = test_values(where, test, &has);
    } else {
        enum truth left, right;
        HUB_TRY(decide(where, node->left, episode, &left, err));
        *out = left;
        if (left != decides) {
            HUB_TRY(decide(where, node->right, episode, &right, err));
            *out = right == decides || left != UNKNOWN ? right : UNKNOWN;
        }
    }
    *out = node->negated ? negate(*out) : *out;
    return HUB_OK;
}

enum hub_status hub_where_holds(const struct hub_where *where, const struct hub_episode_values *episode,
                                bool *out, struct hub_error *err)
{
    enum truth truth;
    HUB_TRY(decide(where, where->root, episode, &truth, err));
    *out = truth == YES;
    return HUB_OK;
}

unsigned hub_where_comparisons(const struct hub_where *where)
{
    return where ? (unsigned)where->test_count + where->value_count : 0;
}

const struct hub_property *hub_where_name(const struct hub_where *where, unsigned i)
{
    return where && i < where->test_count ? &where->tests[i].name : NULL;
}

bool hub_where_text(const struct hub_where *where, unsigned i, unsigned k, struct hub_view *out)
{
    const struct hub_where_test *test = &where->tests[i];
    const bool equality = test->op == HUB_TEST_EQUAL || test->op == HUB_TEST_UNEQUAL;
    for (unsigned v = test->first; equality && v < test->first + test->count; v++)
        if (where->values[v].kind == HUB_VALUE_TEXT && k-- == 0) {
            *out = where->values[v].text;
            return true;
        }
    return false;
}

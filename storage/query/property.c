/* The rows of properties, and the rules of odd episodes: see property.h. */
#include "storage/query/property.h"

#include <stdio.h>

const struct hub_property_row hub_property_rows[HUB_PROPERTY_COUNT] = {
#define KNOWN(KIND, word, type, source, how_far, unit, meaning)                                              \
    {word, unit, meaning, HUB_PROPERTY_##type, HUB_FROM_##source, HUB_MEASURED_##how_far, false, false},
#define METRIC(KIND, word, type, how_far, unit, odd, role, title, meaning)                                   \
    {word, unit, meaning, HUB_PROPERTY_##type, HUB_FROM_MEASURE, HUB_MEASURED_##how_far, true, false},
#define OF_FIELD(KIND, word, type, source, how_far, meaning)                                                 \
    {word, "", meaning, HUB_PROPERTY_##type, HUB_FROM_##source, HUB_MEASURED_##how_far, false, true},
    HUB_KNOWN_PROPERTIES(KNOWN) HUB_METRIC_PROPERTIES(METRIC) HUB_FIELD_PROPERTIES(OF_FIELD)
#undef METRIC
        [HUB_PROPERTY_ATTRIBUTE] = {"attribute", "", "an attribute of the file", HUB_PROPERTY_ANY,
                                    HUB_FROM_ROW, HUB_MEASURED_NOTHING, false, false},
    [HUB_PROPERTY_STEP_FIELD] = {"field", "", "a number of a field's row", HUB_PROPERTY_REAL,
                                 HUB_FROM_MEASURE, HUB_MEASURED_NOTHING, false, false},
};

bool hub_property_find(struct hub_view word, enum hub_property_kind *out)
{
    for (unsigned kind = 0; kind < HUB_PROPERTY_ATTRIBUTE; kind++)
        if (hub_view_is(word, hub_property_rows[kind].word)) {
            *out = (enum hub_property_kind)kind;
            return true;
        }
    return false;
}

bool hub_property_is_series(enum hub_property_kind kind)
{
    return kind == HUB_PROPERTY_RETURN || kind == HUB_PROPERTY_STEPS || kind == HUB_PROPERTY_SCORE ||
           hub_property_rows[kind].is_metric;
}

enum hub_status hub_property_series(struct hub_buf *out, struct hub_error *err)
{
    const char *between = "";
    for (unsigned kind = 0; kind < HUB_PROPERTY_COUNT; kind++)
        if (hub_property_is_series((enum hub_property_kind)kind)) {
            HUB_TRY(hub_buf_addf(out, err, "%s%s", between, hub_property_rows[kind].word));
            between = ", ";
        }
    return HUB_OK;
}

bool hub_property_same(const struct hub_property *a, const struct hub_property *b)
{
    return a->kind == b->kind && a->of_row == b->of_row && a->component == b->component &&
           hub_view_equal(a->of, b->of);
}

void hub_property_column(const struct hub_property *name, char out[HUB_PROPERTY_COLUMN])
{
    snprintf(out, HUB_PROPERTY_COLUMN, name->of_row ? "%s[%u]" : "%s", hub_property_rows[name->kind].word,
             (unsigned)name->component);
}

static enum hub_status add_quoted(struct hub_buf *out, struct hub_view text, struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(out, "\"", err));
    for (size_t i = 0; i < text.size; i++)
        HUB_TRY(hub_buf_addf(out, err, text.data[i] == '"' ? "\"\"" : "%c", text.data[i]));
    return hub_buf_add_text(out, "\"", err);
}

enum hub_status hub_property_spell(const struct hub_property *name, struct hub_buf *out,
                                   struct hub_error *err)
{
    const bool bare = name->kind == HUB_PROPERTY_ATTRIBUTE || name->kind == HUB_PROPERTY_STEP_FIELD;
    if (!bare)
        HUB_TRY(hub_buf_add_text(out, hub_property_rows[name->kind].word, err));
    if (hub_property_rows[name->kind].of_field)
        HUB_TRY(hub_buf_add_text(out, "(", err));
    if (name->of.size || bare)
        HUB_TRY(add_quoted(out, name->of, err));
    if (hub_property_rows[name->kind].of_field)
        HUB_TRY(hub_buf_add_text(out, ")", err));
    return name->of_row ? hub_buf_addf(out, err, "[%u]", (unsigned)name->component) : HUB_OK;
}

/* ---- odd episodes ---- */

static const struct hub_odd_rule extremes[] = {
    {"lowest_return", HUB_PROPERTY_RETURN, HUB_ODD_LOWEST, 0, "reward", "Lowest return", ""},
    {"highest_return", HUB_PROPERTY_RETURN, HUB_ODD_HIGHEST, 0, "reward", "Highest return", ""},
    {"shortest", HUB_PROPERTY_STEPS, HUB_ODD_LOWEST, 0, "", "Shortest", ""},
    {"longest", HUB_PROPERTY_STEPS, HUB_ODD_HIGHEST, 0, "", "Longest", ""},
};

/* Instead of a limit a row may have one of two words. */
#define TEST_OF(odd)                                                                                         \
    ((odd) == HUB_ODD_LONG ? HUB_ODD_LASTING : (odd) < 0 ? HUB_ODD_OUTSIDE_QUARTILES : HUB_ODD_ABOVE)

static const struct hub_odd_rule metrics[] = {
#define METRIC(KIND, word, type, how_far, unit, odd, role, title, meaning)                                   \
    {word, HUB_PROPERTY_##KIND, TEST_OF(odd), (odd) < 0 ? 0 : (odd), role, title, meaning},
    HUB_METRIC_PROPERTIES(METRIC)};

static const struct hub_odd_rule known[] = {
    {"return", HUB_PROPERTY_RETURN, HUB_ODD_OUTSIDE_QUARTILES, 0, "reward", "Unusual return",
     "Outside 1.5 \xC3\x97 the interquartile range."},
    {"steps", HUB_PROPERTY_STEPS, HUB_ODD_OUTSIDE_QUARTILES, 0, "", "Unusual length",
     "Outside 1.5 \xC3\x97 the interquartile range."},
};
_Static_assert(HUB_COUNT(extremes) + HUB_COUNT(metrics) + HUB_COUNT(known) == HUB_ODD_RULES, "all of them");

const struct hub_odd_rule *hub_odd_rule(unsigned i)
{
    if (i < HUB_COUNT(extremes))
        return &extremes[i];
    i -= (unsigned)HUB_COUNT(extremes);
    for (unsigned k = 0; k < 2 * HUB_COUNT(metrics); k++) {
        const struct hub_odd_rule *rule = &metrics[k % HUB_COUNT(metrics)];
        if ((rule->test != HUB_ODD_OUTSIDE_QUARTILES) == (k < HUB_COUNT(metrics)) && i-- == 0)
            return rule;
    }
    return &known[i];
}

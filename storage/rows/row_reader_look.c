/* What the columns of a reading are in its episodes: see row_reader.h. */
#include "storage/rows/row_reader.h"

bool hub_row_reader_has_items(const struct hub_row_reader *r, uint32_t column)
{
    return r->columns[column].as_items && hub_encode_as_item(r->as[column].type, &r->as[column].variant);
}

void hub_row_reader_release(struct hub_row_reader *r, uint32_t column)
{
    hub_layout_put(r->fields[column].layout);
    r->fields[column].layout = NULL;
}

enum hub_status hub_row_reader_window(struct hub_row_reader *r, uint32_t column,
                                      const struct hub_dataset_episode *episode,
                                      const struct hub_window **out, struct hub_error *err)
{
    struct hub_selected_field *selected = &r->fields[column];
    const uint32_t field = r->columns[column].field;
    if (!selected->layout || selected->field != field || r->part[column] != episode->part) {
        hub_row_reader_release(r, column);
        HUB_TRY(hub_layout_get(r->context.catalog, r->dataset, episode->part, field, true, &selected->layout,
                               err));
        r->part[column] = episode->part;
    }
    selected->field = field;
    return hub_layout_find(selected->layout, episode, out, err);
}

uint64_t hub_row_reader_skipped(const struct hub_row_reader *r, uint32_t column)
{
    const struct hub_row_reader_column *c = &r->columns[column];
    return c->ahead + (r->dataset->fields[c->field].axis == HUB_AXIS_SHIFTED ? 1U : 0U);
}

enum hub_status hub_row_reader_there(struct hub_row_reader *r, uint32_t column, uint32_t episode,
                                     uint64_t *rows, struct hub_error *err)
{
    const struct hub_window *window;
    HUB_TRY(hub_row_reader_window(r, column, &r->dataset->episodes[r->places[episode]], &window, err));
    *rows = window->count - HUB_MIN(window->count, hub_row_reader_skipped(r, column));
    return HUB_OK;
}

static bool same_rows(const struct hub_row_reader *r, uint32_t column, const struct hub_variant *variant)
{
    const struct hub_variant *first = &r->as[column].variant;
    return hub_row_reader_has_items(r, column) ? hub_encode_as_item(r->as[column].type, variant)
                                               : hub_variant_equal(first, variant);
}

/* `first`: the episode that says what the rows are. */
static enum hub_status look_at(struct hub_row_reader *r, uint32_t column, uint32_t first, uint32_t episode,
                               struct hub_error *err)
{
    const struct hub_dataset_episode *e = &r->dataset->episodes[r->places[episode]];
    const struct hub_dataset_field *field = &r->dataset->fields[r->columns[column].field];
    const struct hub_window *window;
    const uint64_t rows = hub_row_reader_whole(r, episode);
    HUB_TRY(hub_row_reader_wanted(r, err));
    HUB_TRY(hub_row_reader_window(r, column, e, &window, err));
    const struct hub_layout *layout = hub_layout_of(r->fields[column].layout);
    const struct hub_array *array = &layout->arrays[window->array];
    const struct hub_variant *variant = &layout->variants[array->variant];
    if (episode == first)
        r->as[column].variant = *variant;
    if (!same_rows(r, column, variant))
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "the type or shape of '%s' in episode %lld differs from that in episode %lld",
                           field->path, (long long)e->number,
                           (long long)r->dataset->episodes[r->places[first]].number);
    const uint64_t needed = rows + hub_row_reader_skipped(r, column) - r->columns[column].last_again;
    if (window->count < needed || array->flags & HUB_ARRAY_SCALAR)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FIELD_NOT_FOUND, "fields", field->path,
                              "'%s' has %llu rows in episode %lld, and %llu are needed", field->path,
                              (unsigned long long)window->count, (long long)e->number,
                              (unsigned long long)needed);
    return HUB_OK;
}

/* Where no row is meant, what the rows are in the first episode that has the field. */
static enum hub_status look_anywhere(struct hub_row_reader *r, uint32_t column, struct hub_error *err)
{
    enum hub_status st = HUB_NOT_FOUND;
    for (uint32_t i = 0; i < r->dataset->episode_count && st == HUB_NOT_FOUND; i++) {
        const struct hub_window *window;
        HUB_TRY(hub_row_reader_wanted(r, err));
        st = hub_row_reader_window(r, column, &r->dataset->episodes[i], &window, err);
        const struct hub_layout *layout = st ? NULL : hub_layout_of(r->fields[column].layout);
        if (!st)
            r->as[column].variant = layout->variants[layout->arrays[window->array].variant];
    }
    return st;
}

enum hub_status hub_row_reader_look(struct hub_row_reader *r, uint32_t column, struct hub_error *err)
{
    enum hub_status st = HUB_OK;
    uint32_t first = 0;
    r->as[column].type = r->dataset->fields[r->columns[column].field].type;
    while (first < r->count && !hub_row_reader_whole(r, first))
        first++; /* an episode without rows adds none, whatever it has instead of the field */
    for (uint32_t i = first; i < r->count && !st; i++)
        st = hub_row_reader_whole(r, i) ? look_at(r, column, first, i, err) : HUB_OK;
    if (first == r->count)
        st = look_anywhere(r, column, err);
    hub_layout_put(r->fields[column].layout);
    r->fields[column].layout = NULL;
    return st;
}

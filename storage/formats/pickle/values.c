/* The tree of values that a pickle builds: see pickle.h and values.h. */
#include "storage/formats/pickle/values.h"

#include <stdlib.h>

enum { MAX_TEXT = 16 * MIB }; /* of all copied strings */

void hub_pickle_init(struct hub_pickle *p)
{
    *p = (struct hub_pickle){.text = HUB_BUF_INIT(MAX_TEXT), .root = HUB_PICKLE_NONE};
}

void hub_pickle_dispose(struct hub_pickle *p)
{
    free(p->values);
    free(p->cells);
    free(p->stack);
    free(p->memo);
    hub_buf_dispose(&p->text);
    hub_pickle_init(p);
}

enum hub_status hub_pickle_grow(void *array, uint32_t count, uint32_t *capacity, size_t item,
                                struct hub_error *err)
{
    if (count >= HUB_PICKLE_MAX_VALUES)
        return hub_fail(err, HUB_TOO_BIG, "a pickle of more than %d values", HUB_PICKLE_MAX_VALUES);
    return hub_grow(array, count, capacity, item, err);
}

enum hub_status hub_pickle_new(struct hub_pickle *p, enum hub_pickle_kind kind, uint32_t *out,
                               struct hub_error *err)
{
    HUB_TRY(hub_pickle_grow(&p->values, p->value_count, &p->value_capacity, sizeof *p->values, err));
    p->values[p->value_count] = (struct hub_pickle_value){.kind = (uint8_t)kind,
                                                          .first = HUB_PICKLE_NONE,
                                                          .last = HUB_PICKLE_NONE,
                                                          .a = HUB_PICKLE_NONE,
                                                          .b = HUB_PICKLE_NONE,
                                                          .c = HUB_PICKLE_NONE};
    *out = p->value_count++;
    return HUB_OK;
}

enum hub_status hub_pickle_append(struct hub_pickle *p, uint32_t container, uint32_t value,
                                  struct hub_error *err)
{
    struct hub_pickle_value *c = &p->values[container];
    HUB_TRY(hub_pickle_grow(&p->cells, p->cell_count, &p->cell_capacity, sizeof *p->cells, err));
    p->cells[p->cell_count] = (struct hub_pickle_cell){value, HUB_PICKLE_NONE};
    if (c->last == HUB_PICKLE_NONE)
        c->first = p->cell_count;
    else
        p->cells[c->last].next = p->cell_count;
    c->last = p->cell_count++;
    c->count++;
    return HUB_OK;
}

bool hub_pickle_next(const struct hub_pickle *p, uint32_t *cell, uint32_t *value)
{
    if (*cell >= p->cell_count)
        return false;
    *value = p->cells[*cell].value;
    *cell = p->cells[*cell].next;
    return true;
}

uint32_t hub_pickle_item(const struct hub_pickle *p, uint32_t container, uint32_t index)
{
    const struct hub_pickle_value *c = hub_pickle_at(p, container);
    uint32_t value = HUB_PICKLE_NONE;
    if (!c || (c->kind != HUB_PICKLE_TUPLE && c->kind != HUB_PICKLE_LIST) || index >= c->count)
        return HUB_PICKLE_NONE;
    uint32_t cell = c->first;
    for (uint32_t i = 0; i <= index; i++)
        if (!hub_pickle_next(p, &cell, &value))
            return HUB_PICKLE_NONE;
    return value;
}

struct hub_view hub_pickle_text(const struct hub_pickle *p, uint32_t value)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, value);
    if (!v || !v->copied ||
        (v->kind != HUB_PICKLE_TEXT && v->kind != HUB_PICKLE_BYTES && v->kind != HUB_PICKLE_LATIN1))
        return HUB_VIEW("");
    return (struct hub_view){p->text.data + v->text, (size_t)v->size};
}

uint32_t hub_pickle_get(const struct hub_pickle *p, uint32_t dict, struct hub_view key)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, dict);
    uint32_t name, value;
    if (!v || v->kind != HUB_PICKLE_DICT)
        return HUB_PICKLE_NONE;
    for (uint32_t cell = v->first; hub_pickle_next(p, &cell, &name) && hub_pickle_next(p, &cell, &value);)
        if (hub_view_equal(hub_pickle_text(p, name), key))
            return value;
    return HUB_PICKLE_NONE;
}

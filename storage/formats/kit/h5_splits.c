/* Splits that are lists of episodes' names, in datasets of text below a group: see h5_kit.h. */
#include "storage/formats/kit/h5_kit.h"
#include "storage/text/json.h"

#include <stdlib.h>

enum { MAX_NAMED = 16 * 1024 * 1024 }; /* names in all splits of a file */

static enum hub_status take_name(struct hub_h5_split *split, const struct hub_h5_episodes *e,
                                 const struct hub_h5_leaf *leaf, uint64_t row, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(4 * KIB);
    int64_t number;
    HUB_TRY(hub_h5_read_text(e->tree.file, &leaf->dataset, row, &name, err));
    if (hub_numbered(hub_buf_view(&name), e->dialect->prefix, &number) && e->count &&
        bsearch(&number, e->entries, e->count, sizeof *e->entries, hub_by_i64))
        split->numbers[split->count++] = number;
    else
        hub_tally_add(&split->missing, "%.*s", (int)HUB_MIN(name.size, (size_t)100),
                      name.size ? name.data : "");
    return HUB_OK;
}

static enum hub_status read_split(struct hub_h5_split *split, const struct hub_h5_episodes *e,
                                  const struct hub_h5_leaf *leaf, struct hub_error *err)
{
    if (leaf->dataset.unreadable[0])
        return hub_fail(err, HUB_UNSUPPORTED, "%s", leaf->dataset.unreadable);
    for (uint64_t row = 0; row < leaf->rows; row++)
        HUB_TRY(take_name(split, e, leaf, row, err));
    if (split->count)
        qsort(split->numbers, split->count, sizeof *split->numbers, hub_by_i64);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < split->count; i++) /* some lists name an episode twice */
        if (i == 0 || split->numbers[i] != split->numbers[kept - 1])
            split->numbers[kept++] = split->numbers[i];
    split->count = kept;
    return HUB_OK;
}

static enum hub_status take_leaf(struct hub_h5_splits *splits, const struct hub_h5_episodes *e,
                                 struct hub_h5_tree *tree, const struct hub_h5_leaf *leaf, uint64_t *named,
                                 struct hub_error *err)
{
    struct hub_error why = {0};
    struct hub_h5_split *split = &splits->items[splits->count];
    if (leaf->rows > MAX_NAMED - *named)
        return hub_fail(err, HUB_TOO_BIG, "splits with more than %d names", MAX_NAMED);
    *named += leaf->rows;
    split->name = hub_view_dup(leaf->path);
    split->numbers = calloc((size_t)leaf->rows + 1, sizeof *split->numbers);
    splits->count++;
    HUB_TRY(hub_allocated(split->name && split->numbers, err));
    const enum hub_status st = read_split(split, e, leaf, &why);
    if (st)
        split->count = split->missing.count = 0;
    return hub_h5_tree_finish(tree, st, "bad-split", leaf->path, &why, err);
}

enum hub_status hub_h5_splits_load(struct hub_h5_splits *splits, const struct hub_h5_episodes *e,
                                   uint64_t group, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_tree_dispose)
    struct hub_h5_tree tree = {.file = e->tree.file, .sink = e->tree.sink, .quiet = splits->quiet};
    uint64_t named = 0;
    HUB_TRY(hub_h5_tree_load(&tree, group, err));
    HUB_TRY(hub_new(&splits->items, (size_t)tree.count + 1, sizeof *splits->items, err));
    for (uint32_t i = 0; i < tree.count; i++)
        HUB_TRY(take_leaf(splits, e, &tree, &tree.leaves[i], &named, err));
    return HUB_OK;
}

enum hub_status hub_h5_splits_report(const struct hub_h5_splits *splits, struct hub_sink *sink,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MAX_TEXT);
    struct hub_json json = hub_json_to(&text, err);
    hub_json_object(&json);
    for (uint32_t i = 0; i < splits->count; i++) {
        const struct hub_h5_split *split = &splits->items[i];
        hub_json_put_uint(&json, split->name, split->count);
        if (split->missing.count)
            HUB_TRY(hub_sink_problem(sink, "bad-split", hub_view_of(split->name), err,
                                     "%u of its episodes do not exist, %s first", split->missing.count,
                                     split->missing.first));
    }
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return splits->count ? hub_sink_fact(sink, "splits", hub_buf_view(&text), err) : HUB_OK;
}

enum hub_status hub_h5_splits_of(const struct hub_h5_splits *splits, int64_t number, struct hub_buf *out,
                                 struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    out->size = 0;
    if (splits->count == 0)
        return HUB_OK;
    hub_json_array(&json);
    for (uint32_t i = 0; i < splits->count; i++) {
        const struct hub_h5_split *s = &splits->items[i];
        if (s->count && bsearch(&number, s->numbers, s->count, sizeof number, hub_by_i64))
            hub_json_string(&json, hub_view_of(s->name));
    }
    hub_json_end_array(&json);
    return hub_json_status(&json);
}

void hub_h5_splits_dispose(struct hub_h5_splits *splits)
{
    for (uint32_t i = 0; i < splits->count; i++) {
        free(splits->items[i].name);
        free(splits->items[i].numbers);
    }
    free(splits->items);
}

/* The problems of the hub by weight: see weighed.h. */
#include "server/page/weighed.h"

#include <stdlib.h>

enum { MOST_SHOWN = 50 };

/* The cost of a problem, the dearest first, and what helps. Those of the hub itself say it themselves. */
static const struct weight {
    const char *costs, *words, *remedy;
} weights[] = {
    {"hub", "the hub", ""},
    {"dataset", "the whole dataset", "Copy it here again, or write it again. Its files can be downloaded."},
    {"episodes", "episodes", "Copy the file here again, or write these episodes again."},
    {"loading", "loading by its library", "Write what its metadata lacks; the hub reads the dataset anyway."},
    {"cameras", "videos", "Copy the videos here again, or record these episodes again."},
    {"fields", "fields", "Write these fields again in one type and shape."},
    {"", "nothing", "Nothing needs to be done; correct the metadata when the dataset is written again."},
};

struct group {
    struct hub_view code;
    size_t weight;
    uint64_t count;
};

static size_t weight_of(const json_t *problem)
{
    const struct hub_view code = page_text(problem, "code"), costs = page_text(problem, "costs");
    const bool whole = hub_view_is(code, "dataset-broken") || hub_view_is(code, "dataset-unsupported");
    const struct hub_view of = !page_text(problem, "dataset").size ? HUB_VIEW("hub")
                               : whole                             ? HUB_VIEW("dataset")
                                                                   : costs;
    size_t w = 0;
    while (w + 1 < HUB_COUNT(weights) && !hub_view_is(of, weights[w].costs))
        w++;
    return w;
}

static int by_weight(const void *a_, const void *b_)
{
    const struct group *a = a_, *b = b_;
    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    return (a->count < b->count) - (a->count > b->count);
}

static struct group *find(struct group *groups, size_t *count, const json_t *problem)
{
    const struct hub_view code = page_text(problem, "code");
    for (size_t g = 0; g < *count; g++)
        if (hub_view_equal(groups[g].code, code))
            return &groups[g];
    groups[*count] = (struct group){.code = code, .weight = weight_of(problem)};
    return &groups[(*count)++];
}

static void write_rows(struct page *page, const json_t *items, const struct group *group)
{
    uint64_t shown = 0;
    size_t i;
    const json_t *problem;
    json_array_foreach(items, i, problem)
    {
        const struct hub_view id = page_text(problem, "dataset");
        if (!hub_view_equal(page_text(problem, "code"), group->code) || ++shown > MOST_SHOWN)
            continue;
        page_problem_row(&page->out, &(struct page_problem_row){
                                         id.size ? page_url(page, "/d/%p", id) : HUB_VIEW("/~operations"),
                                         id.size ? id : HUB_VIEW("this hub"), page_text(problem, "detail"),
                                         page_text(problem, "path")});
    }
}

static void write_group(struct page *page, const json_t *items, const struct group *group)
{
    static const char *const heads[] = {"Dataset", "Details", NULL};
    const struct weight *weight = &weights[group->weight];
    const struct page_problem_group open = {group->code, group->count,
                                            page_url(page, "costs %r", hub_view_of(weight->words))};
    const struct page_table table = {
        HUB_VIEW("cardlike"), group->count > MOST_SHOWN
                                  ? page_url(page, "the first %u of %n", (uint64_t)MOST_SHOWN, group->count)
                                  : page_url(page, "%r", group->code)};
    const struct page_problem_group_open costly = {open.code, open.count, open.costs};
    const bool costs = group->weight + 1 < HUB_COUNT(weights); /* what costs nothing is folded */
    if (costs)
        page_problem_group_open_begin(&page->out, &costly);
    else
        page_problem_group_begin(&page->out, &open);
    if (*weight->remedy)
        page_paragraph(&page->out, &(struct page_paragraph){HUB_VIEW("muted"), hub_view_of(weight->remedy)});
    page_heads_begin(page, &table, heads, "  ");
    write_rows(page, items, group);
    page_heads_end(page, &table);
    if (costs)
        page_problem_group_open_end(&page->out, &costly);
    else
        page_problem_group_end(&page->out, &open);
}

enum hub_status page_weighed_problems(struct page *page, const json_t *list)
{
    HUB_CLEANUP(hub_freep) struct group *groups = NULL;
    const struct page_section section = {HUB_VIEW("problems"), HUB_VIEW("Problems")};
    const json_t *items = json_object_get(list, "items"), *problem;
    const uint64_t total = page_count(list, "total"), here = json_array_size(items);
    size_t i, count = 0;
    HUB_TRY(hub_new(&groups, json_array_size(items) + 1, sizeof *groups, page->err));
    json_array_foreach(items, i, problem) find(groups, &count, problem)->count++;
    qsort(groups, count, sizeof *groups, by_weight);
    page_section_begin(&page->out, &section);
    page_paragraph(&page->out,
                   &(struct page_paragraph){
                       HUB_VIEW("muted"),
                       !total          ? HUB_VIEW("There are no problems.")
                       : here == total ? page_url(page, total == 1 ? "%n problem." : "%n problems.", total)
                                       : page_url(page, "%n of %n problems.", here, total)});
    for (size_t g = 0; g < count; g++)
        write_group(page, items, &groups[g]);
    page_pages(page, list);
    page_section_end(&page->out, &section);
    return HUB_OK;
}

/* Listings by namespaces: see tree.h. The walk is breadth first with rules between groups, as Minari's. */
#include "client/cli/tree.h"

#include "storage/model/format_row.h"

#include <stdlib.h>

struct tree_node {
    struct hub_view name;
    const struct minari_summary *dataset; /* a leaf */
    uint64_t count, episodes, steps, size;
    const char **authors;
    uint32_t author_count, author_capacity;
    struct tree_node **children;
    uint32_t child_count, capacity;
};

static void free_node(struct tree_node *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->child_count; i++)
        free_node(n->children[i]);
    free(n->children);
    free(n->authors);
    free(n);
}

static void free_nodep(struct tree_node **n)
{
    free_node(*n);
}

static struct tree_node *add_child(struct tree_node *parent, struct hub_view name)
{
    struct tree_node *child = NULL;
    if (hub_grow(&parent->children, parent->child_count, &parent->capacity, sizeof child, NULL) ||
        hub_new(&child, 1, sizeof *child, NULL))
        return NULL;
    child->name = name;
    return parent->children[parent->child_count++] = child;
}

/* The newest groups are the likeliest: listings come sorted. */
static struct tree_node *find_group(struct tree_node *parent, struct hub_view name)
{
    for (size_t i = parent->child_count; i-- > 0;)
        if (!parent->children[i]->dataset && hub_view_equal(parent->children[i]->name, name))
            return parent->children[i];
    return add_child(parent, name);
}

static bool add_author(struct tree_node *n, const char *author)
{
    for (size_t i = 0; i < n->author_count; i++)
        if (strcmp(n->authors[i], author) == 0)
            return true;
    if (hub_grow(&n->authors, n->author_count, &n->author_capacity, sizeof author, NULL))
        return false;
    n->authors[n->author_count++] = author;
    return true;
}

static bool count_in(struct tree_node *n, const struct minari_summary *s)
{
    n->count++;
    n->episodes += s->episodes;
    n->steps += s->steps;
    n->size += s->size;
    for (size_t i = 0; i < s->author_count; i++)
        if (!add_author(n, s->authors[i]))
            return false;
    return true;
}

static bool insert(struct tree_node *root, const struct minari_summary *s)
{
    struct tree_node *at = root;
    bool ok = count_in(root, s);
    const char *ns = s->ns ? s->ns : "";
    for (const char *slash = ns;
         ok && *ns && *slash;) { /* "a", then "a/b": a group's name is its whole namespace */
        slash = strchrnul(slash == ns ? slash : slash + 1, '/');
        at = find_group(at, (struct hub_view){ns, (size_t)(slash - ns)});
        ok = at && count_in(at, s);
    }
    struct tree_node *leaf = ok ? add_child(at, hub_view_of(s->id)) : NULL;
    if (leaf)
        leaf->dataset = s;
    return leaf && count_in(leaf, s);
}

/* ---- rows ---- */

struct tree_columns {
    bool format, status;
};

static bool add_row(struct text_table *t, const struct tree_node *n, struct tree_columns shape)
{
    char name[1400], episodes[TABLE_NUMBER], steps[TABLE_NUMBER], size[TABLE_NUMBER], authors[512] = "";
    const char *texts[TABLE_COLUMNS] = {name, episodes, steps, size};
    unsigned c = 4;
    const struct minari_summary *s = n->dataset;
    if (s)
        snprintf(name, sizeof name, "%s", s->id);
    else
        snprintf(name, sizeof name, "%.*s/... (%llu datasets)", (int)n->name.size, n->name.data,
                 (unsigned long long)n->count);
    table_number(n->episodes, episodes);
    table_number(n->steps, steps);
    hub_number_size(n->size, size);
    if (shape.format)
        texts[c++] = s ? s->format : "";
    if (shape.status)
        texts[c++] = !s ? "" : s->unloadable ? "not loadable" : s->status;
    for (size_t i = 0, at = 0; i < n->author_count && at < sizeof authors; i++)
        at += (size_t)snprintf(authors + at, sizeof authors - at, "%s%s", i ? ", " : "", n->authors[i]);
    texts[c] = n->author_count ? authors : "Unknown";
    return table_add(t, texts);
}

struct node_queue {
    const struct tree_node **items; /* NULL: a rule */
    uint32_t count, capacity;
};

static bool push(struct node_queue *q, const struct tree_node *n)
{
    if (hub_grow(&q->items, q->count, &q->capacity, sizeof *q->items, NULL))
        return false;
    q->items[q->count++] = n;
    return true;
}

static bool expand(struct node_queue *q, const struct tree_node *n)
{
    for (size_t i = 0; i < n->child_count; i++)
        if (!push(q, n->children[i]))
            return false;
    return push(q, NULL);
}

static bool add_rows(struct text_table *t, const struct tree_node *root, struct tree_columns shape)
{
    struct node_queue q = {0};
    bool ok = true, aggregate = false;
    for (size_t i = 0; ok && i < root->child_count; i++)
        ok = push(&q, root->children[i]);
    for (size_t i = 0; ok && i < q.count; i++) {
        const struct tree_node *n = q.items[i];
        if (!n)
            ok = table_add(t, NULL);
        else if (!n->child_count)
            ok = add_row(t, n, shape);
        else if (aggregate && n->child_count > TREE_MAX_ROWS)
            ok = add_row(t, n, shape) && table_add(t, NULL);
        else
            ok = expand(&q, n);
        aggregate = aggregate || (n && n->child_count > 1);
    }
    free(q.items);
    return ok;
}

/* In the order they came in: somebody asked for it. */
static bool add_flat(struct text_table *t, const struct minari_summary *const *datasets, size_t count,
                     struct tree_columns shape)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        struct tree_node n = {.dataset = datasets[i]};
        ok = count_in(&n, datasets[i]) && add_row(t, &n, shape);
        free(n.authors);
    }
    return ok;
}

static void add_column(struct text_table *t, const char *name, bool right)
{
    t->columns[t->count].name = name;
    t->columns[t->count++].right = right;
}

bool tree_fill(struct text_table *t, const struct minari_summary *const *datasets, size_t count, bool flat,
               char caption[128])
{
    HUB_CLEANUP(free_nodep) struct tree_node *root = calloc(1, sizeof *root);
    struct tree_columns shape = {0};
    char size[TABLE_NUMBER];
    bool ok = root;
    for (size_t i = 0; ok && i < count; i++) {
        ok = insert(root, datasets[i]);
        shape.format = shape.format || !hub_format_is_of(datasets[i]->format, HUB_LIBRARY_MINARI);
        shape.status = shape.status || datasets[i]->unloadable || strcmp(datasets[i]->status, "ready") != 0;
    }
    if (!ok)
        return false;
    add_column(t, "Name", false);
    add_column(t, "# Episodes", true);
    add_column(t, "# Steps", true);
    add_column(t, "Size", false);
    if (shape.format)
        add_column(t, "Format", false);
    if (shape.status)
        add_column(t, "Status", false);
    add_column(t, "Author", false);
    hub_number_size(root->size, size);
    snprintf(caption, 128, "Number of datasets: %zu, total size: %s", count, size);
    t->caption = caption;
    return flat ? add_flat(t, datasets, count, shape) : add_rows(t, root, shape);
}

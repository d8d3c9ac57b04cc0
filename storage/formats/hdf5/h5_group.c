/*
 * Links of a group, in its three forms: a symbol table (B-tree of names over a local heap), link messages in
 * the header, or link messages in a fractal heap indexed by a B-tree of version 2. Soft links are followed
 * inside the file only.
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_LINK_TEXT = 64 * 1024 * 1024, MAX_HOPS = 32 };

/* A walk over one group's links. */
struct collect {
    struct hub_h5 *file;
    struct hub_h5_links *links;
    uint64_t heap, heap_size; /* symbol tables: the local heap's data */
    struct h5_fractal fractal;
    struct hub_buf message; /* dense links: one message at a time; symbol tables: a name */
    struct hub_buf target;  /* of a soft link in a symbol table */
};

void hub_h5_links_dispose(struct hub_h5_links *links)
{
    if (!links)
        return;
    free(links->items);
    hub_buf_dispose(&links->text);
    *links = (struct hub_h5_links){0};
}

/* Texts are kept as offsets until all are there. */
static enum hub_status keep(struct hub_h5_links *links, struct hub_view text, size_t *at,
                            struct hub_error *err)
{
    *at = links->text.size;
    return hub_buf_add(&links->text, text.data, text.size, err);
}

static enum hub_status add(struct collect *w, struct hub_h5_link link, struct hub_error *err)
{
    struct hub_h5_links *links = w->links;
    if (links->count >= H5_MAX_LINKS)
        return hub_fail(err, HUB_TOO_BIG, "a group has more than %u links", H5_MAX_LINKS);
    HUB_TRY(hub_grow(&links->items, links->count, &links->capacity, sizeof *links->items, err));
    HUB_TRY(keep(links, link.name, &link.at[0], err));
    HUB_TRY(keep(links, link.file, &link.at[1], err));
    HUB_TRY(keep(links, link.path, &link.at[2], err));
    links->items[links->count++] = link;
    return HUB_OK;
}

static void point_at_texts(struct hub_h5_links *links)
{
    for (uint32_t i = 0; i < links->count; i++) {
        struct hub_h5_link *link = &links->items[i];
        struct hub_view *texts[] = {&link->name, &link->file, &link->path};
        for (size_t k = 0; k < HUB_COUNT(texts); k++)
            texts[k]->data = links->text.data + link->at[k];
    }
}

/* NUL-terminated text of the local heap, replacing what `out` holds. */
static enum hub_status heap_text(struct collect *w, uint64_t at, struct hub_buf *out, struct hub_error *err)
{
    if (at >= w->heap_size)
        return hub_fail(err, HUB_CORRUPT, "a link name is beyond its heap");
    out->size = 0;
    for (uint64_t left = w->heap_size - at; left > 0;) {
        const size_t n = (size_t)HUB_MIN(left, 64);
        HUB_TRY(hub_buf_reserve(out, n, err));
        char *to = out->data + out->size;
        HUB_TRY(h5_get(w->file, w->heap + at + out->size, to, n, err));
        const char *end = memchr(to, 0, n);
        out->size += end ? (size_t)(end - to) : n;
        if (end)
            return HUB_OK;
        left -= n;
    }
    return hub_fail(err, HUB_CORRUPT, "a link name has no end");
}

static enum hub_status take_symbol(struct collect *w, struct hub_cursor *c, struct hub_error *err)
{
    const uint64_t name_at = h5_offset(w->file, c), address = h5_offset(w->file, c);
    const uint32_t cache = hub_cursor_u32(c);
    hub_cursor_skip(c, 4);
    const uint32_t scratch = hub_cursor_u32(c);
    hub_cursor_skip(c, 12);
    HUB_TRY(heap_text(w, name_at, &w->message, err));
    struct hub_h5_link link = {.name = hub_buf_view(&w->message),
                               .kind = HUB_H5_HARD,
                               .address = address,
                               .file = HUB_VIEW(""),
                               .path = HUB_VIEW("")};
    if (cache == 2) {
        HUB_TRY(heap_text(w, scratch, &w->target, err));
        link.kind = HUB_H5_SOFT;
        link.path = hub_buf_view(&w->target);
    }
    return add(w, link, err);
}

/* "SNOD", 1, 0, entries u16, then entries */
static enum hub_status take_symbol_node(void *user, uint64_t address, struct hub_error *err)
{
    struct collect *w = user;
    uint8_t head[8];
    HUB_TRY(h5_count_node(w->file, err));
    HUB_TRY(h5_get(w->file, address, head, sizeof head, err));
    if (memcmp(head, "SNOD", 4) != 0 || head[4] != 1)
        return hub_fail(err, HUB_CORRUPT, "no symbol node at address %" PRIu64, address);
    const uint32_t entries = (uint32_t)(head[6] | head[7] << 8);
    const size_t entry = 2u * w->file->offset_size + 24;
    for (uint32_t i = 0; i < entries; i++) {
        uint8_t bytes[40];
        HUB_TRY(h5_get(w->file, address + sizeof head + i * entry, bytes, entry, err));
        struct hub_cursor c = hub_cursor_of(bytes, entry);
        HUB_TRY(take_symbol(w, &c, err));
    }
    return HUB_OK;
}

/* Symbol table message: tree, local heap. Heap: "HEAP", 0, 3 zeros, size, free list, data address */
static enum hub_status read_symbols(struct collect *w, struct hub_cursor c, struct hub_error *err)
{
    const uint64_t tree = h5_offset(w->file, &c), heap = h5_offset(w->file, &c);
    uint8_t head[32];
    const size_t size = 8u + 2u * w->file->length_size + w->file->offset_size;
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "a symbol table message is cut short");
    HUB_TRY(h5_get(w->file, heap, head, size, err));
    if (memcmp(head, "HEAP", 4) != 0)
        return hub_fail(err, HUB_CORRUPT, "no local heap at address %" PRIu64, heap);
    struct hub_cursor h = hub_cursor_of(head + 8, size - 8);
    w->heap_size = h5_length(w->file, &h);
    h5_length(w->file, &h);
    w->heap = h5_offset(w->file, &h);
    uint64_t offset = 0;
    HUB_TRY(h5_locate(w->file, w->heap, w->heap_size, &offset, err));
    return h5_btree_groups(w->file, tree, take_symbol_node, w, err);
}

static struct hub_view take_text(struct hub_cursor *c, uint64_t size)
{
    const uint8_t *at = size <= SIZE_MAX ? hub_cursor_bytes(c, (size_t)size) : NULL;
    if (!at)
        c->failed = true;
    return at ? (struct hub_view){(const char *)at, (size_t)size} : HUB_VIEW("");
}

/* External: version and flags u8, file NUL, path NUL */
static bool parse_external(struct hub_view value, struct hub_h5_link *link)
{
    const char *file = value.size ? value.data + 1 : NULL;
    const char *file_end = file ? memchr(file, 0, value.size - 1) : NULL;
    const char *end = value.data + value.size;
    const char *path = file_end ? file_end + 1 : NULL;
    const char *path_end = path && path < end ? memchr(path, 0, (size_t)(end - path)) : NULL;
    if (!path_end)
        return false;
    link->file = (struct hub_view){file, (size_t)(file_end - file)};
    link->path = (struct hub_view){path, (size_t)(path_end - path)};
    return true;
}

/* version 1, flags, [type], [creation order u64], [character set], name length, name, target */
static enum hub_status take_link(struct collect *w, struct hub_cursor *c, struct hub_error *err)
{
    struct hub_h5_link link = {.kind = HUB_H5_HARD, .file = HUB_VIEW(""), .path = HUB_VIEW("")};
    const uint8_t version = hub_cursor_u8(c), flags = hub_cursor_u8(c);
    const uint8_t type = flags & 8 ? hub_cursor_u8(c) : 0;
    hub_cursor_skip(c, (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
    link.name = take_text(c, hub_cursor_uint(c, 1u << (flags & 3)));
    if (type == 0) {
        link.address = h5_offset(w->file, c);
    } else {
        const struct hub_view value = take_text(c, hub_cursor_u16(c));
        link.kind = type == 1 ? HUB_H5_SOFT : type == 64 ? HUB_H5_EXTERNAL : HUB_H5_USER;
        if (type == 1)
            link.path = value;
        if (type == 64 && !parse_external(value, &link))
            c->failed = true;
    }
    if (c->failed || version != 1)
        return hub_fail(err, HUB_CORRUPT, "a link message is damaged");
    return add(w, link, err);
}

/* A record of the name index: hash u32, heap id */
static enum hub_status take_dense(void *user, struct hub_cursor *record, struct hub_error *err)
{
    struct collect *w = user;
    hub_cursor_skip(record, 4);
    const uint8_t *id = hub_cursor_bytes(record, w->fractal.id_length);
    if (!id)
        return hub_fail(err, HUB_CORRUPT, "a link record is too short");
    HUB_TRY(h5_fractal_get(w->file, &w->fractal, id, &w->message, err));
    struct hub_cursor c = hub_cursor_of(w->message.data, w->message.size);
    return take_link(w, &c, err);
}

/* Link info message: version 0, flags, [max order u64], heap, name index, [order index] */
static enum hub_status read_dense(struct collect *w, struct hub_cursor c, struct hub_error *err)
{
    hub_cursor_skip(&c, 1);
    const uint8_t flags = hub_cursor_u8(&c);
    hub_cursor_skip(&c, flags & 1 ? 8 : 0);
    const uint64_t heap = h5_offset(w->file, &c), tree = h5_offset(w->file, &c);
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "a link info message is cut short");
    if (heap == H5_UNDEFINED || tree == H5_UNDEFINED)
        return HUB_OK;
    HUB_TRY(h5_fractal_open(w->file, heap, &w->fractal, err));
    return h5_btree2_walk(w->file, tree, 5, NULL, take_dense, w, err);
}

static enum hub_status read_links(struct collect *w, const struct hub_h5_object *group, struct hub_error *err)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const struct hub_h5_message *m = &group->messages[i];
        struct hub_cursor c = h5_body(group, m);
        if (m->type == H5_MSG_SYMBOLS)
            HUB_TRY(read_symbols(w, c, err));
        else if (m->type == H5_MSG_LINK)
            HUB_TRY(take_link(w, &c, err));
        else if (m->type == H5_MSG_LINK_INFO)
            HUB_TRY(read_dense(w, c, err));
    }
    return group->damaged[0] ? hub_fail(err, HUB_CORRUPT, "%s", group->damaged) : HUB_OK;
}

enum hub_status hub_h5_links_load(struct hub_h5 *file, const struct hub_h5_object *group,
                                  struct hub_h5_links *links, struct hub_error *err)
{
    links->count = 0;
    links->text.size = 0;
    links->text.limit = MAX_LINK_TEXT;
    struct collect w = {.file = file,
                        .links = links,
                        .message = HUB_BUF_INIT(H5_MAX_HEADER),
                        .target = HUB_BUF_INIT(H5_MAX_HEADER)};
    enum hub_status st = hub_buf_reserve(&links->text, 1, err);
    if (!st)
        st = read_links(&w, group, err);
    point_at_texts(links);
    hub_buf_dispose(&w.message);
    hub_buf_dispose(&w.target);
    return st;
}

/* One walk along a path; `hops` counts soft links. */
struct resolve {
    struct hub_h5 *file;
    unsigned hops;
};

static enum hub_status follow(struct resolve *r, uint64_t group, struct hub_view path, uint64_t *address,
                              struct hub_error *err);

static enum hub_status load_members(struct hub_h5 *file, uint64_t group, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object object = {0};
    struct h5_members *m = &file->members;
    struct hub_error why = {0};
    if (m->loaded && m->group == group)
        return HUB_OK;
    m->loaded = false;
    m->last = 0;
    HUB_TRY(hub_h5_object_load(file, group, &object, err));
    const enum hub_status st =
        object.kind == HUB_H5_GROUP ? hub_h5_links_load(file, &object, &m->links, &why) : HUB_OK;
    if (st && st != HUB_CORRUPT) {
        if (err)
            *err = why;
        return st;
    }
    snprintf(m->damaged, sizeof m->damaged, "%.150s", why.detail);
    m->kind = object.kind;
    m->group = group;
    m->loaded = true;
    return HUB_OK;
}

static const struct hub_h5_link *find_member(struct h5_members *m, struct hub_view name)
{
    for (uint32_t i = 0; i < m->links.count; i++) {
        const uint32_t at = (uint32_t)(((uint64_t)m->last + i) % m->links.count);
        if (!hub_view_equal(m->links.items[at].name, name))
            continue;
        m->last = at + 1;
        return &m->links.items[at];
    }
    return NULL;
}

static enum hub_status step(struct resolve *r, uint64_t group, struct hub_view name, uint64_t *address,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *path = NULL;
    struct h5_members *m = &r->file->members;
    HUB_TRY(load_members(r->file, group, err));
    if (m->kind != HUB_H5_GROUP)
        return hub_fail(err, HUB_NOT_FOUND, "'%.*s' was looked up in something that is not a group",
                        (int)HUB_MIN(name.size, 80), name.data);
    const struct hub_h5_link *link = find_member(m, name);
    if (!link && m->damaged[0])
        return hub_fail(err, HUB_CORRUPT, "%s", m->damaged);
    if (!link)
        return hub_fail(err, HUB_NOT_FOUND, "there is no '%.*s'", (int)HUB_MIN(name.size, 80), name.data);
    if (link->kind == HUB_H5_HARD) {
        *address = link->address;
        return HUB_OK;
    }
    if (link->kind != HUB_H5_SOFT)
        return hub_fail(err, HUB_DENIED, "'%.*s' is a link that leaves the file", (int)HUB_MIN(name.size, 80),
                        name.data);
    if (++r->hops > MAX_HOPS)
        return hub_fail(err, HUB_UNSUPPORTED, "soft links lead in a circle");
    const size_t size = link->path.size;
    path = hub_view_dup(link->path); /* the members may be another group's before its end is reached */
    HUB_TRY(hub_allocated(path, err));
    return follow(r, group, (struct hub_view){path, size}, address, err);
}

static enum hub_status follow(struct resolve *r, uint64_t group, struct hub_view path, uint64_t *address,
                              struct hub_error *err)
{
    uint64_t at = path.size && path.data[0] == '/' ? r->file->root : group;
    for (size_t i = 0; i < path.size;) {
        const char *end = memchr(path.data + i, '/', path.size - i);
        const size_t size = end ? (size_t)(end - path.data) - i : path.size - i;
        const struct hub_view name = {path.data + i, size};
        if (size && !hub_view_is(name, "."))
            HUB_TRY(step(r, at, name, &at, err));
        i += size + 1;
    }
    *address = at;
    return HUB_OK;
}

enum hub_status hub_h5_resolve(struct hub_h5 *file, uint64_t group, struct hub_view path, uint64_t *address,
                               struct hub_error *err)
{
    struct resolve r = {.file = file};
    return follow(&r, group, path, address, err);
}

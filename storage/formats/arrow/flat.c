/* FlatBuffers, bounded: see flat.h. Little-endian; offsets are unsigned and lead forward, but for a table's
 * own to its vtable. */
#include "storage/formats/arrow/flat.h"

struct hub_flat hub_flat_of(const void *data, size_t size)
{
    return (struct hub_flat){data, size, false};
}

/* `width` bytes at `at`, or 0 and a failure. */
static uint64_t load(struct hub_flat *in, size_t at, unsigned width)
{
    uint64_t value = 0;
    if (at > in->size || width > in->size - at) {
        in->failed = true;
        return 0;
    }
    memcpy(&value, in->data + at, width);
    return value;
}

static int64_t extend(uint64_t value, unsigned width)
{
    const unsigned unused = 64 - 8 * width;
    return (int64_t)(value << unused) >> unused;
}

static struct hub_flat_table open_table(struct hub_flat *in, size_t at)
{
    const int64_t back = extend(load(in, at, 4), 4), vtable = (int64_t)at - back;
    struct hub_flat_table t = {in, at, (size_t)vtable, 0, 0};
    if (!in->failed && vtable >= 0) {
        t.vtable_size = (unsigned)load(in, t.vtable, 2);
        t.size = (unsigned)load(in, t.vtable + 2, 2);
    }
    if (in->failed || t.vtable_size < 4 || t.vtable_size > in->size - t.vtable || t.size > in->size - at) {
        in->failed = true;
        t.in = NULL;
    }
    return t;
}

/* Where a field of `width` bytes lies; 0: it is absent. */
static size_t find(const struct hub_flat_table *t, unsigned field, unsigned width)
{
    const unsigned entry = 4 + 2 * field;
    if (!t->in || entry + 2 > t->vtable_size)
        return 0;
    const unsigned offset = (unsigned)load(t->in, t->vtable + entry, 2);
    if (offset && (offset > t->size || width > t->size - offset)) {
        t->in->failed = true;
        return 0;
    }
    return offset ? t->at + offset : 0;
}

/* Where the offset at `at` leads. */
static size_t follow(struct hub_flat *in, size_t at)
{
    const size_t offset = (size_t)load(in, at, 4);
    if (offset == 0 || offset > in->size - at)
        in->failed = true;
    return in->failed ? 0 : at + offset;
}

struct hub_flat_table hub_flat_root(struct hub_flat *in)
{
    const size_t at = follow(in, 0);
    return at ? open_table(in, at) : (struct hub_flat_table){0};
}

int64_t hub_flat_int(const struct hub_flat_table *t, unsigned field, unsigned width, int64_t absent)
{
    const size_t at = find(t, field, width);
    return at ? extend(load(t->in, at, width), width) : absent;
}

struct hub_flat_table hub_flat_table(const struct hub_flat_table *t, unsigned field)
{
    const size_t at = find(t, field, 4), to = at ? follow(t->in, at) : 0;
    return to ? open_table(t->in, to) : (struct hub_flat_table){0};
}

struct hub_flat_vector hub_flat_vector(const struct hub_flat_table *t, unsigned field, unsigned item)
{
    const size_t at = find(t, field, 4), to = at ? follow(t->in, at) : 0;
    struct hub_flat_vector v = {t->in, to + 4, to ? (uint32_t)load(t->in, to, 4) : 0};
    if (to && !t->in->failed && v.count > (t->in->size - v.at) / item)
        t->in->failed = true;
    if (!to || t->in->failed)
        v.count = 0;
    return v;
}

struct hub_view hub_flat_text(const struct hub_flat_table *t, unsigned field)
{
    const struct hub_flat_vector v = hub_flat_vector(t, field, 1);
    return v.count ? (struct hub_view){(const char *)v.in->data + v.at, v.count} : HUB_VIEW("");
}

struct hub_flat_table hub_flat_item(const struct hub_flat_vector *v, uint32_t i)
{
    const size_t to = i < v->count ? follow(v->in, v->at + (size_t)i * 4) : 0;
    return to ? open_table(v->in, to) : (struct hub_flat_table){0};
}

int64_t hub_flat_number(const struct hub_flat_vector *v, size_t offset, unsigned width)
{
    return extend(load(v->in, v->at + offset, width), width);
}

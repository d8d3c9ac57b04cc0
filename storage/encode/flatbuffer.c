/* Flatbuffers: see flatbuffer.h. */
#include "storage/encode/flatbuffer.h"

void hub_flat_put(struct hub_flat *f, const void *data, size_t size)
{
    if (!f->status)
        f->status = hub_buf_add(f->out, data, size, f->err);
}

size_t hub_flat_here(const struct hub_flat *f)
{
    return f->out->size;
}

void hub_flat_align(struct hub_flat *f, size_t unit, size_t rest)
{
    static const char zeros[8];
    hub_flat_put(f, zeros, (unit + rest - (hub_flat_here(f) - f->base) % unit) % unit);
}

void hub_flat_u32(struct hub_flat *f, uint32_t value)
{
    hub_flat_put(f, &value, sizeof value);
}

void hub_flat_patch(struct hub_flat *f, size_t at, uint64_t value, size_t size)
{
    if (!f->status)
        memcpy(f->out->data + at, &value, size);
}

/* What stands at `at` refers to what comes next. */
static void refer(struct hub_flat *f, size_t at)
{
    hub_flat_patch(f, at, hub_flat_here(f) - at, 4);
}

void hub_flat_table(struct hub_flat *f, struct hub_flat_slot *slots, unsigned count, size_t from)
{
    uint16_t vtable[2 + HUB_FLAT_SLOTS] = {0}, size = 4;
    for (size_t width = 8; width; width /= 2)
        for (unsigned i = 0; i < count; i++)
            if (slots[i].size == width) {
                vtable[2 + i] = size;
                size = (uint16_t)(size + width);
            }
    vtable[0] = (uint16_t)(4 + 2 * count);
    vtable[1] = size;
    hub_flat_align(f, 8,
                   (4 + 16 - vtable[0] % 8) %
                       8); /* so that the table is at 4 modulo 8, and its longest slots at 0 */
    const size_t start = hub_flat_here(f);
    hub_flat_put(f, vtable, vtable[0]);
    if (from)
        refer(f, from);
    const size_t table = hub_flat_here(f);
    hub_flat_u32(f, (uint32_t)(table - start));
    for (size_t width = 8; width; width /= 2)
        for (unsigned i = 0; i < count; i++)
            if (slots[i].size == width) {
                slots[i].at = hub_flat_here(f);
                hub_flat_put(f, &slots[i].value, width);
            }
}

void hub_flat_vector(struct hub_flat *f, size_t from, uint32_t count, size_t unit)
{
    hub_flat_align(f, HUB_MAX(unit, (size_t)4), unit == 8 ? 4 : 0);
    refer(f, from);
    hub_flat_u32(f, count);
}

void hub_flat_string(struct hub_flat *f, size_t from, const char *text)
{
    hub_flat_vector(f, from, (uint32_t)strlen(text), 4);
    hub_flat_put(f, text, strlen(text) + 1);
}

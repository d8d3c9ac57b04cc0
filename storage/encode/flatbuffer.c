/* Flatbuffers: see flatbuffer.h. */
#include "storage/encode/flatbuffer.h"

void hub_flatbuffer_put(struct hub_flatbuffer *f, const void *data, size_t size)
{
    if (!f->status)
        f->status = hub_buf_add(f->out, data, size, f->err);
}

size_t hub_flatbuffer_here(const struct hub_flatbuffer *f)
{
    return f->out->size;
}

void hub_flatbuffer_align(struct hub_flatbuffer *f, size_t unit, size_t rest)
{
    static const char zeros[8];
    hub_flatbuffer_put(f, zeros, (unit + rest - (hub_flatbuffer_here(f) - f->base) % unit) % unit);
}

void hub_flatbuffer_u32(struct hub_flatbuffer *f, uint32_t value)
{
    hub_flatbuffer_put(f, &value, sizeof value);
}

void hub_flatbuffer_patch(struct hub_flatbuffer *f, size_t at, uint64_t value, size_t size)
{
    if (!f->status)
        memcpy(f->out->data + at, &value, size);
}

/* What stands at `at` refers to what comes next. */
static void refer(struct hub_flatbuffer *f, size_t at)
{
    hub_flatbuffer_patch(f, at, hub_flatbuffer_here(f) - at, 4);
}

void hub_flatbuffer_table(struct hub_flatbuffer *f, struct hub_flatbuffer_slot *slots, unsigned count,
                          size_t from)
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
    hub_flatbuffer_align(f, 8,
                         (4 + 16 - vtable[0] % 8) %
                             8); /* so that the table is at 4 modulo 8, and its longest slots at 0 */
    const size_t start = hub_flatbuffer_here(f);
    hub_flatbuffer_put(f, vtable, vtable[0]);
    if (from)
        refer(f, from);
    const size_t table = hub_flatbuffer_here(f);
    hub_flatbuffer_u32(f, (uint32_t)(table - start));
    for (size_t width = 8; width; width /= 2)
        for (unsigned i = 0; i < count; i++)
            if (slots[i].size == width) {
                slots[i].at = hub_flatbuffer_here(f);
                hub_flatbuffer_put(f, &slots[i].value, width);
            }
}

void hub_flatbuffer_vector(struct hub_flatbuffer *f, size_t from, uint32_t count, size_t unit)
{
    hub_flatbuffer_align(f, HUB_MAX(unit, (size_t)4), unit == 8 ? 4 : 0);
    refer(f, from);
    hub_flatbuffer_u32(f, count);
}

void hub_flatbuffer_string(struct hub_flatbuffer *f, size_t from, const char *text)
{
    hub_flatbuffer_vector(f, from, (uint32_t)strlen(text), 4);
    hub_flatbuffer_put(f, text, strlen(text) + 1);
}

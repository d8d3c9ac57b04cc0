/* Thrift's compact protocol, bounded: see thrift.h. */
#include "storage/formats/parquet/thrift.h"

struct hub_thrift hub_thrift_of(const void *data, size_t size)
{
    return (struct hub_thrift){hub_cursor_of(data, size)};
}

static uint64_t varint(struct hub_thrift *t)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint8_t byte = hub_cursor_u8(&t->in);
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return value;
    }
    t->in.failed = true;
    return 0;
}

static int64_t zigzag(struct hub_thrift *t)
{
    const uint64_t n = varint(t);
    return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

bool hub_thrift_next(struct hub_thrift *t, struct hub_thrift_field *field)
{
    const uint8_t head = hub_cursor_u8(&t->in);
    field->type = head & 0x0F;
    if (t->in.failed || field->type == HUB_THRIFT_STOP)
        return false;
    const int64_t id = (head >> 4) ? field->id + (head >> 4) : zigzag(t);
    if (field->type > HUB_THRIFT_STRUCT || id < INT16_MIN || id > INT16_MAX)
        t->in.failed = true;
    field->id = (int16_t)id;
    return !t->in.failed;
}

int64_t hub_thrift_int(struct hub_thrift *t, const struct hub_thrift_field *field)
{
    switch (field->type) {
    case HUB_THRIFT_BYTE:
        return (int8_t)hub_cursor_u8(&t->in);
    case HUB_THRIFT_I16:
    case HUB_THRIFT_I32:
    case HUB_THRIFT_I64:
        return zigzag(t);
    default:
        t->in.failed = true;
        return 0;
    }
}

void hub_thrift_take(struct hub_thrift *t, const struct hub_thrift_field *field, int64_t *const *targets,
                     size_t count)
{
    if (field->id >= 0 && (size_t)field->id < count && targets[field->id])
        *targets[field->id] = hub_thrift_int(t, field);
    else
        hub_thrift_skip(t, field);
}

bool hub_thrift_bool(struct hub_thrift *t, const struct hub_thrift_field *field)
{
    if (field->type != HUB_THRIFT_TRUE && field->type != HUB_THRIFT_FALSE)
        t->in.failed = true;
    return field->type == HUB_THRIFT_TRUE;
}

struct hub_view hub_thrift_binary(struct hub_thrift *t, const struct hub_thrift_field *field)
{
    if (field->type != HUB_THRIFT_BINARY)
        t->in.failed = true;
    const uint64_t size = varint(t);
    const uint8_t *data = size <= hub_cursor_left(&t->in) ? hub_cursor_bytes(&t->in, (size_t)size) : NULL;
    if (!data) {
        t->in.failed = true;
        return HUB_VIEW("");
    }
    return (struct hub_view){(const char *)data, (size_t)size};
}

/* Every element takes at least one byte, so what is left bounds the count. */
static uint32_t count_within(struct hub_thrift *t, uint64_t count)
{
    if (count > hub_cursor_left(&t->in) || count > UINT32_MAX)
        t->in.failed = true;
    return t->in.failed ? 0 : (uint32_t)count;
}

uint32_t hub_thrift_list(struct hub_thrift *t, const struct hub_thrift_field *field,
                         struct hub_thrift_field *element)
{
    *element = (struct hub_thrift_field){0};
    if (field->type != HUB_THRIFT_LIST && field->type != HUB_THRIFT_SET) {
        t->in.failed = true;
        return 0;
    }
    const uint8_t head = hub_cursor_u8(&t->in);
    element->type = head & 0x0F;
    const uint64_t count = (head >> 4) == 15 ? varint(t) : (uint64_t)(head >> 4);
    /* fastparquet has empty lists of no type */
    if (count && (element->type == HUB_THRIFT_STOP || element->type > HUB_THRIFT_STRUCT))
        t->in.failed = true;
    return count_within(t, count);
}

bool hub_thrift_enter(struct hub_thrift *t, const struct hub_thrift_field *field)
{
    if (field->type != HUB_THRIFT_STRUCT)
        t->in.failed = true;
    return !t->in.failed;
}

static void skip_value(struct hub_thrift *t, uint8_t type, bool in_container, unsigned depth);

static void skip_struct(struct hub_thrift *t, unsigned depth)
{
    for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);)
        skip_value(t, f.type, false, depth);
}

static void skip_list(struct hub_thrift *t, unsigned depth)
{
    const struct hub_thrift_field self = {.type = HUB_THRIFT_LIST};
    struct hub_thrift_field element;
    const uint32_t count = hub_thrift_list(t, &self, &element);
    for (uint32_t i = 0; i < count && !t->in.failed; i++)
        skip_value(t, element.type, true, depth);
}

static void skip_map(struct hub_thrift *t, unsigned depth)
{
    const uint64_t count = varint(t);
    if (count == 0)
        return;
    const uint8_t types = hub_cursor_u8(&t->in);
    const uint32_t pairs = count_within(t, count);
    for (uint32_t i = 0; i < pairs && !t->in.failed; i++) {
        skip_value(t, types >> 4, true, depth);
        skip_value(t, types & 0x0F, true, depth);
    }
}

static void skip_value(struct hub_thrift *t, uint8_t type, bool in_container, unsigned depth)
{
    const struct hub_thrift_field text = {.type = HUB_THRIFT_BINARY};
    if (type >= HUB_THRIFT_LIST && depth == HUB_THRIFT_MAX_DEPTH) {
        t->in.failed = true;
        return;
    }
    switch (type) {
    case HUB_THRIFT_TRUE:
    case HUB_THRIFT_FALSE:
        if (in_container) /* a field's boolean is its type, an element's is a byte */
            (void)hub_cursor_skip(&t->in, 1);
        return;
    case HUB_THRIFT_BYTE:
        (void)hub_cursor_skip(&t->in, 1);
        return;
    case HUB_THRIFT_I16:
    case HUB_THRIFT_I32:
    case HUB_THRIFT_I64:
        (void)varint(t);
        return;
    case HUB_THRIFT_DOUBLE:
        (void)hub_cursor_skip(&t->in, 8);
        return;
    case HUB_THRIFT_BINARY:
        (void)hub_thrift_binary(t, &text);
        return;
    case HUB_THRIFT_LIST:
    case HUB_THRIFT_SET:
        skip_list(t, depth + 1);
        return;
    case HUB_THRIFT_MAP:
        skip_map(t, depth + 1);
        return;
    case HUB_THRIFT_STRUCT:
        skip_struct(t, depth + 1);
        return;
    default:
        t->in.failed = true;
    }
}

void hub_thrift_skip(struct hub_thrift *t, const struct hub_thrift_field *field)
{
    skip_value(t, field->type, false, 0);
}

/* The state of the pickle machine: see machine.h. */
#include "storage/formats/pickle/machine.h"

enum { COPY_MAX = 1024 }; /* bytes; longer strings stay in the file */

/* ---- the stack and the memo ---- */

enum hub_status pickle_push(struct pickle_machine *m, uint32_t value)
{
    struct hub_pickle *p = m->p;
    HUB_TRY(hub_pickle_grow(&p->stack, p->stack_count, &p->stack_capacity, sizeof *p->stack, m->err));
    p->stack[p->stack_count++] = value;
    return HUB_OK;
}

enum hub_status pickle_pop(struct pickle_machine *m, uint32_t *value)
{
    struct hub_pickle *p = m->p;
    if (p->stack_count == 0 || p->stack[p->stack_count - 1] == PICKLE_MARK)
        return hub_fail(m->err, HUB_CORRUPT, "the pickle's stack is empty at %llu",
                        (unsigned long long)m->at);
    *value = p->stack[--p->stack_count];
    return HUB_OK;
}

enum hub_status pickle_push_new(struct pickle_machine *m, enum hub_pickle_kind kind,
                                struct hub_pickle_value **out)
{
    uint32_t value;
    HUB_TRY(hub_pickle_new(m->p, kind, &value, m->err));
    *out = &m->p->values[value];
    return pickle_push(m, value);
}

enum hub_status pickle_push_integer(struct pickle_machine *m, int64_t integer)
{
    struct hub_pickle_value *v;
    HUB_TRY(pickle_push_new(m, HUB_PICKLE_INT, &v));
    v->integer = integer;
    v->known = true;
    return HUB_OK;
}

enum hub_status pickle_push_bool(struct pickle_machine *m, bool truth)
{
    struct hub_pickle_value *v;
    HUB_TRY(pickle_push_new(m, HUB_PICKLE_BOOL, &v));
    v->integer = truth;
    return HUB_OK;
}

enum hub_status pickle_find_mark(struct pickle_machine *m, uint32_t *first)
{
    const struct hub_pickle *p = m->p;
    *first = 0;
    for (uint32_t i = p->stack_count; i-- > 0;)
        if (p->stack[i] == PICKLE_MARK) {
            *first = i + 1;
            return HUB_OK;
        }
    return hub_fail(m->err, HUB_CORRUPT, "a pickle opcode misses its mark at %llu",
                    (unsigned long long)m->at);
}

enum hub_status pickle_memo_put(struct pickle_machine *m, uint32_t slot)
{
    struct hub_pickle *p = m->p;
    if (p->stack_count == 0 || p->stack[p->stack_count - 1] == PICKLE_MARK)
        return hub_fail(m->err, HUB_CORRUPT, "a memo without a value at %llu", (unsigned long long)m->at);
    HUB_TRY(hub_pickle_grow(&p->memo, slot, &p->memo_capacity, sizeof *p->memo, m->err));
    while (p->memo_count <= slot)
        p->memo[p->memo_count++] = HUB_PICKLE_NONE;
    p->memo[slot] = p->stack[p->stack_count - 1];
    return HUB_OK;
}

enum hub_status pickle_memo_get(struct pickle_machine *m, uint32_t slot)
{
    const struct hub_pickle *p = m->p;
    if (slot >= p->memo_count || p->memo[slot] == HUB_PICKLE_NONE)
        return hub_fail(m->err, HUB_CORRUPT, "pickle memo %u was never set", slot);
    return pickle_push(m, p->memo[slot]);
}

/* ---- reading operands ---- */

/* What lies across the end of a frame is not what was written: bytes before it are missing, or too many. */
enum hub_status pickle_check_left(struct pickle_machine *m, uint64_t size)
{
    if (size > m->end - m->at)
        return hub_fail(m->err, HUB_CORRUPT, "the pickle is cut short at %llu", (unsigned long long)m->at);
    if (m->at < m->frame_end && size > m->frame_end - m->at)
        return hub_fail(m->err, HUB_CORRUPT, "a frame of the pickle ends too early, at %llu",
                        (unsigned long long)m->frame_end);
    return HUB_OK;
}

enum hub_status pickle_take(struct pickle_machine *m, size_t size, const uint8_t **out)
{
    size_t got = 0;
    HUB_TRY(pickle_check_left(m, size));
    HUB_TRY(hub_byte_source_peek(m->source, m->at, size, out, &got, m->err));
    if (got < size)
        return hub_fail(m->err, HUB_CORRUPT, "the pickle is cut short at %llu", (unsigned long long)m->at);
    m->at += size;
    return HUB_OK;
}

enum hub_status pickle_take_uint(struct pickle_machine *m, size_t width, uint64_t *out)
{
    const uint8_t *at;
    HUB_TRY(pickle_take(m, width, &at));
    *out = 0;
    memcpy(out, at, width);
    return HUB_OK;
}

enum hub_status pickle_push_string(struct pickle_machine *m, enum hub_pickle_kind kind, size_t width)
{
    struct hub_pickle_value *v;
    uint64_t size;
    HUB_TRY(pickle_take_uint(m, width, &size));
    HUB_TRY(pickle_check_left(m, size));
    HUB_TRY(pickle_push_new(m, kind, &v));
    v->offset = m->at;
    v->size = size;
    v->copied = size <= COPY_MAX;
    v->text = m->p->text.size;
    if (!v->copied) {
        m->at += size;
        return HUB_OK;
    }
    const uint8_t *at;
    HUB_TRY(pickle_take(m, (size_t)size, &at));
    return hub_buf_add(&m->p->text, at, (size_t)size, m->err);
}

enum hub_status pickle_push_long(struct pickle_machine *m)
{
    const uint8_t *at;
    uint64_t size, bits = 0;
    HUB_TRY(pickle_take_uint(m, 1, &size));
    HUB_TRY(pickle_take(m, (size_t)size, &at));
    const bool fits = size <= 8;
    if (fits && size && (at[size - 1] & 0x80))
        bits = UINT64_MAX;
    if (fits && size)
        memcpy(&bits, at, size);
    HUB_TRY(pickle_push_integer(m, (int64_t)bits));
    m->p->values[m->p->value_count - 1].known = fits;
    return HUB_OK;
}

enum hub_status pickle_push_float(struct pickle_machine *m)
{
    const uint8_t *at;
    uint64_t bits = 0;
    struct hub_pickle_value *v;
    HUB_TRY(pickle_take(m, 8, &at));
    for (unsigned i = 0; i < 8; i++)
        bits = bits << 8 | at[i];
    HUB_TRY(pickle_push_new(m, HUB_PICKLE_FLOAT, &v));
    memcpy(&v->real, &bits, sizeof v->real);
    return HUB_OK;
}

enum hub_status pickle_take_line(struct pickle_machine *m, uint32_t *out)
{
    const uint8_t *at;
    size_t got = 0;
    struct hub_pickle *p = m->p;
    const size_t want = (size_t)HUB_MIN(m->end - m->at, (uint64_t)COPY_MAX);
    HUB_TRY(hub_byte_source_peek(m->source, m->at, want, &at, &got, m->err));
    const uint8_t *newline = memchr(at, '\n', HUB_MIN(got, want));
    if (!newline)
        return hub_fail(m->err, HUB_CORRUPT, "an endless name at %llu", (unsigned long long)m->at);
    const size_t size = (size_t)(newline - at);
    HUB_TRY(hub_pickle_new(p, HUB_PICKLE_TEXT, out, m->err));
    struct hub_pickle_value *v = &p->values[*out];
    v->offset = m->at;
    v->size = size;
    v->copied = true;
    v->text = p->text.size;
    HUB_TRY(pickle_check_left(m, size + 1));
    m->at += size + 1;
    return hub_buf_add(&p->text, at, size, m->err);
}

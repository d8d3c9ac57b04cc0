/* The pickle machine: see pickle.h. Everything grows under a limit; an opcode outside the subset is refused
 * by its number. */
#include "storage/formats/pickle/values.h"

#include <stdlib.h>

#define COPY_MAX 1024        /* longer strings stay in the file */
#define MAX_TEXT (16 * MIB)  /* of all copied strings */
#define MARK HUB_PICKLE_NONE /* on the stack */

enum opcode {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_POP = '0',
    OP_POP_MARK = '1',
    OP_DUP = '2',
    OP_BINFLOAT = 'G',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_REDUCE = 'R',
    OP_BINSTRING = 'T',
    OP_SHORT_BINSTRING = 'U',
    OP_BINUNICODE = 'X',
    OP_APPEND = 'a',
    OP_BUILD = 'b',
    OP_GLOBAL = 'c',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_SETITEM = 's',
    OP_TUPLE = 't',
    OP_SETITEMS = 'u',
    OP_EMPTY_LIST = ']',
    OP_EMPTY_DICT = '}',
    OP_EMPTY_TUPLE = ')',
    OP_BINBYTES = 'B',
    OP_SHORT_BINBYTES = 'C',
    OP_PROTO = 0x80,
    OP_NEWOBJ = 0x81,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_BINBYTES8 = 0x8e,
    OP_EMPTY_SET = 0x8f,
    OP_ADDITEMS = 0x90,
    OP_FROZENSET = 0x91,
    OP_NEWOBJ_EX = 0x92,
    OP_STACK_GLOBAL = 0x93,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
    OP_BYTEARRAY8 = 0x96,
    OP_NEXT_BUFFER = 0x97,
};

struct machine {
    struct hub_pickle *p;
    struct hub_byte_source *source;
    uint64_t at, end;
    uint64_t frame_end; /* of the last FRAME; nothing reaches beyond it from within */
    struct hub_error *err;
};

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

/* Room for one more in an array that doubles up to the limit. */
static enum hub_status grow(void *array, uint32_t count, uint32_t *capacity, size_t item,
                            struct hub_error *err)
{
    if (count >= HUB_PICKLE_MAX_VALUES)
        return hub_fail(err, HUB_TOO_BIG, "a pickle of more than %d values", HUB_PICKLE_MAX_VALUES);
    return hub_grow(array, count, capacity, item, err);
}

enum hub_status hub_pickle_new(struct hub_pickle *p, enum hub_pickle_kind kind, uint32_t *out,
                               struct hub_error *err)
{
    HUB_TRY(grow(&p->values, p->value_count, &p->value_capacity, sizeof *p->values, err));
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
    HUB_TRY(grow(&p->cells, p->cell_count, &p->cell_capacity, sizeof *p->cells, err));
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

/* ---- the stack and the memo ---- */

static enum hub_status push(struct machine *m, uint32_t value)
{
    struct hub_pickle *p = m->p;
    HUB_TRY(grow(&p->stack, p->stack_count, &p->stack_capacity, sizeof *p->stack, m->err));
    p->stack[p->stack_count++] = value;
    return HUB_OK;
}

static enum hub_status pop(struct machine *m, uint32_t *value)
{
    struct hub_pickle *p = m->p;
    if (p->stack_count == 0 || p->stack[p->stack_count - 1] == MARK)
        return hub_fail(m->err, HUB_CORRUPT, "the pickle's stack is empty at %llu",
                        (unsigned long long)m->at);
    *value = p->stack[--p->stack_count];
    return HUB_OK;
}

static enum hub_status push_new(struct machine *m, enum hub_pickle_kind kind, struct hub_pickle_value **out)
{
    uint32_t value;
    HUB_TRY(hub_pickle_new(m->p, kind, &value, m->err));
    *out = &m->p->values[value];
    return push(m, value);
}

static enum hub_status push_integer(struct machine *m, int64_t integer)
{
    struct hub_pickle_value *v;
    HUB_TRY(push_new(m, HUB_PICKLE_INT, &v));
    v->integer = integer;
    v->known = true;
    return HUB_OK;
}

static enum hub_status push_bool(struct machine *m, bool truth)
{
    struct hub_pickle_value *v;
    HUB_TRY(push_new(m, HUB_PICKLE_BOOL, &v));
    v->integer = truth;
    return HUB_OK;
}

/* Index of the first item above the last mark; the mark itself stays below it. */
static enum hub_status find_mark(struct machine *m, uint32_t *first)
{
    const struct hub_pickle *p = m->p;
    *first = 0;
    for (uint32_t i = p->stack_count; i-- > 0;)
        if (p->stack[i] == MARK) {
            *first = i + 1;
            return HUB_OK;
        }
    return hub_fail(m->err, HUB_CORRUPT, "a pickle opcode misses its mark at %llu",
                    (unsigned long long)m->at);
}

static enum hub_status memo_put(struct machine *m, uint32_t slot)
{
    struct hub_pickle *p = m->p;
    if (p->stack_count == 0 || p->stack[p->stack_count - 1] == MARK)
        return hub_fail(m->err, HUB_CORRUPT, "a memo without a value at %llu", (unsigned long long)m->at);
    HUB_TRY(grow(&p->memo, slot, &p->memo_capacity, sizeof *p->memo, m->err));
    while (p->memo_count <= slot)
        p->memo[p->memo_count++] = HUB_PICKLE_NONE;
    p->memo[slot] = p->stack[p->stack_count - 1];
    return HUB_OK;
}

static enum hub_status memo_get(struct machine *m, uint32_t slot)
{
    const struct hub_pickle *p = m->p;
    if (slot >= p->memo_count || p->memo[slot] == HUB_PICKLE_NONE)
        return hub_fail(m->err, HUB_CORRUPT, "pickle memo %u was never set", slot);
    return push(m, p->memo[slot]);
}

/* ---- reading operands ---- */

/* What lies across the end of a frame is not what was written: bytes before it are missing, or too many. */
static enum hub_status check_left(struct machine *m, uint64_t size)
{
    if (size > m->end - m->at)
        return hub_fail(m->err, HUB_CORRUPT, "the pickle is cut short at %llu", (unsigned long long)m->at);
    if (m->at < m->frame_end && size > m->frame_end - m->at)
        return hub_fail(m->err, HUB_CORRUPT, "a frame of the pickle ends too early, at %llu",
                        (unsigned long long)m->frame_end);
    return HUB_OK;
}

static enum hub_status take(struct machine *m, size_t size, const uint8_t **out)
{
    size_t got = 0;
    HUB_TRY(check_left(m, size));
    HUB_TRY(hub_byte_source_peek(m->source, m->at, size, out, &got, m->err));
    if (got < size)
        return hub_fail(m->err, HUB_CORRUPT, "the pickle is cut short at %llu", (unsigned long long)m->at);
    m->at += size;
    return HUB_OK;
}

static enum hub_status take_uint(struct machine *m, size_t width, uint64_t *out)
{
    const uint8_t *at;
    HUB_TRY(take(m, width, &at));
    *out = 0;
    memcpy(out, at, width);
    return HUB_OK;
}

static enum hub_status push_string(struct machine *m, enum hub_pickle_kind kind, size_t width)
{
    struct hub_pickle_value *v;
    uint64_t size;
    HUB_TRY(take_uint(m, width, &size));
    HUB_TRY(check_left(m, size));
    HUB_TRY(push_new(m, kind, &v));
    v->offset = m->at;
    v->size = size;
    v->copied = size <= COPY_MAX;
    v->text = m->p->text.size;
    if (!v->copied) {
        m->at += size;
        return HUB_OK;
    }
    const uint8_t *at;
    HUB_TRY(take(m, (size_t)size, &at));
    return hub_buf_add(&m->p->text, at, (size_t)size, m->err);
}

static enum hub_status push_long(struct machine *m)
{
    const uint8_t *at;
    uint64_t size, bits = 0;
    HUB_TRY(take_uint(m, 1, &size));
    HUB_TRY(take(m, (size_t)size, &at));
    const bool fits = size <= 8;
    if (fits && size && (at[size - 1] & 0x80))
        bits = UINT64_MAX;
    if (fits && size)
        memcpy(&bits, at, size);
    HUB_TRY(push_integer(m, (int64_t)bits));
    m->p->values[m->p->value_count - 1].known = fits;
    return HUB_OK;
}

static enum hub_status push_float(struct machine *m)
{
    const uint8_t *at;
    uint64_t bits = 0;
    struct hub_pickle_value *v;
    HUB_TRY(take(m, 8, &at));
    for (unsigned i = 0; i < 8; i++)
        bits = bits << 8 | at[i];
    HUB_TRY(push_new(m, HUB_PICKLE_FLOAT, &v));
    memcpy(&v->real, &bits, sizeof v->real);
    return HUB_OK;
}

/* ---- globals ---- */

static enum hub_status push_global(struct machine *m, uint32_t module, uint32_t name)
{
    struct hub_pickle_value *v;
    HUB_TRY(push_new(m, HUB_PICKLE_GLOBAL, &v));
    v->a = module;
    v->b = name;
    return HUB_OK;
}

/* A line of text, without its end. */
static enum hub_status take_line(struct machine *m, uint32_t *out)
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
    HUB_TRY(check_left(m, size + 1));
    m->at += size + 1;
    return hub_buf_add(&p->text, at, size, m->err);
}

static enum hub_status op_global(struct machine *m)
{
    uint32_t module, name;
    HUB_TRY(take_line(m, &module));
    HUB_TRY(take_line(m, &name));
    return push_global(m, module, name);
}

static enum hub_status op_stack_global(struct machine *m)
{
    uint32_t module, name;
    HUB_TRY(pop(m, &name));
    HUB_TRY(pop(m, &module));
    if (m->p->values[name].kind != HUB_PICKLE_TEXT || m->p->values[module].kind != HUB_PICKLE_TEXT)
        return hub_fail(m->err, HUB_CORRUPT, "a global without a name at %llu", (unsigned long long)m->at);
    return push_global(m, module, name);
}

/* ---- containers ---- */

static enum hub_status op_tuple(struct machine *m, uint32_t first, bool drop_mark)
{
    struct hub_pickle *p = m->p;
    uint32_t tuple;
    HUB_TRY(hub_pickle_new(p, HUB_PICKLE_TUPLE, &tuple, m->err));
    for (uint32_t i = first; i < p->stack_count; i++)
        HUB_TRY(hub_pickle_append(p, tuple, p->stack[i], m->err));
    p->stack_count = drop_mark ? first - 1 : first;
    return push(m, tuple);
}

static enum hub_status op_short_tuple(struct machine *m, uint32_t count)
{
    const struct hub_pickle *p = m->p;
    for (uint32_t i = 0; i < count; i++)
        if (p->stack_count <= i || p->stack[p->stack_count - 1 - i] == MARK)
            return hub_fail(m->err, HUB_CORRUPT, "a tuple misses its items at %llu",
                            (unsigned long long)m->at);
    return op_tuple(m, p->stack_count - count, false);
}

/* The items from `first` up go into the container just below them (and below the mark, when there is one). */
static enum hub_status extend(struct machine *m, uint32_t first, bool marked, enum hub_pickle_kind kind)
{
    struct hub_pickle *p = m->p;
    const uint32_t below = first - marked;
    const uint32_t target = below > 0 ? p->stack[below - 1] : MARK;
    if (target == MARK || (p->values[target].kind != kind && p->values[target].kind != HUB_PICKLE_OBJECT) ||
        (kind == HUB_PICKLE_DICT && (p->stack_count - first) % 2))
        return hub_fail(m->err, HUB_CORRUPT, "items without a container at %llu", (unsigned long long)m->at);
    for (uint32_t i = first; i < p->stack_count; i++)
        HUB_TRY(hub_pickle_append(p, target, p->stack[i], m->err));
    p->stack_count = below;
    return HUB_OK;
}

static enum hub_status op_extend_marked(struct machine *m, enum hub_pickle_kind kind)
{
    uint32_t first;
    HUB_TRY(find_mark(m, &first));
    return extend(m, first, true, kind);
}

static enum hub_status op_extend(struct machine *m, uint32_t count, enum hub_pickle_kind kind)
{
    const struct hub_pickle *p = m->p;
    for (uint32_t i = 0; i < count; i++)
        if (p->stack_count <= i || p->stack[p->stack_count - 1 - i] == MARK)
            return hub_fail(m->err, HUB_CORRUPT, "the pickle's stack is empty at %llu",
                            (unsigned long long)m->at);
    return extend(m, p->stack_count - count, false, kind);
}

/* ---- objects ---- */

static enum hub_status op_reduce(struct machine *m)
{
    uint32_t callable, args, result;
    HUB_TRY(pop(m, &args));
    HUB_TRY(pop(m, &callable));
    HUB_TRY(hub_pickle_reduce(m->p, callable, args, &result, m->err));
    return push(m, result);
}

/* cls.__new__(cls, *args, **kwargs): always opaque */
static enum hub_status op_newobj(struct machine *m, bool with_keywords)
{
    uint32_t class, args, keywords = HUB_PICKLE_NONE;
    struct hub_pickle_value *v;
    if (with_keywords)
        HUB_TRY(pop(m, &keywords));
    HUB_TRY(pop(m, &args));
    HUB_TRY(pop(m, &class));
    HUB_TRY(push_new(m, HUB_PICKLE_OBJECT, &v));
    v->a = class;
    v->b = args;
    return HUB_OK;
}

static enum hub_status op_build(struct machine *m)
{
    uint32_t state, object;
    HUB_TRY(pop(m, &state));
    HUB_TRY(pop(m, &object));
    HUB_TRY(hub_pickle_build(m->p, object, state, m->err));
    return push(m, object);
}

static enum hub_status op_pop_mark(struct machine *m)
{
    uint32_t first;
    HUB_TRY(find_mark(m, &first));
    m->p->stack_count = first - 1;
    return HUB_OK;
}

static enum hub_status op_dup(struct machine *m)
{
    uint32_t top;
    HUB_TRY(pop(m, &top));
    HUB_TRY(push(m, top));
    return push(m, top);
}

static enum hub_status refuse(struct machine *m, uint8_t op)
{
    switch (op) {
    case OP_EMPTY_SET:
    case OP_ADDITEMS:
    case OP_FROZENSET:
        return hub_fail(m->err, HUB_UNSUPPORTED, "a set in a pickle");
    case OP_NEXT_BUFFER:
        return hub_fail(m->err, HUB_UNSUPPORTED, "a pickle with buffers out of band");
    case 'P':
    case 'Q':
        return hub_fail(m->err, HUB_UNSUPPORTED, "a pickle with persistent ids");
    default:
        return hub_fail(m->err, HUB_UNSUPPORTED, "pickle opcode 0x%02x at %llu", op,
                        (unsigned long long)m->at - 1);
    }
}

/* The next bytes, which Python reads at once. Writers end a frame before they begin another one. */
static enum hub_status op_frame(struct machine *m)
{
    uint64_t size, begin = m->at - 1; /* of its opcode */
    if (begin < m->frame_end)
        return hub_fail(m->err, HUB_CORRUPT, "a frame of the pickle begins within another one, at %llu",
                        (unsigned long long)begin);
    HUB_TRY(take_uint(m, 8, &size));
    HUB_TRY(check_left(m, size));
    m->frame_end = m->at + size;
    return HUB_OK;
}

static enum hub_status op_with_operand(struct machine *m, uint8_t op)
{
    uint64_t n = 0;
    switch (op) {
    case OP_BININT:
        HUB_TRY(take_uint(m, 4, &n));
        return push_integer(m, (int32_t)(uint32_t)n);
    case OP_BININT1:
        HUB_TRY(take_uint(m, 1, &n));
        return push_integer(m, (int64_t)n);
    case OP_BININT2:
        HUB_TRY(take_uint(m, 2, &n));
        return push_integer(m, (int64_t)n);
    case OP_LONG1:
        return push_long(m);
    case OP_BINFLOAT:
        return push_float(m);
    case OP_SHORT_BINUNICODE:
        return push_string(m, HUB_PICKLE_TEXT, 1);
    case OP_BINUNICODE:
        return push_string(m, HUB_PICKLE_TEXT, 4);
    case OP_BINUNICODE8:
        return push_string(m, HUB_PICKLE_TEXT, 8);
    case OP_SHORT_BINBYTES:
    case OP_SHORT_BINSTRING:
        return push_string(m, HUB_PICKLE_BYTES, 1);
    case OP_BINBYTES:
    case OP_BINSTRING:
        return push_string(m, HUB_PICKLE_BYTES, 4);
    case OP_BINBYTES8:
    case OP_BYTEARRAY8:
        return push_string(m, HUB_PICKLE_BYTES, 8);
    case OP_BINPUT:
        HUB_TRY(take_uint(m, 1, &n));
        return memo_put(m, (uint32_t)n);
    case OP_LONG_BINPUT:
        HUB_TRY(take_uint(m, 4, &n));
        return memo_put(m, (uint32_t)n);
    case OP_BINGET:
        HUB_TRY(take_uint(m, 1, &n));
        return memo_get(m, (uint32_t)n);
    case OP_LONG_BINGET:
        HUB_TRY(take_uint(m, 4, &n));
        return memo_get(m, (uint32_t)n);
    case OP_FRAME:
        return op_frame(m);
    default:
        return refuse(m, op);
    }
}

static enum hub_status step(struct machine *m, uint8_t op)
{
    struct hub_pickle_value *v;
    uint32_t ignored;
    switch (op) {
    case OP_MARK:
        return push(m, MARK);
    case OP_POP:
        return pop(m, &ignored);
    case OP_POP_MARK:
        return op_pop_mark(m);
    case OP_DUP:
        return op_dup(m);
    case OP_NONE:
        return push_new(m, HUB_PICKLE_NULL, &v);
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return push_bool(m, op == OP_NEWTRUE);
    case OP_EMPTY_LIST:
        return push_new(m, HUB_PICKLE_LIST, &v);
    case OP_EMPTY_DICT:
        return push_new(m, HUB_PICKLE_DICT, &v);
    case OP_EMPTY_TUPLE:
        return push_new(m, HUB_PICKLE_TUPLE, &v);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return op_short_tuple(m, op - OP_TUPLE1 + 1u);
    case OP_TUPLE:
        HUB_TRY(find_mark(m, &ignored));
        return op_tuple(m, ignored, true);
    case OP_APPEND:
        return op_extend(m, 1, HUB_PICKLE_LIST);
    case OP_APPENDS:
        return op_extend_marked(m, HUB_PICKLE_LIST);
    case OP_SETITEM:
        return op_extend(m, 2, HUB_PICKLE_DICT);
    case OP_SETITEMS:
        return op_extend_marked(m, HUB_PICKLE_DICT);
    case OP_GLOBAL:
        return op_global(m);
    case OP_STACK_GLOBAL:
        return op_stack_global(m);
    case OP_REDUCE:
        return op_reduce(m);
    case OP_NEWOBJ:
    case OP_NEWOBJ_EX:
        return op_newobj(m, op == OP_NEWOBJ_EX);
    case OP_BUILD:
        return op_build(m);
    case OP_MEMOIZE:
        return memo_put(m, m->p->memo_next++);
    default:
        return op_with_operand(m, op);
    }
}

static enum hub_status check_protocol(struct machine *m)
{
    const uint8_t *at;
    HUB_TRY(take(m, 2, &at));
    if (at[0] != OP_PROTO)
        return hub_fail(m->err, HUB_UNSUPPORTED, "not a pickle of protocol 2 or later");
    if (at[1] < 2 || at[1] > 5)
        return hub_fail(m->err, HUB_UNSUPPORTED, "pickle protocol %u", at[1]);
    return HUB_OK;
}

enum hub_status hub_pickle_read(struct hub_pickle *p, struct hub_byte_source *source, uint64_t offset,
                                uint64_t size, struct hub_error *err)
{
    struct machine m = {p, source, offset, offset + size, 0, err};
    p->value_count = p->cell_count = p->stack_count = p->memo_count = p->memo_next = 0;
    p->text.size = 0;
    p->root = HUB_PICKLE_NONE;
    if (size > HUB_PICKLE_MAX_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a pickle of %llu bytes", (unsigned long long)size);
    if (offset > source->size || size > source->size - offset)
        return hub_fail(err, HUB_CORRUPT, "the pickle is cut short");
    HUB_TRY(check_protocol(&m));
    for (;;) {
        const uint8_t *at;
        HUB_TRY(take(&m, 1, &at));
        const uint8_t op = *at;
        if (op == OP_STOP)
            break;
        HUB_TRY(step(&m, op));
    }
    HUB_TRY(pop(&m, &p->root));
    return HUB_OK;
}

/* The pickle machine: see pickle.h. Everything grows under a limit; an opcode outside the subset is refused
 * by its number. */
#include "storage/formats/pickle/machine.h"
#include "storage/formats/pickle/numpy.h"

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

/* ---- globals ---- */

static enum hub_status push_global(struct pickle_machine *m, uint32_t module, uint32_t name)
{
    struct hub_pickle_value *v;
    HUB_TRY(pickle_push_new(m, HUB_PICKLE_GLOBAL, &v));
    v->a = module;
    v->b = name;
    return HUB_OK;
}

static enum hub_status op_global(struct pickle_machine *m)
{
    uint32_t module, name;
    HUB_TRY(pickle_take_line(m, &module));
    HUB_TRY(pickle_take_line(m, &name));
    return push_global(m, module, name);
}

static enum hub_status op_stack_global(struct pickle_machine *m)
{
    uint32_t module, name;
    HUB_TRY(pickle_pop(m, &name));
    HUB_TRY(pickle_pop(m, &module));
    if (m->p->values[name].kind != HUB_PICKLE_TEXT || m->p->values[module].kind != HUB_PICKLE_TEXT)
        return hub_fail(m->err, HUB_CORRUPT, "a global without a name at %llu", (unsigned long long)m->at);
    return push_global(m, module, name);
}

/* ---- containers ---- */

static enum hub_status op_tuple(struct pickle_machine *m, uint32_t first, bool drop_mark)
{
    struct hub_pickle *p = m->p;
    uint32_t tuple;
    HUB_TRY(hub_pickle_new(p, HUB_PICKLE_TUPLE, &tuple, m->err));
    for (uint32_t i = first; i < p->stack_count; i++)
        HUB_TRY(hub_pickle_append(p, tuple, p->stack[i], m->err));
    p->stack_count = drop_mark ? first - 1 : first;
    return pickle_push(m, tuple);
}

static enum hub_status op_short_tuple(struct pickle_machine *m, uint32_t count)
{
    const struct hub_pickle *p = m->p;
    for (uint32_t i = 0; i < count; i++)
        if (p->stack_count <= i || p->stack[p->stack_count - 1 - i] == PICKLE_MARK)
            return hub_fail(m->err, HUB_CORRUPT, "a tuple misses its items at %llu",
                            (unsigned long long)m->at);
    return op_tuple(m, p->stack_count - count, false);
}

/* The items from `first` up go into the container just below them (and below the mark, when there is one). */
static enum hub_status extend(struct pickle_machine *m, uint32_t first, bool marked,
                              enum hub_pickle_kind kind)
{
    struct hub_pickle *p = m->p;
    const uint32_t below = first - marked;
    const uint32_t target = below > 0 ? p->stack[below - 1] : PICKLE_MARK;
    if (target == PICKLE_MARK ||
        (p->values[target].kind != kind && p->values[target].kind != HUB_PICKLE_OBJECT) ||
        (kind == HUB_PICKLE_DICT && (p->stack_count - first) % 2))
        return hub_fail(m->err, HUB_CORRUPT, "items without a container at %llu", (unsigned long long)m->at);
    for (uint32_t i = first; i < p->stack_count; i++)
        HUB_TRY(hub_pickle_append(p, target, p->stack[i], m->err));
    p->stack_count = below;
    return HUB_OK;
}

static enum hub_status op_extend_marked(struct pickle_machine *m, enum hub_pickle_kind kind)
{
    uint32_t first;
    HUB_TRY(pickle_find_mark(m, &first));
    return extend(m, first, true, kind);
}

static enum hub_status op_extend(struct pickle_machine *m, uint32_t count, enum hub_pickle_kind kind)
{
    const struct hub_pickle *p = m->p;
    for (uint32_t i = 0; i < count; i++)
        if (p->stack_count <= i || p->stack[p->stack_count - 1 - i] == PICKLE_MARK)
            return hub_fail(m->err, HUB_CORRUPT, "the pickle's stack is empty at %llu",
                            (unsigned long long)m->at);
    return extend(m, p->stack_count - count, false, kind);
}

/* ---- objects ---- */

static enum hub_status op_reduce(struct pickle_machine *m)
{
    uint32_t callable, args, result;
    HUB_TRY(pickle_pop(m, &args));
    HUB_TRY(pickle_pop(m, &callable));
    HUB_TRY(hub_pickle_reduce(m->p, callable, args, &result, m->err));
    return pickle_push(m, result);
}

/* cls.__new__(cls, *args, **kwargs): always opaque */
static enum hub_status op_newobj(struct pickle_machine *m, bool with_keywords)
{
    uint32_t class, args, keywords = HUB_PICKLE_NONE;
    struct hub_pickle_value *v;
    if (with_keywords)
        HUB_TRY(pickle_pop(m, &keywords));
    HUB_TRY(pickle_pop(m, &args));
    HUB_TRY(pickle_pop(m, &class));
    HUB_TRY(pickle_push_new(m, HUB_PICKLE_OBJECT, &v));
    v->a = class;
    v->b = args;
    return HUB_OK;
}

static enum hub_status op_build(struct pickle_machine *m)
{
    uint32_t state, object;
    HUB_TRY(pickle_pop(m, &state));
    HUB_TRY(pickle_pop(m, &object));
    HUB_TRY(hub_pickle_build(m->p, object, state, m->err));
    return pickle_push(m, object);
}

static enum hub_status op_pop_mark(struct pickle_machine *m)
{
    uint32_t first;
    HUB_TRY(pickle_find_mark(m, &first));
    m->p->stack_count = first - 1;
    return HUB_OK;
}

static enum hub_status op_dup(struct pickle_machine *m)
{
    uint32_t top;
    HUB_TRY(pickle_pop(m, &top));
    HUB_TRY(pickle_push(m, top));
    return pickle_push(m, top);
}

static enum hub_status refuse(struct pickle_machine *m, uint8_t op)
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
static enum hub_status op_frame(struct pickle_machine *m)
{
    uint64_t size, begin = m->at - 1; /* of its opcode */
    if (begin < m->frame_end)
        return hub_fail(m->err, HUB_CORRUPT, "a frame of the pickle begins within another one, at %llu",
                        (unsigned long long)begin);
    HUB_TRY(pickle_take_uint(m, 8, &size));
    HUB_TRY(pickle_check_left(m, size));
    m->frame_end = m->at + size;
    return HUB_OK;
}

static enum hub_status op_with_operand(struct pickle_machine *m, uint8_t op)
{
    uint64_t n = 0;
    switch (op) {
    case OP_BININT:
        HUB_TRY(pickle_take_uint(m, 4, &n));
        return pickle_push_integer(m, (int32_t)(uint32_t)n);
    case OP_BININT1:
        HUB_TRY(pickle_take_uint(m, 1, &n));
        return pickle_push_integer(m, (int64_t)n);
    case OP_BININT2:
        HUB_TRY(pickle_take_uint(m, 2, &n));
        return pickle_push_integer(m, (int64_t)n);
    case OP_LONG1:
        return pickle_push_long(m);
    case OP_BINFLOAT:
        return pickle_push_float(m);
    case OP_SHORT_BINUNICODE:
        return pickle_push_string(m, HUB_PICKLE_TEXT, 1);
    case OP_BINUNICODE:
        return pickle_push_string(m, HUB_PICKLE_TEXT, 4);
    case OP_BINUNICODE8:
        return pickle_push_string(m, HUB_PICKLE_TEXT, 8);
    case OP_SHORT_BINBYTES:
    case OP_SHORT_BINSTRING:
        return pickle_push_string(m, HUB_PICKLE_BYTES, 1);
    case OP_BINBYTES:
    case OP_BINSTRING:
        return pickle_push_string(m, HUB_PICKLE_BYTES, 4);
    case OP_BINBYTES8:
    case OP_BYTEARRAY8:
        return pickle_push_string(m, HUB_PICKLE_BYTES, 8);
    case OP_BINPUT:
        HUB_TRY(pickle_take_uint(m, 1, &n));
        return pickle_memo_put(m, (uint32_t)n);
    case OP_LONG_BINPUT:
        HUB_TRY(pickle_take_uint(m, 4, &n));
        return pickle_memo_put(m, (uint32_t)n);
    case OP_BINGET:
        HUB_TRY(pickle_take_uint(m, 1, &n));
        return pickle_memo_get(m, (uint32_t)n);
    case OP_LONG_BINGET:
        HUB_TRY(pickle_take_uint(m, 4, &n));
        return pickle_memo_get(m, (uint32_t)n);
    case OP_FRAME:
        return op_frame(m);
    default:
        return refuse(m, op);
    }
}

static enum hub_status step(struct pickle_machine *m, uint8_t op)
{
    struct hub_pickle_value *v;
    uint32_t ignored;
    switch (op) {
    case OP_MARK:
        return pickle_push(m, PICKLE_MARK);
    case OP_POP:
        return pickle_pop(m, &ignored);
    case OP_POP_MARK:
        return op_pop_mark(m);
    case OP_DUP:
        return op_dup(m);
    case OP_NONE:
        return pickle_push_new(m, HUB_PICKLE_NULL, &v);
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return pickle_push_bool(m, op == OP_NEWTRUE);
    case OP_EMPTY_LIST:
        return pickle_push_new(m, HUB_PICKLE_LIST, &v);
    case OP_EMPTY_DICT:
        return pickle_push_new(m, HUB_PICKLE_DICT, &v);
    case OP_EMPTY_TUPLE:
        return pickle_push_new(m, HUB_PICKLE_TUPLE, &v);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return op_short_tuple(m, op - OP_TUPLE1 + 1u);
    case OP_TUPLE:
        HUB_TRY(pickle_find_mark(m, &ignored));
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
        return pickle_memo_put(m, m->p->memo_next++);
    default:
        return op_with_operand(m, op);
    }
}

static enum hub_status check_protocol(struct pickle_machine *m)
{
    const uint8_t *at;
    HUB_TRY(pickle_take(m, 2, &at));
    if (at[0] != OP_PROTO)
        return hub_fail(m->err, HUB_UNSUPPORTED, "not a pickle of protocol 2 or later");
    if (at[1] < 2 || at[1] > 5)
        return hub_fail(m->err, HUB_UNSUPPORTED, "pickle protocol %u", at[1]);
    return HUB_OK;
}

enum hub_status hub_pickle_read(struct hub_pickle *p, struct hub_byte_source *source, uint64_t offset,
                                uint64_t size, struct hub_error *err)
{
    struct pickle_machine m = {p, source, offset, offset + size, 0, err};
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
        HUB_TRY(pickle_take(&m, 1, &at));
        const uint8_t op = *at;
        if (op == OP_STOP)
            break;
        HUB_TRY(step(&m, op));
    }
    HUB_TRY(pickle_pop(&m, &p->root));
    return HUB_OK;
}

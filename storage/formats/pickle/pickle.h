/**
 * Reads pickles (protocols 2 to 5) without executing anything: a closed subset of opcodes builds a tree of
 * plain values, numpy arrays, scalars and dtypes among them; every other class or function becomes an opaque
 * object that keeps its name, arguments and state. Long strings stay where they are: values say where their
 * bytes lie in the file, so that rows are served in place.
 * https://github.com/python/cpython/blob/main/Lib/pickletools.py names the opcodes.
 */
#ifndef HUB_FORMATS_PICKLE_H
#define HUB_FORMATS_PICKLE_H

#include "storage/formats/source.h"

enum { HUB_PICKLE_MAX_VALUES = 1 << 20, HUB_PICKLE_MAX_DEPTH = 64, HUB_PICKLE_MAX_RANK = 32 };
#define HUB_PICKLE_MAX_BYTES (4 * GIB)
#define HUB_PICKLE_NONE UINT32_MAX

enum hub_pickle_kind {
    HUB_PICKLE_NULL,
    HUB_PICKLE_BOOL,
    HUB_PICKLE_INT,
    HUB_PICKLE_FLOAT,
    HUB_PICKLE_TEXT,   /* str */
    HUB_PICKLE_BYTES,  /* bytes, bytearray */
    HUB_PICKLE_LATIN1, /* bytes written as text, each byte a code point (protocol 2) */
    HUB_PICKLE_TUPLE,
    HUB_PICKLE_LIST,
    HUB_PICKLE_DICT,
    HUB_PICKLE_GLOBAL, /* a class or function, by name */
    HUB_PICKLE_OBJECT, /* an opaque object */
    HUB_PICKLE_DTYPE,
    HUB_PICKLE_ARRAY,
    HUB_PICKLE_SCALAR,
};

/** Values are named by number: index of hub_pickle.values. */
struct hub_pickle_value {
    uint8_t kind;                /* enum hub_pickle_kind */
    bool fortran;                /* ARRAY */
    bool copied;                 /* TEXT, BYTES, LATIN1: `text` holds all of it */
    bool known;                  /* DTYPE: item is a type that can be served. INT: fits 64 bits */
    uint32_t first, last, count; /* TUPLE, LIST, DICT (keys and values by turns): cells */
    uint32_t a, b,
        c; /* OBJECT: class, arguments, state. GLOBAL: module, name. ARRAY, SCALAR: dtype, data, shape */
    int64_t integer;
    double real;
    uint64_t offset, size;   /* TEXT, BYTES, LATIN1: where in the source */
    size_t text;             /* offset in hub_pickle.text when copied */
    struct hub_variant item; /* DTYPE */
};

struct hub_pickle_cell {
    uint32_t value, next;
};

struct hub_pickle {
    struct hub_pickle_value *values;
    uint32_t value_count, value_capacity;
    struct hub_pickle_cell *cells;
    uint32_t cell_count, cell_capacity;
    uint32_t *stack;
    uint32_t stack_count, stack_capacity;
    uint32_t *memo;
    uint32_t memo_count, memo_capacity, memo_next;
    struct hub_buf text;
    uint32_t root;
};

void hub_pickle_init(struct hub_pickle *p);
void hub_pickle_dispose(struct hub_pickle *p);

/** Read the pickle at `offset`, at most `size` bytes; what `p` held before is gone, its memory is used again.
 *  HUB_CORRUPT; HUB_UNSUPPORTED names the opcode; HUB_TOO_BIG. */
HUB_MUST_USE enum hub_status hub_pickle_read(struct hub_pickle *p, struct hub_byte_source *source,
                                             uint64_t offset, uint64_t size, struct hub_error *err);

static inline const struct hub_pickle_value *hub_pickle_at(const struct hub_pickle *p, uint32_t value)
{
    return value < p->value_count ? &p->values[value] : NULL;
}

/** The copied text of a short TEXT or BYTES value; an empty view for all others. */
struct hub_view hub_pickle_text(const struct hub_pickle *p, uint32_t value);

/** Walk a container: `cell` begins as value->first; false at the end. */
bool hub_pickle_next(const struct hub_pickle *p, uint32_t *cell, uint32_t *value);
/** The i-th item of a tuple or list, or HUB_PICKLE_NONE. */
uint32_t hub_pickle_item(const struct hub_pickle *p, uint32_t container, uint32_t index);
/** The value under a key of a dictionary, or HUB_PICKLE_NONE. */
uint32_t hub_pickle_get(const struct hub_pickle *p, uint32_t dict, struct hub_view key);

/** What a value is that is no row, for people: "None", "a list". */
const char *hub_pickle_what(const struct hub_pickle_value *value);

/** An array or scalar as a row: its variant (rank 0 for scalars and 0-d arrays) and where its raw bytes
 * lie. */
struct hub_pickle_data {
    struct hub_variant variant;
    uint64_t offset, size; /* in the source; of LATIN1 data the size of the text */
    bool fortran, latin1;  /* the bytes are not the row as it is served */
};
/** HUB_UNSUPPORTED says why it cannot be a row (object arrays, structured dtypes); HUB_CORRUPT when length
 * and shape differ. */
HUB_MUST_USE enum hub_status hub_pickle_array(const struct hub_pickle *p, uint32_t value,
                                              struct hub_pickle_data *out, struct hub_error *err);

/** Bytes of LATIN1 text at data->offset decoded, or plain bytes read, into `out` (the variant's row bytes),
 * in C order. */
HUB_MUST_USE enum hub_status hub_pickle_copy(struct hub_byte_source *source,
                                             const struct hub_pickle_data *data, void *out,
                                             struct hub_error *err);

/** The value as strict JSON for metadata: arrays by dtype and shape (short or constant ones with their
 * values), opaque objects as {"class", "args", "state"}. Cut at depth HUB_PICKLE_MAX_DEPTH and at the
 * buffer's limit (HUB_TOO_BIG). */
HUB_MUST_USE enum hub_status hub_pickle_json(const struct hub_pickle *p, struct hub_byte_source *source,
                                             uint32_t value, struct hub_buf *out, struct hub_error *err);

#endif

/**
 * Element types, field types, roles and axes: the closed vocabularies of the catalogue. Numbers are stored in
 * index.db and travel between inspector and hub; index.db is rebuilt when its format number changes, so they
 * may be renumbered with it.
 */
#ifndef HUB_MODEL_DTYPE_H
#define HUB_MODEL_DTYPE_H

#include "storage/text/json.h"

#define HUB_MAX_RANK 8 /* trailing dimensions of a row */

/** What an element is in the file. */
enum hub_kind {
    HUB_KIND_NONE = 0,
    HUB_KIND_BOOL, /* one byte, 0 or 1 (HDF5 enum over int8, npy |b1) */
    HUB_KIND_INT,  /* two's complement, 1 2 4 8 bytes */
    HUB_KIND_UINT,
    HUB_KIND_FLOAT,   /* IEEE 754, 2 4 8 bytes */
    HUB_KIND_COMPLEX, /* pair of IEEE floats, 8 16 bytes in all */
    HUB_KIND_FIXED,   /* fixed-length byte string: see hub_padding (npy S) */
    HUB_KIND_VAR,     /* a row is of varying length, rank 0: bytes or text, or a sequence of numbers */
    HUB_KIND_COUNT
};

/** Where the text in a fixed-length string ends. */
enum hub_padding {
    HUB_PAD_NULS = 0,  /* before its last NULs, which numpy and h5py write: one within belongs to it */
    HUB_PAD_FIRST_NUL, /* at its first NUL, whatever lies behind */
    HUB_PAD_BLANKS,    /* before its last blanks */
    HUB_PAD_COUNT
};

/** Type and trailing shape of a row. Flat: stored as it is. */
struct hub_variant {
    uint8_t kind;       /* enum hub_kind */
    uint8_t big_endian; /* 1: multi-byte elements are stored most significant byte first */
    uint8_t rank;       /* of a row: 0 for (n,) data */
    union {
        uint8_t padding;  /* FIXED: enum hub_padding */
        uint8_t sequence; /* VAR: kind of its numbers, or HUB_KIND_NONE; of other kinds 0 */
    };
    uint32_t item_size; /* bytes of an element; 0 for a VAR of bytes or text */
    uint32_t dims[HUB_MAX_RANK];
};

/** What a field means to a reader; decides which representations it has (storage/encode). */
enum hub_field_type {
    HUB_FIELD_NUMBER = 1, /* int, uint, float, complex */
    HUB_FIELD_BOOL,
    HUB_FIELD_TEXT,       /* UTF-8, FIXED or VAR */
    HUB_FIELD_BYTES,      /* FIXED or VAR */
    HUB_FIELD_IMAGE_JPEG, /* a row is one JPEG file: VAR; or uint8 (length) or FIXED, padded with zeros */
    HUB_FIELD_IMAGE_PNG,
    HUB_FIELD_IMAGE_RAW,    /* uint8 in one of the layouts of storage/model/picture.h */
    HUB_FIELD_IMAGE_NUMBER, /* numbers that can be drawn, such as depth; measured as all numbers are */
    HUB_FIELD_PADDED_JSON,  /* a row is NUL-padded JSON text: uint8 (K) or FIXED */
    HUB_FIELD_OPAQUE,
    HUB_FIELD_TYPE_COUNT
};

enum hub_role {
    HUB_ROLE_OTHER = 0,
    HUB_ROLE_OBSERVATION,
    HUB_ROLE_ACTION,
    HUB_ROLE_REWARD,
    HUB_ROLE_DONE,
    HUB_ROLE_INFO,
    HUB_ROLE_COUNT
};

/** How rows relate to steps. */
enum hub_axis {
    HUB_AXIS_NONE = 0, /* not along the steps */
    HUB_AXIS_STEP,     /* row i belongs to step i */
    HUB_AXIS_STATE,    /* one extra row: row i precedes action i */
    HUB_AXIS_SHIFTED,  /* row i is of the action that led to state i: row i+1 of step i, row 0 of none */
    HUB_AXIS_COUNT
};

/** Rank, dims, sizes and kinds are possible and the row is at most 1 GiB. */
bool hub_variant_valid(const struct hub_variant *variant);
/** Bytes of one row; 0 for HUB_KIND_VAR. Only for valid variants. */
uint64_t hub_variant_row_bytes(const struct hub_variant *variant);
/** Elements of one row (1 for VAR and for rank 0). */
uint64_t hub_variant_row_items(const struct hub_variant *variant);
/** A number of a VAR with a sequence, as a row of its own; else the variant itself. */
struct hub_variant hub_variant_item(const struct hub_variant *variant);
/** Bytes of the text in an item of HUB_KIND_FIXED. */
size_t hub_variant_text_size(const struct hub_variant *variant, const void *item);
bool hub_variant_equal(const struct hub_variant *a, const struct hub_variant *b);

/** A stored bool, integer or float of at most 8 bytes: its bits as they are, and its value. */
struct hub_scalar {
    uint64_t bits;
    int64_t integer; /* of a bool or an integer; of an unsigned one above 2^63 - 1 its bits */
    double real;
};
struct hub_scalar hub_variant_scalar(const struct hub_variant *variant, const void *item);
/** One element that is a number, complex ones too. */
void hub_variant_json(const struct hub_variant *variant, const void *item, struct hub_json *json);

/** numpy's short name with byte order as np.lib.format writes it ("<f8", "|b1", "|S5"); for VAR "|O". `out`
 * of 16 bytes. */
void hub_variant_npy(const struct hub_variant *variant, char out[16]);
/** The name used in documents: numpy's long name ("float64", "bool") for numbers, else by field type "text",
 * "bytes", "json". */
void hub_variant_name(const struct hub_variant *variant, enum hub_field_type type, char out[24]);

/** Its rows are numbers that are measured: statistics, curves, tests of where. */
static inline bool hub_field_is_measured(enum hub_field_type type)
{
    return type == HUB_FIELD_NUMBER || type == HUB_FIELD_BOOL || type == HUB_FIELD_IMAGE_NUMBER;
}
const char *hub_field_type_name(
    enum hub_field_type type); /* "number" "bool" "text" "bytes" "image" "padded-json" "opaque" */
const char *hub_role_name(enum hub_role role);
const char *hub_axis_name(enum hub_axis axis);

#endif

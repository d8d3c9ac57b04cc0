/**
 * A layout says where the rows of one field of one part lie on disk. It is a flat little-endian blob: the
 * inspector builds it, the hub proves it with hub_layout_check, index.db stores it, and readers use it in
 * place without decoding. About 16 bytes a chunk or row extent, 24 bytes an episode.
 *
 *   head | variants | pipelines | grids | arrays | pieces | chunks | extents | columns | pages | strides |
 * windows | bytes
 *
 * An array is rows along one axis, cut into pieces that follow each other without gap; a window is the run of
 * an array's rows that belongs to one episode. Offsets are absolute in the file they name. Files are numbers
 * in the dataset's file table; HUB_SIDE_FILE is the part's own side data. All structs have natural alignment
 * and no padding that matters; every table starts at a multiple of 8.
 *
 * Thread-safety: a checked layout is immutable.
 */
#ifndef HUB_MODEL_LAYOUT_H
#define HUB_MODEL_LAYOUT_H

#include "storage/model/dtype.h"
#include "storage/model/filters.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "layouts are used in place: the host must be little-endian");

#define HUB_SIDE_FILE UINT32_MAX
#define HUB_NONE UINT32_MAX
#define HUB_ABSENT UINT64_MAX /* offset of an absent chunk: its elements are the grid's fill value */

#define HUB_MAX_FILTERS 8
#define HUB_MAX_REFUSAL 1024                /* bytes of a reason */
#define HUB_MAX_CHUNK_BYTES (256 * MIB)     /* decoded size of one chunk or page */
#define HUB_MAX_LAYOUT_BYTES (64 * MIB)     /* of one field: some four million chunks */
#define HUB_MAX_PART_LAYOUT_BYTES (1 * GIB) /* of all fields of a part */

enum hub_piece_kind {
    HUB_PIECE_STRIDED = 1, /* row i at offset + i * row_stride */
    HUB_PIECE_CHUNKED,     /* n-d grid of filtered chunks */
    HUB_PIECE_EXTENTS, /* one (offset, length) a row; fixed-size variants: every length is the row's size */
    HUB_PIECE_PAGES,   /* pages of one Parquet column chunk */
    HUB_PIECE_FILL,    /* every element is the same; VAR: every row is the same `count` bytes */
    HUB_PIECE_INLINE,  /* C-ordered rows in the layout's own bytes; VAR: one row of `count` bytes */
    HUB_PIECE_KIND_COUNT
};

/** A chunk is decoded by running its pipeline backwards. */
struct hub_filter {
    uint32_t id;    /* enum hub_filter_id */
    uint32_t param; /* filters by element: its size in bytes; else 0 */
};

struct hub_pipeline {
    uint32_t count, zero;
    struct hub_filter filters[HUB_MAX_FILTERS]; /* in the order the writer applied them */
};

/**
 * Chunk geometry of a chunked piece. Axis 0 is the row axis. Items adjoin each other, or each is a part of an
 * element (a member of a compound): then they are `element` bytes apart, `at` bytes within.
 */
struct hub_grid {
    uint16_t rank;                    /* 1 + the variant's rank */
    uint16_t inner;                   /* with `element`: trailing axes that lie within one, whole */
    uint32_t pipeline;                /* index */
    uint32_t fill;                    /* offset in bytes of one item, or HUB_NONE for zeros */
    uint32_t element;                 /* 0: items adjoin */
    uint32_t chunk[HUB_MAX_RANK + 1]; /* items along each axis; a chunk has at most HUB_MAX_CHUNK_BYTES */
    uint32_t at;
};

/** Row-major over the grid of the piece: ceil(rows / chunk[0]) x ceil(dims[0] / chunk[1]) x ... entries. Edge
 * chunks are stored whole. */
struct hub_chunk {
    uint64_t offset; /* HUB_ABSENT: not stored */
    uint32_t size;   /* stored bytes */
    uint32_t mask;   /* bit i set: filter i was skipped for this chunk */
};

struct hub_extent {
    uint64_t offset;
    uint32_t length, zero;
};

/** Parquet column chunk: what the decoder needs to turn pages into rows. */
enum hub_physical {
    HUB_PHYS_BOOLEAN = 0,
    HUB_PHYS_INT32,
    HUB_PHYS_INT64,
    HUB_PHYS_INT96,
    HUB_PHYS_FLOAT,
    HUB_PHYS_DOUBLE,
    HUB_PHYS_BYTE_ARRAY,
    HUB_PHYS_FIXED
};
enum hub_page_codec {
    HUB_PAGE_PLAIN = 0,
    HUB_PAGE_SNAPPY,
    HUB_PAGE_GZIP,
    HUB_PAGE_ZSTD = 6,
    HUB_PAGE_LZ4_RAW = 7,
    HUB_PAGE_LZ4_FRAME = 8 /* Arrow's; none of Parquet's numbers */
};

struct hub_column {
    uint8_t physical;    /* enum hub_physical, numbers of parquet.thrift Type */
    uint8_t codec;       /* enum hub_page_codec, numbers of parquet.thrift CompressionCodec */
    uint8_t max_def;     /* maximum definition level */
    uint8_t max_rep;     /* maximum repetition level; 0: flat */
    uint32_t width;      /* HUB_PHYS_FIXED: bytes of a value */
    uint32_t dictionary; /* index of the dictionary page in pages, or HUB_NONE */
    /* BYTE_ARRAY whose pages do not hold the values as they are: bytes of the longest of them; lists of
     * varying length: of the longest row; else 0 */
    uint32_t longest;
    uint8_t
        element_def; /* lists: from this definition level on there is an element; one less: an empty list */
    uint8_t zero[3];
    /* the variant's item_size may be smaller than the physical width: INT(8) in INT32 keeps the low bytes */
};

enum hub_page_encoding {
    HUB_ENC_PLAIN = 0,
    HUB_ENC_PLAIN_DICTIONARY = 2,
    HUB_ENC_RLE = 3,
    HUB_ENC_DELTA_BINARY = 5,
    HUB_ENC_DELTA_LENGTH = 6,
    HUB_ENC_DELTA_BYTES = 7,
    HUB_ENC_RLE_DICTIONARY = 8,
    HUB_ENC_SPLIT = 9 /* BYTE_STREAM_SPLIT */
};
static inline bool hub_encoding_in_dictionary(unsigned encoding)
{
    return encoding == HUB_ENC_PLAIN_DICTIONARY || encoding == HUB_ENC_RLE_DICTIONARY;
}
/** Can data pages of this physical type have this encoding? */
bool hub_encoding_suits(unsigned encoding, unsigned physical);
/** BYTE_ARRAY: the pages do not bound how many bytes their values come to; `sum` and `longest` do. */
static inline bool hub_encoding_expands(unsigned encoding)
{
    return hub_encoding_in_dictionary(encoding) || encoding == HUB_ENC_DELTA_BYTES;
}

struct hub_page {
    uint64_t offset;  /* first byte after the page header */
    uint32_t stored;  /* bytes there */
    uint32_t decoded; /* bytes once decompressed, levels included (v2: levels are never compressed) */
    uint32_t values;  /* level entries, nulls included; dictionary page: values in it */
    /* of the piece: row r is values r * items .. (r + 1) * items, so a row may span pages; lists of varying
     * length: a row begins with repetition level 0 */
    uint32_t first_value;
    /* BYTE_ARRAY of an encoding that expands: bytes of its values together, UINT32_MAX for that or more;
     * lists of varying length: rows of the piece that begin in pages before; else 0 */
    uint32_t sum;
    uint8_t encoding;              /* enum hub_page_encoding */
    uint8_t version;               /* 1 or 2; dictionary page: 0 */
    uint8_t compressed;            /* v2: 0 when this page was stored plain */
    uint8_t continues;             /* lists of varying length: 1 when it begins within a row */
    uint32_t def_bytes, rep_bytes; /* v2: bytes of the level runs before the values */
};

struct hub_piece {
    uint32_t kind;      /* enum hub_piece_kind */
    uint32_t file;      /* FILL, INLINE: HUB_NONE */
    uint64_t first_row; /* within the array */
    uint64_t rows;
    /* STRIDED: of the first row in the file; INLINE, FILL: in bytes (FILL: HUB_NONE is zeros) */
    uint64_t offset;
    int64_t row_stride; /* STRIDED: bytes from one row to the next */
    uint32_t table;     /* CHUNKED: first chunk; EXTENTS: first extent; PAGES: first data page */
    uint32_t count;     /* entries there */
    uint32_t geometry; /* CHUNKED: grid; PAGES: column; STRIDED: first of `rank` inner strides, or HUB_NONE: C
                          order */
    uint32_t zero;
};

enum { HUB_ARRAY_SCALAR = 1 }; /* its one row has no row axis: shape () and not (1,) */

struct hub_array {
    uint32_t variant, first_piece, piece_count, flags;
    uint64_t rows;
};

/** The rows of one episode. At most one window an episode, ordered by episode. An `array` of HUB_NONE: the
 * episode has the field, but its rows cannot be read; why stands in `bytes`, `count` bytes at `first` and a
 * NUL behind them. */
struct hub_window {
    uint32_t episode; /* index within the part */
    uint32_t array;
    uint64_t first, count;
};
/** Its rows that belong to steps: row 0 of a shifted field belongs to none. */
static inline struct hub_window hub_window_of_steps(struct hub_window window, enum hub_axis axis)
{
    const bool skips = axis == HUB_AXIS_SHIFTED && window.count;
    window.first += skips;
    window.count -= skips;
    return window;
}

enum hub_layout_table {
    HUB_T_VARIANTS,
    HUB_T_PIPELINES,
    HUB_T_GRIDS,
    HUB_T_ARRAYS,
    HUB_T_PIECES,
    HUB_T_CHUNKS,
    HUB_T_EXTENTS,
    HUB_T_COLUMNS,
    HUB_T_PAGES,
    HUB_T_STRIDES /* int64 */,
    HUB_T_WINDOWS,
    HUB_T_BYTES /* count = bytes */,
    HUB_T_COUNT
};

struct hub_layout_head {
    char magic[4];  /* "HLY1" */
    uint32_t apart; /* 0: the windows are in the blob; else the number they go by, see hub_layout_cut */
    uint64_t size;  /* of the whole blob */
    struct {
        uint64_t offset;
        uint32_t count, zero;
    } table[HUB_T_COUNT];
};

/** A blob with its tables found. Borrows the blob. */
struct hub_layout {
    const struct hub_layout_head *head;
    size_t size;
    const struct hub_variant *variants;
    const struct hub_pipeline *pipelines;
    const struct hub_grid *grids;
    const struct hub_array *arrays;
    const struct hub_piece *pieces;
    const struct hub_chunk *chunks;
    const struct hub_extent *extents;
    const struct hub_column *columns;
    const struct hub_page *pages;
    const int64_t *strides;
    const struct hub_window *windows;
    const uint8_t *bytes;
    uint32_t counts[HUB_T_COUNT];
    uint64_t serial; /* of this opened layout in the caches of its catalogue; 0: nothing is kept under it */
    struct hub_lru *decoded, *levels; /* these caches, borrowed: chunks and pages; buckets; or NULL */
};

/** Find the tables of a blob: magic, sizes, bounds, alignment of `data` (8). The cheap part of the proof;
 * needed before any use. */
HUB_MUST_USE enum hub_status hub_layout_open(const void *data, size_t size, struct hub_layout *out,
                                             struct hub_error *err);

/** Windows that are kept apart, because many fields of a part have the same. Append the blob of an opened
 * layout without them; `apart`, not 0, names them. */
HUB_MUST_USE enum hub_status hub_layout_cut(const struct hub_layout *layout, uint32_t apart,
                                            struct hub_buf *out, struct hub_error *err);
/** The number of its windows; 0: they are in the blob. */
uint32_t hub_layout_apart(const void *data, size_t size);
/** As hub_layout_open, of a blob whose windows are these. They are borrowed, too. */
HUB_MUST_USE enum hub_status hub_layout_join(const void *data, size_t size, struct hub_view windows,
                                             struct hub_layout *out, struct hub_error *err);

/**
 * Prove an opened layout harmless: every index inside its table, pieces of an array adjoining and complete,
 * every stored byte range inside its file without overflow, decoded sizes bounded, windows inside their
 * arrays and in order, pipelines of known filters only. Arrays own their pieces in table order, and no table
 * entry belongs to two pieces.
 *
 * @param file_sizes  sizes of the dataset's files, by number
 * @param side_size   size of the part's side data
 * @param episodes    episodes of the part
 */
HUB_MUST_USE enum hub_status hub_layout_check(const struct hub_layout *layout, const uint64_t *file_sizes,
                                              uint32_t file_count, uint64_t side_size, uint32_t episodes,
                                              struct hub_error *err);

/** "strided": of a kind that is one. */
const char *hub_piece_kind_name(unsigned kind);
/** Its rows lie in a file, not in the layout. Only for pieces of checked layouts. */
bool hub_piece_in_file(const struct hub_piece *piece);
/** Bytes that are stored for its rows alone: a dictionary, which others may share, is not counted. */
uint64_t hub_piece_stored(const struct hub_layout *layout, const struct hub_piece *piece,
                          const struct hub_variant *variant);

/** The window of an episode, or NULL. */
const struct hub_window *hub_layout_window(const struct hub_layout *layout, uint32_t episode);

/** Why the rows of a window cannot be read: one line of UTF-8 that lives in the layout. NULL: they can. */
const char *hub_layout_refusal(const struct hub_layout *layout, const struct hub_window *window);
/** The first refusal of a layout none of whose windows can be read, else NULL. */
const char *hub_layout_unreadable(const struct hub_layout *layout);

/* ---- building (inspector only) ---- */

struct hub_layout_builder;
HUB_MUST_USE enum hub_status hub_layout_builder_new(size_t limit_bytes, struct hub_layout_builder **out,
                                                    struct hub_error *err);
void hub_layout_builder_free(struct hub_layout_builder *builder);

/** Interned: equal variants, pipelines, grids and columns get the same index. */
HUB_MUST_USE enum hub_status hub_layout_variant(struct hub_layout_builder *b,
                                                const struct hub_variant *variant, uint32_t *index,
                                                struct hub_error *err);
HUB_MUST_USE enum hub_status hub_layout_pipeline(struct hub_layout_builder *b,
                                                 const struct hub_pipeline *pipeline, uint32_t *index,
                                                 struct hub_error *err);
HUB_MUST_USE enum hub_status hub_layout_grid(struct hub_layout_builder *b, const struct hub_grid *grid,
                                             uint32_t *index, struct hub_error *err);

/** Appended: `index` is that of the first. */
HUB_MUST_USE enum hub_status hub_layout_chunks(struct hub_layout_builder *b, const struct hub_chunk *chunks,
                                               uint32_t count, uint32_t *index, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_layout_extents(struct hub_layout_builder *b,
                                                const struct hub_extent *extents, uint32_t count,
                                                uint32_t *index, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_layout_column(struct hub_layout_builder *b, const struct hub_column *column,
                                               uint32_t *index, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_layout_pages(struct hub_layout_builder *b, const struct hub_page *pages,
                                              uint32_t count, uint32_t *index, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_layout_strides(struct hub_layout_builder *b, const int64_t *strides,
                                                uint32_t count, uint32_t *index, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_layout_bytes(struct hub_layout_builder *b, const void *data, uint32_t size,
                                              uint32_t *offset, struct hub_error *err);

/** Begin an array; pieces added after it are its own until the next begins. Its rows are the sum of
 * theirs. */
HUB_MUST_USE enum hub_status hub_layout_array(struct hub_layout_builder *b, uint32_t variant, uint32_t *index,
                                              struct hub_error *err);
/** The same of a variant that has no number yet. */
HUB_MUST_USE enum hub_status hub_layout_array_of(struct hub_layout_builder *b,
                                                 const struct hub_variant *variant, uint32_t *index,
                                                 struct hub_error *err);
/** The one row of this array is a value of its own. */
void hub_layout_scalar(struct hub_layout_builder *b, uint32_t array);
/** `piece->first_row` is filled in by the builder. */
HUB_MUST_USE enum hub_status hub_layout_piece(struct hub_layout_builder *b, const struct hub_piece *piece,
                                              struct hub_error *err);
HUB_MUST_USE enum hub_status hub_layout_add_window(struct hub_layout_builder *b,
                                                   const struct hub_window *window, struct hub_error *err);
/** An episode that has the field, but whose rows cannot be read: `why` is one line of UTF-8, not empty. */
HUB_MUST_USE enum hub_status hub_layout_refuse(struct hub_layout_builder *b, uint32_t episode,
                                               struct hub_view why, struct hub_error *err);
/** Refuse all episodes that were given a window; of the rows nothing is kept. */
HUB_MUST_USE enum hub_status hub_layout_refuse_all(struct hub_layout_builder *b, struct hub_view why,
                                                   struct hub_error *err);

/** The finished blob, owned by the caller (free). Windows are sorted here. */
HUB_MUST_USE enum hub_status hub_layout_finish(struct hub_layout_builder *b, void **data, size_t *size,
                                               struct hub_error *err);

#endif

/**
 * The footer of a Parquet file (https://github.com/apache/parquet-format): schema, row groups, column chunks.
 * Parsed into plain structs with every count bounded; statistics, indexes, key-values but one and unknown
 * fields are skipped. A column that cannot be read says why in `trouble`; it never fails the file.
 */
#ifndef HUB_FORMATS_PARQUET_FOOTER_H
#define HUB_FORMATS_PARQUET_FOOTER_H

#include "storage/formats/source.h"

/* A recorder that writes a row group a frame comes to 80 MiB for 100,000 frames. */
#define HUB_PARQUET_MAX_FOOTER (96 * MIB)
enum {
    HUB_PARQUET_MAX_LEAVES = 10000,
    HUB_PARQUET_MAX_GROUPS = 200000,
    HUB_PARQUET_MAX_CHUNKS = 2000000,
    HUB_PARQUET_MAX_DEPTH = 16
};

/** A leaf of the schema: one stored column. */
struct hub_parquet_leaf {
    char *path;              /* column name; a struct's member behind '/'; list levels add nothing */
    const char *trouble;     /* NULL, or why it is not readable: static text */
    struct hub_variant item; /* of one element: rank 0, or HUB_KIND_VAR */
    bool text;               /* VAR: declared to be UTF-8 */
    bool image;              /* the bytes of a struct {bytes, path}, whose column is named after the struct */
    bool part;               /* no column of its own: it belongs to another's that has its path */
    uint32_t node;    /* not HUB_NONE: a map, or lists of structs; its rows are JSON text of this node */
    uint8_t physical; /* enum hub_physical */
    uint32_t width;   /* HUB_PHYS_FIXED */
    uint8_t max_def, max_rep;
    uint8_t element_def; /* definition level from which on the innermost list has an element */
};

/** An element of the schema; those below it follow it. */
struct hub_parquet_node {
    uint32_t name, name_size; /* in `names` */
    uint32_t leaf, leaves;    /* the leaves below it; a leaf is its own */
    uint32_t end;             /* the node behind those below it */
    uint8_t annotation;       /* enum hub_parquet_annotation */
    uint8_t def, rep;
    bool repeated, group;
};
enum hub_parquet_annotation { HUB_PARQUET_STRUCT, HUB_PARQUET_LIST, HUB_PARQUET_MAP };

/** One leaf in one row group. */
struct hub_parquet_chunk {
    const char *trouble;   /* NULL, or static text */
    uint8_t codec;         /* enum hub_page_codec */
    uint64_t offset, size; /* all pages, the dictionary's first; inside the file */
    uint64_t values;       /* level entries */
    int64_t nulls;         /* -1: not stated */
};

struct hub_parquet {
    struct hub_parquet_leaf *leaves;
    uint32_t leaf_count;
    struct hub_parquet_node *nodes;
    uint32_t node_count;
    struct hub_buf names;
    uint64_t *group_rows; /* by row group */
    uint32_t group_count;
    struct hub_parquet_chunk *chunks; /* group * leaf_count + leaf */
    uint64_t rows;
    struct hub_buf arrow_schema; /* the message that Arrow's writers keep under ARROW:schema, or empty */
};

/** HUB_CORRUPT, HUB_UNSUPPORTED (encrypted footer), HUB_TOO_BIG. */
HUB_MUST_USE enum hub_status hub_parquet_open(struct hub_byte_source *source, struct hub_parquet *out,
                                              struct hub_error *err);
void hub_parquet_dispose(struct hub_parquet *parquet);

/** The leaf of this path that is no part of another's column, or HUB_NONE. */
uint32_t hub_parquet_find(const struct hub_parquet *parquet, const char *path);

#endif

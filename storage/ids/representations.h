/**
 * What rows may come as: the one list. Negotiation, refusals, openapi.json and minari-cli know no others; the
 * first is the default. A writer W is the `hub_write_W` of storage/encode.
 */
#ifndef HUB_IDS_REPRESENTATIONS_H
#define HUB_IDS_REPRESENTATIONS_H

/** What a table in it may hold; each also what stands before it. */
enum hub_table_rank {
    HUB_TABLE_NONE,    /* it is none */
    HUB_TABLE_VALUES,  /* a value a cell */
    HUB_TABLE_ROWS,    /* rows of many episodes */
    HUB_TABLE_WINDOWS, /* several rows in one, in series */
};

/* clang-format off */
#define HUB_REPRESENTATIONS(ROW) \
    /*  name   media type                  writer  table    ends of the names of such files */ \
    ROW(json,  "application/json",         json,   VALUES,  ".json") \
    ROW(npy,   "application/x-npy",        npy,    NONE,    ".npy") \
    ROW(npz,   "application/x-npz",        npz,    WINDOWS, ".npz") \
    ROW(csv,   "text/csv",                 csv,    ROWS,    ".csv") \
    ROW(arrow, "application/vnd.apache.arrow.stream", arrow, WINDOWS, ".arrows") \
    ROW(arrow-file, "application/vnd.apache.arrow.file", arrow_file, WINDOWS, ".arrow .feather") \
    ROW(jsonl, "application/x-ndjson",     jsonl,  ROWS,    ".jsonl .ndjson") \
    ROW(raw,   "application/octet-stream", raw,    NONE,    ".raw .bin") \
    ROW(image, "image/*",                  image,  NONE,    ".png .jpg .jpeg") \
    ROW(jpeg,  "image/jpeg",               image,  NONE,    "") \
    ROW(png,   "image/png",                image,  NONE,    "")
/* clang-format on */

#endif

/**
 * What rows may come as: the one list. Negotiation, refusals, openapi.json and minari-cli know no others; the
 * first is the default. A writer W is the `hub_write_W` of storage/encode.
 */
#ifndef HUB_IDS_REPRESENTATIONS_H
#define HUB_IDS_REPRESENTATIONS_H

/* clang-format off */
#define HUB_REPRESENTATIONS(ROW) \
    /*  name   media type                  writer  ends of the names of such files */ \
    ROW(json,  "application/json",         json,   ".json") \
    ROW(npy,   "application/x-npy",        npy,    ".npy") \
    ROW(npz,   "application/x-npz",        npz,    ".npz") \
    ROW(csv,   "text/csv",                 csv,    ".csv") \
    ROW(arrow, "application/vnd.apache.arrow.stream", arrow, ".arrows") \
    ROW(arrow-file, "application/vnd.apache.arrow.file", arrow_file, ".arrow .feather") \
    ROW(jsonl, "application/x-ndjson",     jsonl,  ".jsonl .ndjson") \
    ROW(raw,   "application/octet-stream", raw,    ".raw .bin") \
    ROW(image, "image/*",                  image,  ".png .jpg .jpeg") \
    ROW(jpeg,  "image/jpeg",               image,  "") \
    ROW(png,   "image/png",                image,  "")
/* clang-format on */

#endif

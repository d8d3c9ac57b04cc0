/** The lines of a commit as clients of Hugging Face send them (NDJSON): foreign bytes, read and checked. Safe
 * from any thread. */
#ifndef HUB_FACADE_HF_LINES_H
#define HUB_FACADE_HF_LINES_H

#include "storage/base/digest.h"
#include "storage/text/json.h"

enum { HUB_HF_LINE = 8 * 1024 * 1024, HUB_HF_TITLE = 1024, HUB_HF_MESSAGE = 64 * 1024 };

enum hub_hf_line_kind {
    HUB_HF_HEADER,
    HUB_HF_FILE,     /* its bytes are in the line */
    HUB_HF_LFS_FILE, /* it was sent before */
    HUB_HF_DELETED_FILE,
    HUB_HF_DELETED_FOLDER,
    HUB_HF_NOTHING, /* an empty line */
};

/** Texts borrow from the document. */
struct hub_hf_line {
    enum hub_hf_line_kind kind;
    json_t *document;
    const char *path;                     /* of a folder without the slash behind it */
    const char *title, *message, *parent; /* HEADER; parent NULL: any */
    struct hub_view content;              /* FILE: base64 */
    uint8_t sha256[HUB_SHA256_BYTES];     /* LFS_FILE */
};
void hub_hf_line_dispose(struct hub_hf_line *line);
/** Read one, without its line feed; dispose it, on failure too. Paths are not checked. */
HUB_MUST_USE enum hub_status hub_hf_line_read(struct hub_view text, struct hub_hf_line *out,
                                              struct hub_error *err);

#endif

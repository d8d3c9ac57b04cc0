/* Names of the states and of the contents of a dataset: see revision.h. */
#include "storage/ids/revision.h"

#include "storage/base/digest.h"
#include "storage/base/order.h"
#include "storage/ids/id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* "path NUL number NUL third LF" */
static enum hub_status add_fact(struct hub_digest *digest, const struct hub_revision_file *file,
                                const char *third, struct hub_error *err)
{
    char size[24];
    const int n = snprintf(size, sizeof(size), "%" PRIu64, file->size);
    HUB_TRY(hub_digest_add(digest, (struct hub_view){file->path, strlen(file->path) + 1}, err));
    HUB_TRY(hub_digest_add(digest, (struct hub_view){size, (size_t)n + 1}, err));
    HUB_TRY(hub_digest_add(digest, hub_view_of(third), err));
    return hub_digest_add(digest, HUB_VIEW("\n"), err);
}

static enum hub_status name_files(struct hub_revision_file *files, size_t count, bool content, char *out,
                                  size_t chars, struct hub_error *err)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    char text[2 * HUB_DIGEST_MAX + 1];
    uint8_t bytes[HUB_DIGEST_MAX];
    if (count)
        qsort(files, count, sizeof(*files), hub_by_text);
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    for (size_t i = 0; i < count; i++) {
        if (hub_path_hidden(hub_view_of(files[i].path)))
            continue;
        if (!content)
            snprintf(text, sizeof(text), "%" PRId64, files[i].mtime_ns);
        else if (files[i].sha256)
            hub_hex(files[i].sha256, HUB_SHA256_BYTES, text);
        else
            return hub_fail(err, HUB_NOT_FOUND, "not all files have been hashed");
        HUB_TRY(add_fact(&digest, &files[i], text, err));
    }
    HUB_TRY(hub_digest_end(&digest, bytes, err));
    hub_hex(bytes, chars / 2, out);
    return HUB_OK;
}

enum hub_status hub_revision(struct hub_revision_file *files, size_t count, char out[HUB_REVISION_CHARS + 1],
                             struct hub_error *err)
{
    return name_files(files, count, false, out, HUB_REVISION_CHARS, err);
}

enum hub_status hub_content(struct hub_revision_file *files, size_t count, char out[HUB_CONTENT_CHARS + 1],
                            struct hub_error *err)
{
    return name_files(files, count, true, out, HUB_CONTENT_CHARS, err);
}

/* What clients of Hugging Face send, by the first byte of the input: L a line of a commit, B the JSON that
 * asks Git LFS for addresses, V the JSON that asks for one object, P the JSON that lists the parts of one. */
#include "server/facade/hf_lfs_body.h"
#include "server/facade/hf_lines.h"

#include <stdlib.h>

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void look_at_line(struct hub_view text)
{
    HUB_CLEANUP(hub_hf_line_dispose) struct hub_hf_line line = {0};
    if (hub_hf_line_read(text, &line, NULL))
        return;
    check((line.kind == HUB_HF_NOTHING) == !line.document);
    check(line.path || line.kind == HUB_HF_HEADER || line.kind == HUB_HF_NOTHING);
    check(line.kind != HUB_HF_HEADER || (line.title && line.message && strlen(line.title) <= HUB_HF_TITLE));
    check(line.kind != HUB_HF_FILE || line.content.data);
    check(line.kind != HUB_HF_DELETED_FOLDER || !*line.path || line.path[strlen(line.path) - 1] != '/');
}

static enum hub_status look_at_object(void *user, const struct hub_lfs_object *object, struct hub_error *err)
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    (void)err;
    hub_hex(object->sha256, sizeof object->sha256, hex);
    check(strcmp(hex, object->oid) == 0 && object->size <= INT64_MAX);
    check(++*(unsigned *)user <= HUB_LFS_OBJECTS);
    return HUB_OK;
}

static void look_at_parts(struct hub_view text)
{
    HUB_CLEANUP(hub_freep) uint8_t(*rows)[HUB_SHA256_BYTES] = NULL;
    uint32_t count = 0;
    if (hub_lfs_parts_read(text, 100, &rows, &count, NULL) == HUB_OK)
        check(rows && count && count <= 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned count = 0;
    bool takes_parts = false;
    if (!size)
        return 0;
    const struct hub_view rest = {(const char *)data + 1, size - 1};
    switch (*data) {
    case 'L':
        look_at_line(rest);
        break;
    case 'B':
        (void)!hub_lfs_batch_read(rest, &takes_parts, look_at_object, &count, NULL);
        break;
    case 'P':
        look_at_parts(rest);
        break;
    case 'V':
        check(hub_lfs_object_read(rest, look_at_object, &count, NULL) || count == 1);
        break;
    }
    return 0;
}

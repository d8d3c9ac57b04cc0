/* What a push states, by the first byte of the input: S the size of a body in one line and Content-Range
 * behind it, D Repr-Digest, K Idempotency-Key, J the JSON that opens a draft, M the JSON of a commit, P the
 * path of a file. */
#include "server/api/drafts/stated.h"
#include "server/http/body_sink.h"
#include "storage/drafts/draft.h"
#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/truth/drafts.h"

#include <stdlib.h>

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void look_at_span(const char *text)
{
    struct hub_draft_span span;
    char *range;
    const uint64_t body = *text == '?' ? HUB_BODY_SIZE_UNKNOWN : strtoull(text, &range, 10);
    const char *line = strchr(text, '\n');
    if (hub_draft_span_read(line ? line + 1 : NULL, body, &span, NULL))
        return;
    check(span.first <= span.size && span.count <= span.size - span.first);
    check(span.count == body || (line && body == HUB_BODY_SIZE_UNKNOWN));
    check(!line || (span.count && span.size <= INT64_MAX));
}

static void look_at_digest(const char *text)
{
    struct hub_stated_digests stated;
    if (hub_draft_digest_read(text, &stated, NULL) == HUB_OK)
        check(stated.has_sha256 || stated.has_md5 || stated.has_crc32c);
    stated = (struct hub_stated_digests){0};
    if (hub_draft_md5_read(text, &stated, NULL) == HUB_OK)
        check(stated.has_md5);
}

static void look_at_key(const char *text)
{
    const char *key = NULL;
    if (hub_draft_key_read(text, &key, NULL) == HUB_OK)
        check(*key && strlen(key) <= HUB_DRAFT_KEY && !strpbrk(key, " \t\r\n\x7f"));
}

static void look_at_body(struct hub_view body, bool opens)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    struct hub_draft_order order;
    const char *text = NULL;
    if (opens && !hub_draft_body_read(body, &document, &order, NULL))
        check(!hub_id_check(hub_view_of(order.id), NULL) && hub_path_plain(hub_view_of(order.id)));
    else if (!opens && !hub_draft_message_read(body, &document, &text, NULL))
        check(text != NULL && (body.size || !*text));
}

/* What is accepted leads nowhere but below the tree, and can be a file there. */
static void look_at_path(struct hub_view path)
{
    if (hub_draft_path_check(path, NULL))
        return;
    check(hub_path_plain(path) && !memchr(path.data, '\0', path.size) && !memchr(path.data, '\\', path.size));
    check(!hub_path_hidden(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const struct hub_view rest = {(const char *)data + 1, size - 1};
    HUB_CLEANUP(hub_freep) char *text = hub_view_dup(rest);
    if (!text)
        return 0;
    switch (*data) {
    case 'S':
        look_at_span(text);
        break;
    case 'D':
        look_at_digest(text);
        break;
    case 'K':
        look_at_key(text);
        break;
    case 'J':
    case 'M':
        look_at_body(rest, *data == 'J');
        break;
    case 'P':
        look_at_path(rest);
        break;
    }
    return 0;
}

/* What a hub sends: heads of answers, problem documents, pages of items, and the journal of a download. The
 * first byte chooses. */
#include "client/lib/internal.h"
#include "storage/net/problem.h"
#include "storage/remote/items.h"
#include "storage/transfer/journal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void head(struct hub_view text)
{
    struct hub_answer answer = {0};
    while (text.size) {
        const char *end = memchr(text.data, '\n', text.size);
        const size_t n = end ? (size_t)(end - text.data) + 1 : text.size;
        hub_answer_line(&answer, (struct hub_view){text.data, n}, 1000000000);
        text.data += n;
        text.size -= n;
    }
    if (answer.has_range && (answer.first > answer.last || answer.last >= answer.total))
        abort();
}

static void problem(struct hub_view text)
{
    struct hub_error err = {0};
    const struct hub_answer answer = {.status = 404, .type = "application/problem+json"};
    if (hub_problem_read(&answer, text, &err) == HUB_OK || !memchr(err.detail, '\0', sizeof err.detail))
        abort();
}

/* The items cut out of the text are those the parser finds. */
static void items(struct hub_view text)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    struct hub_view *raw = NULL;
    size_t count = 0;
    if (hub_json_parse(text, 1 * MIB, &doc, NULL) || !json_is_object(doc))
        return;
    const json_t *list = json_object_get(doc, "items");
    if (!json_is_array(list) || hub_raw_items(text, "items", json_array_size(list), &raw, &count, NULL))
        return;
    for (size_t i = 0; i < count; i++) {
        struct minari_summary summary;
        if (raw[i].data < text.data || raw[i].data + raw[i].size > text.data + text.size)
            abort();
        if (!hub_summary_read(json_array_get(list, i), &summary, NULL))
            free((void *)summary.authors);
    }
    free(raw);
}

static void take(const struct hub_segment *segment, void *user)
{
    *(uint32_t *)user ^= segment->crc32c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t sum = 0;
    size_t valid = 0;
    if (!size)
        return 0;
    const struct hub_view rest = {(const char *)data + 1, size - 1};
    switch (data[0]) {
    case 'h':
        head(rest);
        break;
    case 'p':
        problem(rest);
        break;
    case 'i':
        items(rest);
        break;
    default:
        hub_journal_read(rest, take, &sum, &valid);
        if (valid > rest.size)
            abort();
    }
    return 0;
}

/* URLs: what decodes encodes and decodes to the same, and queries stay within their limits. */
#include "storage/base/uri.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hub_view text = {(const char *)data, size};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf decoded = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf encoded = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf again = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_query_dispose) struct hub_query query = {0};
    if (hub_uri_decode_segment(text, &decoded, NULL) == HUB_OK) {
        if (hub_uri_encode_segment(hub_buf_view(&decoded), &encoded, NULL) ||
            hub_uri_decode_segment(hub_buf_view(&encoded), &again, NULL) ||
            !hub_view_equal(hub_buf_view(&decoded), hub_buf_view(&again)))
            abort();
    }
    if (hub_query_parse(text, &query, NULL) == HUB_OK) {
        size_t bytes = 0;
        for (size_t i = 0; i < query.count; i++) {
            bytes += query.pairs[i].name.size + query.pairs[i].value.size;
            if (query.pairs[i].name.data[query.pairs[i].name.size] ||
                query.pairs[i].value.data[query.pairs[i].value.size])
                abort();
        }
        if (bytes > size || query.count > HUB_QUERY_PAIRS)
            abort();
    }
    return 0;
}

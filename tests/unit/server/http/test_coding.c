/* server/http/coding.c */
#include "server/http/http.h"

#include <criterion/criterion.h>
#include <zlib.h>

static bool accepts(const char *first, const char *second)
{
    const struct hub_param headers[] = {{HUB_VIEW("accept-encoding"), hub_view_of(first)},
                                        {HUB_VIEW("Accept-Encoding"), hub_view_of(second ? second : "")}};
    const struct hub_request request = {.headers = headers, .header_count = second ? 2 : 1};
    return hub_accepts_gzip(&request);
}

Test(coding, what_a_client_takes)
{
    static const char *const yes[] = {"gzip",
                                      "GZIP",
                                      "x-gzip",
                                      "*",
                                      "deflate, gzip;q=1.0, *;q=0.5",
                                      "br;q=1,gzip ; q=0.001",
                                      "gzip;q=1",
                                      "gzip;Q=0.5",
                                      ",,gzip",
                                      "identity;q=0.5, gzip",
                                      "identity,gzip"};
    static const char *const no[] = {"",
                                     "identity",
                                     "deflate, br",
                                     "gzip;q=0",
                                     "gzip;q=0.000",
                                     "*;q=0",
                                     "*, gzip;q=0",
                                     "gzip;q=2",
                                     "gzip;q=",
                                     "gzip;q=-1",
                                     "gzip;level=9",
                                     "gzip;q=0.00000001",
                                     "gzipped",
                                     "identity;q=1, gzip;q=0.9"};
    for (size_t i = 0; i < HUB_COUNT(yes); i++)
        cr_expect(accepts(yes[i], NULL), "%s", yes[i]);
    for (size_t i = 0; i < HUB_COUNT(no); i++)
        cr_expect_not(accepts(no[i], NULL), "%s", no[i]);
    cr_expect(accepts("br", "gzip"), "two lines are one list");
    const struct hub_request request = {.header_count = 0};
    cr_expect_not(hub_accepts_gzip(&request));
}

Test(coding, there_and_back)
{
    static char text[200000];
    static unsigned char back[sizeof text];
    for (size_t size = 0; size <= sizeof text; size += size / 2 + 1) {
        for (size_t i = 0; i < size; i++)
            text[i] = (char)(i * i % 251);
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
        cr_assert_eq(hub_gzip((struct hub_view){text, size}, HUB_GZIP_QUICK, &out, NULL), HUB_OK);
        z_stream stream = {.next_in = (unsigned char *)out.data,
                           .avail_in = (unsigned)out.size,
                           .next_out = back,
                           .avail_out = sizeof back};
        cr_assert_eq(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
        cr_assert_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
        cr_expect(stream.total_out == size && memcmp(back, text, size) == 0);
        inflateEnd(&stream);
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf small = HUB_BUF_INIT(8);
    cr_expect_eq(hub_gzip(HUB_VIEW("text"), HUB_GZIP_SMALL, &small, NULL), HUB_TOO_BIG);
}

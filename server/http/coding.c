/* The gzip content coding (RFC 9110 8.4.1.3): may the client be sent it, and the coding itself. */
#include "server/http/fields.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <strings.h>

/* "q=0.5" in thousandths; no weight is 1, a malformed one 0. */
static unsigned weight_of(struct hub_view parameters)
{
    const struct hub_view text = hub_trimmed(parameters);
    char digits[8] = "";
    if (!text.size)
        return 1000;
    if (text.size < 3 || text.size > 7 || (text.data[0] | 0x20) != 'q' || text.data[1] != '=')
        return 0;
    memcpy(digits, text.data + 2, text.size - 2);
    const double q = digits[0] >= '0' && digits[0] <= '1' ? strtod(digits, NULL) : 0;
    return q > 1 ? 0 : (unsigned)(q * 1000);
}

static bool is(struct hub_view coding, const char *name)
{
    return coding.size == strlen(name) && strncasecmp(coding.data, name, coding.size) == 0;
}

/* What one list says of gzip, of anything else, and of no coding at all. */
static void read_list(struct hub_view list, int *gzip, int *any, int *plain)
{
    while (list.size) {
        const char *comma = memchr(list.data, ',', list.size);
        const size_t size = comma ? (size_t)(comma - list.data) : list.size;
        const char *semicolon = memchr(list.data, ';', size);
        const size_t name_size = semicolon ? (size_t)(semicolon - list.data) : size;
        const struct hub_view name = hub_trimmed((struct hub_view){list.data, name_size});
        const struct hub_view rest = {list.data + name_size + (semicolon != NULL),
                                      size - name_size - (semicolon != NULL)};
        const int weight = (int)weight_of(rest);
        if (is(name, "gzip") || is(name, "x-gzip"))
            *gzip = weight;
        else if (is(name, "*"))
            *any = weight;
        else if (is(name, "identity"))
            *plain = weight;
        list = (struct hub_view){list.data + size + (comma != NULL), list.size - size - (comma != NULL)};
    }
}

bool hub_accepts_gzip(const struct hub_request *request)
{
    int gzip = -1, any = -1, plain = -1;
    for (unsigned i = 0; i < request->header_count; i++)
        if (hub_param_named(&request->headers[i], "Accept-Encoding"))
            read_list(request->headers[i].value, &gzip, &any, &plain);
    if (gzip < 0)
        gzip = any;
    return gzip > 0 && gzip >= plain;
}

enum hub_status hub_gzip(struct hub_view plain, enum hub_gzip_effort effort, struct hub_buf *out,
                         struct hub_error *err)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(effort);
    HUB_TRY(hub_allocated(compressor, err));
    const size_t room = libdeflate_gzip_compress_bound(compressor, plain.size);
    const enum hub_status st = hub_buf_reserve(out, room, err);
    if (!st)
        out->size +=
            libdeflate_gzip_compress(compressor, plain.data, plain.size, out->data + out->size, room);
    libdeflate_free_compressor(compressor);
    if (!st)
        hub_buf_fit(out, 4 * KIB);
    return st;
}

bool hub_accepts_html(const struct hub_request *request)
{
    const char *accept = hub_request_header(request, "Accept");
    return accept && strcasestr(accept, "text/html");
}

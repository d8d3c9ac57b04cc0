/* Libraries at their first use, long after the sandbox has closed: none may look for a file then. */
#include "tests/support/planted/planted.h"

#include "storage/base/digest.h"
#include "storage/codec/codec.h"
#include "storage/formats/hdf5/h5_vfd.h"
#include "storage/text/json.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

INSPECT(do_digests)
{
    (void)files, (void)part, (void)sink;
    uint8_t out[HUB_DIGEST_MAX];
    HUB_TRY(hub_digest_of(HUB_SHA256, HUB_VIEW("abc"), out, err));
    if (out[0] != 0xBA || out[31] != 0xAD)
        return hub_fail(err, HUB_CORRUPT, "another SHA-256");
    HUB_TRY(hub_digest_of(HUB_SHA1, HUB_VIEW("abc"), out, err));
    return hub_digest_of(HUB_MD5, HUB_VIEW("abc"), out, err);
}

/* "hub" as each codec stores it; noise as well, which must be refused and no more. */
static enum hub_status decode(enum hub_status (*codec)(const void *, size_t, void *, size_t,
                                                       struct hub_error *),
                              struct hub_view stored, struct hub_error *err)
{
    char out[3] = "", noise[300];
    memset(noise, 0xA7, sizeof noise);
    HUB_TRY(codec(stored.data, stored.size, out, sizeof out, err));
    if (memcmp(out, "hub", 3) != 0 || codec(noise, sizeof noise, out, sizeof out, NULL) == HUB_OK)
        return hub_fail(err, HUB_CORRUPT, "decoded to something else");
    return HUB_OK;
}

#define DECODES(name, codec, ...)                                                                            \
    INSPECT(name)                                                                                            \
    {                                                                                                        \
        (void)files, (void)part, (void)sink;                                                                 \
        static const uint8_t stored[] = {__VA_ARGS__};                                                       \
        return decode(codec, (struct hub_view){(const char *)stored, sizeof stored}, err);                   \
    }

DECODES(do_deflate, hub_inflate, 0x78, 0x9C, 0xCB, 0x28, 0x4D, 0x02, 0x00, 0x02, 0x87, 0x01, 0x40)
DECODES(do_lzf, hub_unlzf, 0x02, 'h', 'u', 'b')
DECODES(do_snappy, hub_unsnappy, 0x03, 0x08, 'h', 'u', 'b')
DECODES(do_zstd, hub_unzstd, 0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x03, 0x19, 0x00, 0x00, 'h', 'u', 'b')
DECODES(do_lz4, hub_unlz4, 0x30, 'h', 'u', 'b')

INSPECT(do_json)
{
    (void)files, (void)part, (void)sink;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(1000);
    json_t *document;
    HUB_TRY(
        hub_json_parse(HUB_VIEW("{\"a\":{\"b\":[1e308,\"\\u00e9\",null]},\"c\":-0.1}"), 100, &document, err));
    char *text = json_dumps(document, JSON_SORT_KEYS);
    json_decref(document);
    free(text);
    HUB_TRY(hub_json_strict(HUB_VIEW("{\"a\": [NaN, Infinity]}"), &strict, err));
    return text ? HUB_OK : hub_fail(err, HUB_NO_MEMORY, "no text");
}

/* The library's own start, and a file that it must refuse. */
INSPECT(do_hdf5)
{
    (void)sink;
    int fd;
    HUB_TRY(files->open(files, part->files[0], &fd, err));
    int trouble = 0;
    return h5_vfd_open(fd, files->entries[part->files[0]].size, &trouble) < 0 && !trouble
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "opened");
}

INSPECT(do_numbers)
{
    (void)files, (void)part, (void)sink;
    char text[400];
    snprintf(text, sizeof text, "%.17g %Lf %'d %a", 0.1, 1e300L, 1234567, 0.3);
    return strtod(text, NULL) == 0.1 && strtold("1e-4000", NULL) > 0 ? HUB_OK
                                                                     : hub_fail(err, HUB_CORRUPT, "%s", text);
}

/* libhdf5 turns the times of old files into local time. */
INSPECT(do_local_time)
{
    (void)files, (void)part, (void)sink;
    struct tm parts = {.tm_year = 100, .tm_mday = 1};
    const time_t then = mktime(&parts);
    char text[64];
    tzset();
    return localtime_r(&then, &parts) && gmtime(&then) && strftime(text, sizeof text, "%c %Z", &parts) &&
                   then == 946684800
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "not UTC: %lld", (long long)then);
}

INSPECT(do_error_text)
{
    (void)files, (void)part, (void)sink;
    struct hub_error why;
    for (int number = 0; number < 150; number++)
        (void)hub_fail_errno(&why, number, "%s", strerror(number));
    return strsignal(SIGSEGV) ? HUB_OK : hub_fail(err, HUB_NO_MEMORY, "no text");
}

/* Beyond what malloc takes from its own heap, and back again; many small ones after a refusal. */
INSPECT(do_large_blocks)
{
    (void)files, (void)part, (void)sink;
    for (size_t size = 2; size < 256 * MIB; size *= 2) {
        char *block = malloc(size), *grown = block ? realloc(block, size + size / 2) : NULL;
        if (!grown)
            return hub_fail(err, HUB_NO_MEMORY, "%zu bytes", size);
        grown[size] = 1;
        free(grown);
    }
#ifndef HUB_SANITIZED /* which ends the process there */
    if (malloc((size_t)1 << 46))
        return hub_fail(err, HUB_CORRUPT, "64 TiB");
#endif
    return calloc(1000, 100) ? HUB_OK : hub_fail(err, HUB_NO_MEMORY, "small ones");
}

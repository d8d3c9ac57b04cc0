/* One object: its resource, its bytes, conditions and ranges, in JSON and by names as paths. */
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(gcs_object, .init = wire_open, .fini = wire_close, .timeout = 60);

#define OBJECT "/storage/v1/b/minari-datasets/o/"
#define MEDIA "/download/storage/v1/b/minari-datasets/o/"

Test(gcs_object, resource)
{
    static const struct wire_case cases[] = {
        {OBJECT "notes.txt", 200, "\"kind\":\"storage#object\"",
         "Content-Type: application/json; charset=UTF-8"},
        {OBJECT "notes.txt", 200, "\"size\":\"5\",\"contentType\":\"text/plain; charset=utf-8\""},
        {OBJECT "notes.txt", 200, "\"selfLink\":\"http://hub/storage/v1/b/minari-datasets/o/notes.txt\""},
        {OBJECT "notes.txt?projection=noAcl", 200,
         "\"md5Hash\":\"XUFAKrxLKna5cZ2REBfFkg==\",\"crc32c\":\"mnG7TA==\""},
        {OBJECT "lab%2Fodd%2Fempty.bin?fields=name", 200, "\"size\":\"0\""},
        {OBJECT "lab%2Fodd%2Fa%20b+c%25.txt", 200,
         "\"name\":\"lab/odd/a b+c%.txt\""},                                 /* in a path + is itself */
        {OBJECT "lab/odd/empty.bin", 200, "\"name\":\"lab/odd/empty.bin\""}, /* slashes as they are */
        {OBJECT "lab%2Fodd%2F%3Cb%20onload=%27x%27%3E&%22q%22.txt", 200,
         "\"name\":\"lab/odd/<b onload='x'>&\\\"q\\\".txt\""},
        {"/storage/v1/b/D4RL/o/door%2Fhuman-v2%2Fdata%2Fmetadata.json", 200,
         "\"id\":\"D4RL/door/human-v2/data/metadata.json/"},
        /* Minari up to 0.4 goes by these; numbers as Python writes them */
        {OBJECT "door-human-v0%2Fdata%2Fmain_data.hdf5", 200,
         "\"metadata\":{\"total_episodes\":\"12\",\"total_steps\":\"140\""},
        {OBJECT "door-human-v0%2Fdata%2Fmain_data.hdf5", 200, "\"dataset_size\":\"0.3\""},
        {OBJECT "lab", 404, "\"reason\":\"notFound\"",
         "Content-Type: application/json; charset=UTF-8"}, /* rclone's probe */
        {OBJECT "lab%2F", 404, "\"reason\":\"notFound\""},
        {OBJECT "nothing", 404, "{\"error\":{\"code\":404,\"message\":\"there is no object 'nothing'\""},
        {"/storage/v1/b/nothing/o/notes.txt", 404, "\"reason\":\"notFound\""},
        {OBJECT "notes.txt", 405, "\"reason\":\"methodNotAllowed\"", NULL, NULL, HUB_DELETE},
        {"/upload/storage/v1/b/minari-datasets/o?uploadType=media&name=x", 405,
         "\"reason\":\"methodNotAllowed\"", NULL, NULL, HUB_POST, "x"},
        {"/upload/storage/v1/b/minari-datasets/o", 404, "{\"error\":{\"code\":404,"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

Test(gcs_object, bytes)
{
    static const struct wire_case cases[] = {
        {MEDIA "notes.txt?alt=media", 200, "hello", "Content-Type: text/plain; charset=utf-8"},
        {OBJECT "notes.txt?alt=media", 200, "hello", "Accept-Ranges: bytes"},
        {"/minari-datasets/notes.txt", 200, "hello", "X-Goog-Stored-Content-Length: 5"},
        {"/minari-datasets/lab/odd/a%20b+c%25.txt", 200, "plus"},
        {MEDIA "notes.txt?alt=media", 200, "hello",
         "X-Goog-Hash: crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg=="},
        {MEDIA "notes.txt?alt=media", 200, "hello", "!Content-Encoding", "Accept-Encoding: gzip"},
        {MEDIA "notes.txt?alt=media", 200, "hello", "X-Goog-Stored-Content-Encoding: identity"},
        {MEDIA "notes.txt?alt=media", 200, "hello", "X-Goog-Metageneration: 1"},
        {MEDIA "lab%2Fodd%2Fempty.bin?alt=media", 200, "",
         "!X-Goog-Hash"}, /* not known yet: nothing is said */
        {MEDIA "notes.txt?alt=media", 206, "ell", "Content-Range: bytes 1-3/5", "range: bytes=1-3"},
        {MEDIA "notes.txt?alt=media", 206, "lo", "Content-Range: bytes 3-4/5",
         "Range: bytes=3-41943040"}, /* clamped */
        {MEDIA "notes.txt?alt=media", 206, "lo",
         "X-Goog-Hash: crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==", "Range: bytes=-2"}, /* of the whole */
        {MEDIA "notes.txt?alt=media", 416, "requestedRangeNotSatisfiable", "Content-Range: bytes */5",
         "Range: bytes=5-"},
        {MEDIA "lab%2Fodd%2Fempty.bin?alt=media", 416, NULL, "Content-Range: bytes */0", "Range: bytes=0-9"},
        {"/minari-datasets/notes.txt", 416, "<Code>InvalidRange</Code>", "Content-Range: bytes */5",
         "Range: bytes=9-"},
        {"/minari-datasets/nothing.txt", 404, "<Error><Code>NoSuchKey</Code>",
         "Content-Type: application/xml; charset=UTF-8"},
        {"/minari-datasets/notes.txt", 405, "<Code>MethodNotAllowed</Code>", NULL, NULL, HUB_PUT},
    };
    wire_expect(cases, HUB_COUNT(cases));
    struct wire_answer head = wire_ask(&(struct wire_case){"/minari-datasets/notes.txt", .method = HUB_HEAD});
    cr_expect_eq(head.length, 5); /* HDF5 and fsspec ask so for the size */
    head = wire_ask(
        &(struct wire_case){"/minari-datasets/door-human-v0/data/main_data.hdf5", .method = HUB_HEAD});
    cr_expect_eq(head.length, 261360);
}

/* ETag and generation come from the resource, and are asked for over the bytes. */
Test(gcs_object, conditions)
{
    char etag[64], generation[32], quoted[96], bare[96], other[96], target[256];
    (void)wire_body(OBJECT "notes.txt");
    snprintf(etag, sizeof etag, "%s", wire_between("\"etag\":\"", "\""));
    snprintf(generation, sizeof generation, "%s", wire_between("\"generation\":\"", "\""));
    snprintf(quoted, sizeof quoted, "If-None-Match: \"%s\"", etag);
    snprintf(bare, sizeof bare, "If-None-Match: %s", etag);
    snprintf(other, sizeof other, "If-Match: \"%sx\"", etag);
    const struct wire_case tags[] = {
        {OBJECT "notes.txt", 304, "", NULL, quoted},
        {OBJECT "notes.txt", 304, "", NULL, bare}, /* as gsutil sends it */
        {MEDIA "notes.txt?alt=media", 304, "", NULL, quoted},
        {MEDIA "notes.txt?alt=media", 412, "\"reason\":\"conditionNotMet\"", NULL, other},
        {"/minari-datasets/notes.txt", 412, "<Code>PreconditionFailed</Code>", NULL, other},
        {OBJECT "notes.txt", 412, "\"reason\":\"conditionNotMet\"", NULL, other},
    };
    wire_expect(tags, HUB_COUNT(tags));
    const struct {
        const char *pattern;
        unsigned status;
    } queries[] = {
        {"generation=%s", 200},
        {"generation=9223372036854775808", 400}, /* beyond 63 bits */
        {"generation=1", 404},
        {"ifGenerationMatch=%s", 200},
        {"ifGenerationMatch=1", 412},
        {"ifGenerationMatch=0", 412}, /* only if there is none */
        {"ifGenerationNotMatch=%s", 304},
        {"ifGenerationNotMatch=0", 200},
        {"ifMetagenerationMatch=1", 200},
        {"ifMetagenerationMatch=2", 412},
        {"ifMetagenerationNotMatch=1", 304},
        {"generation=abc", 400},
        {"generation=-1", 400},
    };
    for (size_t i = 0; i < HUB_COUNT(queries); i++) {
        static const char *const places[] = {OBJECT "notes.txt?", MEDIA "notes.txt?alt=media&"};
        for (size_t p = 0; p < HUB_COUNT(places); p++) {
            size_t used = (size_t)snprintf(target, sizeof target, "%s", places[p]);
            snprintf(target + used, sizeof target - used, queries[i].pattern, generation);
            const struct wire_answer answer = wire_ask(&(struct wire_case){target});
            cr_expect_eq(answer.status, queries[i].status, "%s: %u", target, answer.status);
            cr_expect(answer.status != 304 || !answer.body.size, "%s: 304 has no body", target);
        }
    }
    snprintf(target, sizeof target, MEDIA "notes.txt?generation=%s&alt=media", generation);
    cr_expect_str_eq(wire_body(target).data, "hello"); /* as mediaLink says */
    cr_expect_str_eq(wire_header("X-Goog-Generation"), generation);
}

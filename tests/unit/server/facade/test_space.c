/* namespace_metadata.json: what lies on the disk, with the ids by which Python Minari finds the rest. */
#include "server/facade/space.h"
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(space, .init = wire_open, .fini = wire_close, .timeout = 60);

static void expect_text(const char *name, size_t author, const char *text)
{
    const struct hub_object object = {.name = hub_view_of(name), .author = author};
    HUB_CLEANUP(hub_objects_dispose) struct hub_objects objects = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
    struct hub_error err = {0};
    int64_t modified_ns = 0;
    const struct hub_request request = {.app = api_kit_app()};
    cr_assert_eq(hub_objects_open(&request, &objects, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_space_text(&objects, &object, &out, &modified_ns, &err), HUB_OK, "%s", err.detail);
    cr_expect_str_eq(out.data, text, "%s: %s", name, out.data);
    cr_expect_gt(modified_ns, 0);
}

Test(space, text)
{
    expect_text("D4RL/namespace_metadata.json", 0,
                "{\n \"datasets\": [\n  \"D4RL/door/human-v2\"\n ],\n "
                "\"description\": \"Datasets in the layout of D4RL.\",\n"
                " \"namespaces\": [\n  \"D4RL/door\"\n ]\n}");
    expect_text("D4RL/door/namespace_metadata.json", 0,
                "{\n \"datasets\": [\n  \"D4RL/door/human-v2\"\n ],\n \"description\": \"Adroit door.\",\n "
                "\"namespaces\": []\n}");
    expect_text("D4RL/door/namespace_metadata.json", 5, /* as a repo "door" of D4RL has it */
                "{\n \"datasets\": [\n  \"door/human-v2\"\n ],\n \"description\": \"Adroit door.\",\n "
                "\"namespaces\": []\n}");
}

Test(space, as_an_object)
{
    char size[32], etag[64], match[96], target[128];
    static const struct wire_case cases[] = {
        {"/minari-datasets/D4RL/namespace_metadata.json", 200, "\"D4RL/door/human-v2\"",
         "Accept-Ranges: bytes"},
        {"/minari-datasets/D4RL/namespace_metadata.json", 206, "{\n \"data", NULL, "Range: bytes=0-7"},
        {"/minari-datasets/lab/namespace_metadata.json", 404, NULL}, /* no Minari below it */
        {"/minari-datasets/namespace_metadata.json", 404, NULL},     /* nor is the top a namespace */
        {"/datasets/farama-minari/D4RL/resolve/main/namespace_metadata.json", 200, "\"datasets\""},
        {"/datasets/farama-minari/D4RL/resolve/main/door/namespace_metadata.json", 200, "\"datasets\""},
        {"/datasets/D4RL/door/resolve/main/namespace_metadata.json", 200, "\"door/human-v2\""},
    };
    wire_expect(cases, HUB_COUNT(cases));
    struct wire_answer answer =
        wire_ask(&(struct wire_case){"/minari-datasets/D4RL/namespace_metadata.json"});
    snprintf(size, sizeof size, "bytes */%llu", (unsigned long long)answer.length);
    snprintf(etag, sizeof etag, "%s", wire_header("ETag"));
    snprintf(match, sizeof match, "If-None-Match: %s", etag);
    cr_expect_eq(answer.length, answer.body.size); /* as announced: no line is added */
    answer = wire_ask(&(struct wire_case){"/minari-datasets/D4RL/namespace_metadata.json", .headers = match});
    cr_expect_eq(answer.status, 304);
    answer = wire_ask(&(struct wire_case){"/minari-datasets/D4RL/namespace_metadata.json",
                                          .headers = "Range: bytes=100000-"});
    cr_expect_eq(answer.status, 416);
    cr_expect(wire_header("Content-Range") && strcmp(wire_header("Content-Range"), size) == 0,
              "not %s but %s", size, wire_header("Content-Range") ? wire_header("Content-Range") : "none");
    snprintf(target, sizeof target, "/storage/v1/b/minari-datasets/o/D4RL%%2Fnamespace_metadata.json");
    cr_expect(strstr(wire_body(target).data, "\"crc32c\":")); /* it is made here, so its digests are known */
}

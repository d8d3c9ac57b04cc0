/* Folders of buckets as pages of links, and buckets themselves. */
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(gcs_folder, .init = wire_open, .fini = wire_close, .timeout = 60);

Test(gcs_folder, pages)
{
    static const struct wire_case cases[] = {
        {"/minari-datasets/", 200, "<a href=\"notes.txt\">notes.txt</a></td><td>5</td>",
         "Content-Type: text/html; charset=utf-8"},
        {"/minari-datasets/", 200, "<a href=\"lab/\">lab/</a></td><td></td>",
         "Content-Security-Policy: default-src 'none'"},
        {"/minari-datasets/lab/odd/", 200, "<a href=\"../\">../</a>"},
        {"/minari-datasets/lab/odd/", 200, "<a href=\"a%20b%2Bc%25.txt\">a b+c%.txt</a>"},
        {"/minari-datasets/lab/odd/", 200,
         "<a href=\"%3Cb%20onload%3D%27x%27%3E%26%22q%22.txt\">&lt;b "
         "onload=&#39;x&#39;&gt;&amp;&quot;q&quot;.txt</a>"},
        {"/minari-datasets/lab/odd/", 200, "<title>Index of /minari-datasets/lab/odd/</title>"},
        {"/minari-datasets/lab/odd/", 200, "<td>0</td>"},
        {"/D4RL/door/", 200, "<a href=\"namespace_metadata.json\">"},
        {"/minari-datasets/lab/none/", 404, "<Error><Code>NoSuchKey</Code>"},
        {"/minari-datasets/lab/odd/%3Cx/", 404, "&lt;x/"}, /* the name in the answer is no markup either */
        {"/none/", 404, "<Error><Code>NoSuchKey</Code>"},
        /* to the page of the folder, the rest of the address as it was sent */
        {"/minari-datasets/lab/odd", 301, "", "Location: /minari-datasets/lab/odd/"},
        {"/minari-datasets", 301, "", "Location: /minari-datasets/"},
        {"/minari-datasets/lab%2Fodd", 301, "", "Location: /minari-datasets/lab%2Fodd/"},
        /* to a client of the protocol a name that no object has is none */
        {"/minari-datasets/lab/odd", 404, "<Code>NoSuchKey</Code>", NULL, "X-Goog-Api-Client: gl-go/1"},
        {"/none", 404, NULL},
        {"/minari-datasets/lab/odd/", 405, "<Code>MethodNotAllowed</Code>", NULL, NULL, HUB_POST, "x"},
    };
    wire_expect(cases, HUB_COUNT(cases));
    cr_expect_eq(wire_count(wire_body("/minari-datasets/"), "<a "), 4); /* one level, and nothing above it */
    cr_expect_eq(wire_count(wire_body("/minari-datasets/lab/odd/"), "<a "), 4);
}

Test(gcs_folder, buckets)
{
    static const struct wire_case cases[] = {
        {"/storage/v1/b?project=x", 200,
         "{\"kind\":\"storage#buckets\",\"items\":[{\"kind\":\"storage#bucket\""},
        {"/storage/v1/b?project=x&prefix=minari", 200, "\"name\":\"minari-datasets\""},
        {"/storage/v1/b?project=x&prefix=z", 200, "\"items\":[]"},
        {"/storage/v1/b/minari-datasets?projection=noAcl", 200, "\"metageneration\":\"1\""},
        {"/storage/v1/b/D4RL?fields=name", 200, "\"name\":\"D4RL\""},
        {"/b/lab", 200, "\"projectNumber\":\"0\""}, /* 64 bits: text */
        {"/storage/v1/b/none", 404, "\"reason\":\"notFound\""},
        {"/storage/v1/b/notes.txt", 404, "\"reason\":\"notFound\""}, /* a file is no bucket */
        {"/storage/v1/b", 405, "\"reason\":\"methodNotAllowed\"", NULL, NULL, HUB_POST, "{\"name\":\"new\"}"},
        {"/batch/storage/v1", 404, "{\"error\":{\"code\":404,"},
        {"/resumable/upload/storage/v1/b/x/o", 405, "{\"error\":{\"code\":405,", NULL, NULL, HUB_POST, "{}"},
        /* reserved words */
        {"/upload/storage/v1", 404, "/upload is reserved for uploads of Google Cloud Storage"},
        {"/upload", 404, "a bucket or folder of that name is at /storage/v1/b/upload/o"},
        {"/resumable", 404, "urn:minari-hub:route-not-found"},
        {"/oauth/token", 404, "/oauth is reserved for signing in", "Content-Type: application/problem+json"},
        {"/oauth2/auth", 404, "/oauth2 is reserved for signing in"},
        {"/xet", 404, "/xet is reserved for the storage protocol of Hugging Face"},
        {"/xet/v1/xorbs/x", 404, "/xet is reserved"},
        {"/oauths/token", 404, "<Code>NoSuchKey</Code>"}, /* may be a bucket */
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* Files of a dataset, a level at a time. */
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(files, .init = wire_open, .fini = wire_close, .timeout = 60);

Test(files, levels)
{
    static const struct wire_case cases[] = {
        {"/d/lab/arm/files", 200,
         "<a href=\"?prefix=meta%2F\"><bdi>meta/</bdi></a></th><td class=\"n\" data-unit=\"files\">4</td>",
         "Content-Type: text/html; charset=utf-8"},
        {"/d/lab/arm/files", 200,
         "<a href=\"?prefix=videos%2F\"><bdi>videos/</bdi></a></th><td class=\"n\" "
         "data-unit=\"files\">8</td>"},
        {"/d/lab/arm/files?prefix=meta/", 200,
         "<a href=\"/api/v1/datasets/lab/arm/files/meta/tasks.jsonl\" "
         "download><bdi>meta/tasks.jsonl</bdi></a>"},
        {"/d/lab/arm/files?prefix=meta/", 200, "<td class=\"n\">101 B</td>"},
        {"/d/lab/arm/files?prefix=meta/", 200, "<a href=\"?\">All files</a>"},
        {"/d/lab/arm/files?prefix=videos/chunk-000/", 200, "<a href=\"?prefix=videos%2F\">videos/</a>"},
        {"/d/lab/arm/files?prefix=none/", 200, "<tbody></tbody>"},
        {"/d/lab/arm/files?prefix=%22%3E%3Cb%3E/", 200, "&quot;&gt;&lt;b&gt;/</a>"},
        {"/d/lab/odd/files", 200,
         "<a href=\"/api/v1/datasets/lab/odd/files/%3Cb%20onload%3D%27x%27%3E%26%22q%22.txt\" download>"
         "<bdi>&lt;b onload=&#39;x&#39;&gt;&amp;&quot;q&quot;.txt</bdi></a>"},
        {"/d/lab/odd/files", 200,
         "<bdi>empty.bin</bdi></a></th><td class=\"n\"></td><td class=\"n\">0 B</td>"},
        {"/d/root-files/files", 200, "<td class=\"id\">2cf24dba5fb0a30e</td>"}, /* of "hello" */
        {"/d/lab/arm/files?cursor=x", 400, "Status 400"},
        {"/d/lab/arm/files?colour=red", 400, "unknown parameter"},
        {"/d/lab/none/files", 404, "<h1>Not found</h1>"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* The bytes of a file of a repo, and the headers that clients keep it by. */
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(hf_resolve, .init = wire_open, .fini = wire_close, .timeout = 60);

#define ODD "/datasets/lab/odd/resolve/main/"

Test(hf_resolve, bytes)
{
    static const struct wire_case cases[] = {
        {ODD "a%20b%2Bc%25.txt", 200, "plus", "X-Linked-Size: 4"},
        {ODD "a%20b+c%25.txt", 200, "plus", "Accept-Ranges: bytes"}, /* JavaScript leaves the + as it is */
        {ODD "a%20b+c%25.txt?download=true", 200, "plus", "!Location"},
        {ODD "a%20b+c%25.txt", 200, "plus", "!X-Xet-Hash"}, /* so it comes over plain HTTP */
        {ODD "a%20b+c%25.txt", 200, "plus", "!Content-Encoding", "Accept-Encoding: gzip, deflate"},
        {ODD "%3Cb%20onload='x'%3E&%22q%22.txt", 200, "markup", "X-Linked-Size: 6"},
        {"/datasets/lab/odd/raw/main/a%20b+c%25.txt", 200, "plus", "X-Linked-Size: 4"},
        {"/datasets/lab/arm/resolve/refs%2Fheads%2Fmain/meta%2Ftasks.jsonl", 200, "task_index",
         "X-Linked-Size: 101"},
        {ODD "a%20b+c%25.txt", 206, "lu", "Content-Range: bytes 1-2/4", "range: bytes=1-2"},
        {ODD "a%20b+c%25.txt", 206, "s", "Content-Range: bytes 3-3/4", "Range: bytes=3-"},
        {ODD "a%20b+c%25.txt", 416, NULL, "Content-Range: bytes */4", "Range: bytes=4-"},
        /* JavaScript asks for the first byte to learn the size, and 416 would be a failure */
        {ODD "empty.bin", 200, "", "Content-Range: bytes */0", "Range: bytes=0-0"},
        {ODD "empty.bin", 200, "", "X-Linked-Size: 0"},
        {ODD "none.txt", 404, "{\"error\":\"Entry not found: none.txt\"}", "X-Error-Code: EntryNotFound"},
        {ODD "none%3Cb%3E", 404, "Entry not found: none<b>", "Content-Type: application/json; charset=utf-8"},
        {"/datasets/lab/odd/resolve/none/empty.bin", 404, NULL, "X-Error-Code: RevisionNotFound"},
        {"/datasets/lab/none/resolve/main/empty.bin", 404, NULL, "X-Error-Code: RepoNotFound"},
        {"/datasets/lab/arm/resolve/main/meta", 404, NULL, "X-Error-Code: EntryNotFound"}, /* a folder */
        {ODD "empty.bin", 405, "{\"error\":\"", NULL, NULL, HUB_DELETE},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* HEAD has all that GET has: size, commit, the absence of what is not there. */
Test(hf_resolve, head)
{
    static const struct wire_case absent = {ODD "README.md", .method = HUB_HEAD};
    const struct wire_answer none = wire_ask(&absent);
    cr_expect_eq(none.status, 404);
    cr_expect_str_eq(wire_header("X-Error-Code"), "EntryNotFound");
    cr_expect_eq(strlen(wire_header("X-Repo-Commit")), 40); /* the client remembers the absence by it */
    static const struct wire_case large = {"/datasets/D4RL/door/resolve/main/human-v2/data/main_data.hdf5",
                                           .method = HUB_HEAD};
    const struct wire_answer head = wire_ask(&large);
    cr_expect_eq(head.status, 200);
    cr_expect_eq(head.length, 174024);
    cr_expect_str_eq(wire_header("X-Linked-Size"), "174024");
}

static void etag_of(const char *target, char out[80])
{
    (void)wire_body(target);
    const char *tag = wire_header("X-Linked-Etag");
    cr_assert(tag && tag[0] == '"' && tag[strlen(tag) - 1] == '"', "%s: %s", target, tag ? tag : "none");
    snprintf(out, 80, "%.*s", (int)strlen(tag) - 2, tag + 1);
}

/* Clients keep the bytes in a file of this name: another content is another name. */
Test(hf_resolve, names_of_content)
{
    char empty[80], plus[80], space[80];
    etag_of(ODD "empty.bin", empty);
    etag_of(ODD "a%20b+c%25.txt", plus);
    cr_expect_str_neq(empty, plus);
    cr_expect_eq(strspn(plus, "0123456789abcdef"), 40); /* not hashed yet: as long as git's */
    etag_of("/datasets/farama-minari/D4RL/resolve/main/namespace_metadata.json", space);
    cr_expect_eq(strspn(space, "0123456789abcdef"), 64); /* SHA-256, by which local copies are known again */
}

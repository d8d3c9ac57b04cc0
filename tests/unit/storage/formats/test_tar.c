/* storage/formats/tar.c: fixtures in all dialects, and headers made by hand. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "storage/formats/tar.h"
#include "tests/support/slurp.h"

/* A header block with its checksum; `size` as it is to be written. */
static void put_header(uint8_t *block, const char *name, const char *size, char type, const char *magic)
{
    memset(block, 0, 512);
    memcpy(block, name, HUB_MIN(strlen(name), 100));
    memcpy(block + 100, "0000444", 7);
    memcpy(block + 124, size, 12);
    block[156] = (uint8_t)type;
    memcpy(block + 257, magic, 8);
    memset(block + 148, ' ', 8);
    unsigned sum = 0;
    for (int i = 0; i < 512; i++)
        sum += block[i];
    snprintf((char *)block + 148, 8, "%06o", sum);
}

struct dialect_case {
    char path[60];
    unsigned members; /* regular ones */
    size_t longest;   /* name */
    bool unterminated;
    enum hub_status st;
};

ParameterizedTestParameters(tar, dialects)
{
    static struct dialect_case cases[] = {
        {"webdataset/plain/steps-000000.tar", 16, 17, false, HUB_OK},
        {"webdataset/names-gnu/long.tar", 10, 206, false, HUB_OK},
        {"webdataset/names-pax/long.tar", 10, 206, false, HUB_OK},
        {"webdataset/names-ustar/long.tar", 4, 125, false, HUB_OK},
        {"webdataset/plain-traps/traps.tar", 11, 17, false, HUB_OK},
        {"webdataset/plain-truncated/cut.tar", 0, 0, true, HUB_OK},
        {"webdataset/ilr-protocol3/demos.tar", 0, 0, false, HUB_OK},
    };
    return cr_make_param_array(struct dialect_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct dialect_case *c, tar, dialects)
{
    size_t size, longest = 0;
    unsigned regular = 0;
    bool end = false;
    struct hub_byte_source source;
    struct hub_tar tar;
    struct hub_tar_member m;
    struct hub_error err = {0};
    enum hub_status st = HUB_OK;
    uint8_t *data = slurp(c->path, &size);
    hub_byte_source_memory(&source, data, size);
    hub_tar_init(&tar, &source);
    while (!(st = hub_tar_next(&tar, &m, &end, &err)) && !end) {
        regular += m.regular;
        longest = HUB_MAX(longest, m.name.size);
        cr_assert_leq(m.offset + m.size, size);
    }
    cr_assert_eq(st, c->st, "%s: %s", c->path, err.detail);
    cr_assert_eq(tar.unterminated, c->unterminated);
    if (c->members) {
        cr_assert_eq(regular, c->members, "%s has %u", c->path, regular);
        cr_assert_eq(longest, c->longest, "%s has %zu", c->path, longest);
    }
    hub_tar_dispose(&tar);
    free(data);
}

struct header_case {
    char what[40];
    char size[13];
    char type;
    size_t blocks; /* of the archive, the header's among them */
    enum hub_status st;
    uint64_t member_size;
};

ParameterizedTestParameters(tar, headers)
{
    static struct header_case cases[] = {
        {"octal", "00000000012", '0', 2, HUB_OK, 10},
        {"octal between spaces", "        12 ", '0', 2, HUB_OK, 10},
        {"empty size", "\0", '0', 1, HUB_OK, 0},
        {"not octal", "00000000019", '0', 2, HUB_CORRUPT, 0},
        {"base-256", "\x80\0\0\0\0\0\0\0\0\0\1\0", '0', 2, HUB_OK, 256},
        {"base-256 negative", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", '0', 2, HUB_CORRUPT, 0},
        {"base-256 over 63 bits", "\x80\0\0\1\0\0\0\0\0\0\0\0", '0', 2, HUB_CORRUPT, 0},
        {"runs past the end", "00000002000", '0', 2, HUB_CORRUPT, 0},
        {"old regular file", "00000000012", '\0', 2, HUB_OK, 10},
        {"link without bytes", "00000000012", '2', 1, HUB_OK, 0},
        {"directory", "00000000000", '5', 1, HUB_OK, 0},
        {"sparse", "00000000012", 'S', 2, HUB_UNSUPPORTED, 0},
        {"unknown type has bytes", "00000000012", 'Z', 2, HUB_OK, 10},
        {"long name over the limit", "00000020000", 'L', 20, HUB_TOO_BIG, 0},
        {"pax header of nonsense", "00000000012", 'x', 2, HUB_CORRUPT, 0},
        {"pax header over the limit", "00010000000", 'x', 5000, HUB_TOO_BIG, 0},
        {"archive-wide pax header alone", "00000000012", 'g', 2, HUB_OK, UINT64_MAX},
        {"long name alone", "00000000012", 'L', 2, HUB_OK, UINT64_MAX},
    };
    return cr_make_param_array(struct header_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct header_case *c, tar, headers)
{
    uint8_t *archive = calloc(c->blocks, 512);
    struct hub_byte_source source;
    struct hub_tar tar;
    struct hub_tar_member m = {0};
    struct hub_error err = {0};
    bool end = false;
    put_header(archive, "a.txt", c->size, c->type,
               "ustar\0"
               "00");
    if (c->blocks > 1)
        memset(archive + 512, 'x', 512);
    hub_byte_source_memory(&source, archive, c->blocks * 512);
    hub_tar_init(&tar, &source);
    const enum hub_status st = hub_tar_next(&tar, &m, &end, &err);
    cr_assert_eq(st, c->st, "%s: %s: %s", c->what, hub_status_name(st), err.detail);
    if (!st && c->member_size == UINT64_MAX)
        cr_assert(end, "%s", c->what);
    else if (!st)
        cr_assert_eq(m.size, c->member_size, "%s: %lu", c->what, m.size);
    hub_tar_dispose(&tar);
    free(archive);
}

struct pax_case {
    char what[40];
    char text[80];
    enum hub_status st;
    char name[40];
    uint64_t size;
};

ParameterizedTestParameters(tar, pax_records)
{
    static struct pax_case cases[] = {
        {"path", "14 path=b.json\n", HUB_CORRUPT, "", 0}, /* one byte short */
        {"path", "15 path=b.json\n", HUB_OK, "b.json", 4},
        {"path and size", "15 path=b.json\n9 size=2\n", HUB_OK, "b.json", 2},
        {"only a time", "20 mtime=1700000.25\n", HUB_OK, "a.txt", 4},
        {"no equals sign", "10 abcdef\n", HUB_CORRUPT, "", 0},
        {"length 0", "0 path=b\n", HUB_CORRUPT, "", 0},
        {"length past the end", "99 path=b\n", HUB_CORRUPT, "", 0},
        {"size of letters", "11 size=xy\n", HUB_CORRUPT, "", 0},
        {"size past the end", "14 size=99999\n", HUB_CORRUPT, "", 0},
        {"sparse", "22 GNU.sparse.major=1\n", HUB_UNSUPPORTED, "", 0},
    };
    return cr_make_param_array(struct pax_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct pax_case *c, tar, pax_records)
{
    uint8_t archive[4 * 512] = {0};
    char size[13];
    struct hub_byte_source source;
    struct hub_tar tar;
    struct hub_tar_member m = {0};
    struct hub_error err = {0};
    bool end = false;
    snprintf(size, sizeof size, "%011o", (unsigned)strlen(c->text));
    put_header(archive, "PaxHeaders/a.txt", size, 'x',
               "ustar\0"
               "00");
    memcpy(archive + 512, c->text, strlen(c->text));
    put_header(archive + 1024, "a.txt", "00000000004", '0',
               "ustar\0"
               "00");
    hub_byte_source_memory(&source, archive, sizeof archive);
    hub_tar_init(&tar, &source);
    const enum hub_status st = hub_tar_next(&tar, &m, &end, &err);
    cr_assert_eq(st, c->st, "%s: %s: %s", c->what, hub_status_name(st), err.detail);
    if (!st) {
        cr_assert(hub_view_is(m.name, c->name), "%s: %.*s", c->what, (int)m.name.size, m.name.data);
        cr_assert_eq(m.size, c->size);
        cr_assert_eq(m.offset, 1536);
    }
    hub_tar_dispose(&tar);
}

Test(tar, a_member_that_is_not_all_there)
{
    uint8_t archive[512 + 100] = {0};
    struct hub_byte_source source;
    struct hub_tar tar;
    struct hub_tar_member m = {0};
    struct hub_error err = {0};
    bool end = false;
    put_header(archive, "a.txt", "00000000620", '0',
               "ustar\0"
               "00");
    hub_byte_source_memory(&source, archive, sizeof archive);
    hub_tar_init(&tar, &source);
    cr_expect_eq(hub_tar_next(&tar, &m, &end, &err), HUB_CORRUPT);
    cr_expect_str_eq(err.detail, "the archive was cut short: 100 of 400 bytes of the member at 0 exist");
    hub_tar_init(&tar, &source);
    tar.beginning = true; /* and more follows */
    cr_expect_eq(hub_tar_next(&tar, &m, &end, &err), HUB_OK);
    cr_expect(hub_view_is(m.name, "a.txt") && m.size == 400 && !end);
    hub_tar_dispose(&tar);
    hub_tar_init(&tar, &source);
    tar.beginning = true;
    tar.at = 512;
    cr_expect_eq(hub_tar_next(&tar, &m, &end, &err), HUB_OK);
    cr_expect(end);
    hub_tar_dispose(&tar);
}

Test(tar, a_wrong_checksum_is_no_header)
{
    uint8_t block[512];
    put_header(block, "a.txt", "00000000000", '0',
               "ustar\0"
               "00");
    cr_assert(hub_tar_is_header(block));
    block[0] = 'b';
    cr_assert_not(hub_tar_is_header(block));
}

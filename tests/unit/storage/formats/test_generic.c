/* The claims of the generic driver over folders of many files. */
#include "storage/formats/kit/array.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

extern const struct hub_format hub_format_generic;

enum { FILES = 3000 };

static unsigned opens;
static int opened = -1;

/* Those whose names begin with "no" have another head than their ending says. */
static enum hub_status open_head(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err)
{
    const struct hub_view path = files->entries[number].path;
    const char *head = hub_view_ends(path, ".npz") ? "PK\x03\x04" : "PAR1";
    opened = *fd = memfd_create("file", 0);
    opens++;
    if (*fd < 0 || write(*fd, hub_view_starts(path, "no") ? "none" : head, 4) != 4)
        return hub_fail(err, HUB_IO, "no memory file");
    return HUB_OK;
}

static void close_head(struct hub_files *files, uint32_t number)
{
    (void)files;
    (void)number;
    close(opened);
}

struct many_case {
    char pattern[16];
    uint64_t size;
    unsigned claimed, opens; /* at most */
};

ParameterizedTestParameters(generic, many_files)
{
    static struct many_case cases[] = {
        {"yes%04u.npz", 4, FILES, 4 * FILES},
        {"no%04u.npz", 4, 0, 4 * FILES},
        {"yes%04u.parquet", 4, FILES, 4 * FILES},
        {"yes%04u.parquet", 0, 0, 0}, /* what is empty is not opened */
        {"yes%04u.txt", 4, 0, 0},     /* nor what has another name */
    };
    return cr_make_param_array(struct many_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct many_case *c, generic, many_files)
{
    static struct hub_file_entry entries[FILES];
    static char names[FILES][24];
    static uint32_t files[FILES];
    struct hub_files listing = {.entries = entries, .count = FILES, .open = open_head, .close = close_head};
    struct hub_claim claim = {.files = files};
    unsigned found = 0;
    for (unsigned i = 0; i < FILES; i++) {
        const char *ending = strchr(c->pattern, '.');
        snprintf(names[i], sizeof names[i], "%s%04u%s", c->pattern[0] == 'y' ? "yes" : "no", i, ending);
        entries[i] = (struct hub_file_entry){hub_view_of(names[i]), c->size, false};
    }
    opens = 0;
    for (; hub_format_generic.claim_files(&listing, &claim); found++)
        entries[claim.files[0]] = (struct hub_file_entry){{NULL, 0}, 0, false};
    cr_expect_eq(found, c->claimed, "%s: %u", c->pattern, found);
    cr_expect_leq(opens, c->opens, "%s: opened %u times", c->pattern, opens);
}

/* ---- an archive of many members ---- */

static struct hub_buf archive = HUB_BUF_INIT(64 * MIB);
static unsigned reads;

static enum hub_status open_archive(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err)
{
    static int made = -1;
    (void)files;
    (void)number;
    if (made < 0) {
        made = memfd_create("archive", 0);
        if (made < 0 || write(made, archive.data, archive.size) != (ssize_t)archive.size)
            return hub_fail(err, HUB_IO, "no memory file");
    }
    *fd = made;
    reads++;
    return HUB_OK;
}

static void keep_open(struct hub_files *files, uint32_t number)
{
    (void)files;
    (void)number;
}

static void put(uint64_t value, unsigned bytes)
{
    cr_assert_eq(hub_buf_add(&archive, &value, bytes, NULL), HUB_OK);
}

/* "PK", two bytes that say what follows, and `zeros` bytes of it. */
static void put_record(unsigned kind, unsigned zeros)
{
    put(0x4b50u | kind << 16, 4);
    for (; zeros; zeros--)
        put(0, 1);
}

static void put_entry(const char *name, uint32_t crc)
{
    put_record(0x0201, 12);
    put(crc, 4);
    put(136, 4);
    put(136, 4);
    put(strlen(name), 2);
    for (unsigned i = 0; i < 16; i++)
        put(0, 1);
    cr_assert_eq(hub_buf_add_text(&archive, name, NULL), HUB_OK);
}

/* A stored member of one number. Its checksum. */
static uint32_t put_member(const char *name)
{
    static const char head[] = "\x93NUMPY\1\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
    char npy[136] = {0};
    memset(npy, ' ', 127);
    memcpy(npy, head, sizeof head - 1);
    npy[127] = '\n';
    put_record(0x0403, 22);
    put(strlen(name), 4);
    cr_assert_eq(hub_buf_add_text(&archive, name, NULL), HUB_OK);
    cr_assert_eq(hub_buf_add(&archive, npy, sizeof npy, NULL), HUB_OK);
    return (uint32_t)crc32(0, (const Bytef *)npy, sizeof npy);
}

static void put_end(uint64_t directory, uint64_t members)
{
    const uint64_t end = archive.size;
    put_record(0x0606, 28);
    put(members, 8);
    put(end - directory, 8);
    put(directory, 8);
    put_record(0x0706, 4);
    put(end, 8);
    put(1, 4);
    put_record(0x0605, 4);
    put(0xffff, 2);
    put(0xffff, 2);
    put(0xffffffff, 4);
    put(0xffffffff, 4);
    put(0, 2);
}

/* Members that share one place in the file: a directory of 400,000 of them, of which two have one name.
 * Comparing each with all others would take 80,000,000,000 steps, which no test waits for. */
Test(generic, many_members)
{
    enum { MEMBERS = 400000 };
    char name[24];
    const uint32_t crc = put_member("a000000.npy");
    const uint64_t directory = archive.size;
    for (unsigned i = 0; i < MEMBERS; i++) {
        snprintf(name, sizeof name, "a%06u.npy", i == MEMBERS - 1 ? 7 : i);
        put_entry(name, crc);
    }
    put_end(directory, MEMBERS);
    const struct hub_file_entry entry = {HUB_VIEW("many.npz"), archive.size, false};
    struct hub_files files = {.entries = &entry, .count = 1, .open = open_archive, .close = keep_open};
    struct hub_npz_reader npz = {0};
    struct hub_error err = {0};
    cr_assert_eq(hub_npz_reader_open(&npz, &files, 0, &err), HUB_OK, "%s", err.detail);
    cr_expect_eq(npz.count, MEMBERS - 1);
    cr_expect_eq(npz.repeated.count, 1);
    cr_expect_str_eq(npz.repeated.first, "a000007.npy");
    cr_expect(hub_view_is(npz.arrays[7].path, "a000008"));
    cr_expect(hub_view_is(npz.arrays[MEMBERS - 2].path, "a000007"));
    cr_expect_str_eq(npz.arrays[0].reason, "");
    cr_expect(strstr(npz.arrays[7].reason, "differ in its name"), "%s", npz.arrays[7].reason);
    cr_expect_leq(reads, 4 * MEMBERS, "%u reads", reads);
    cr_expect_eq(npz.arrays[0].npy.shape[0], 1);
    hub_npz_reader_dispose(&npz);
    hub_buf_dispose(&archive);
}

struct checked_case {
    uint32_t flip;    /* of its checksum */
    int64_t until_ms; /* there is time until then */
    uint32_t unchecked;
    char words[24]; /* of the reason; "": it is read */
};

ParameterizedTestParameters(generic, checksums)
{
    static struct checked_case cases[] = {
        {0, 0, 0, ""},
        {1, 0, 0, "its CRC-32 is wrong"},
        {0, 1, 1, ""}, /* the time is over: it is served, and reported */
        {1, 1, 1, ""},
    };
    return cr_make_param_array(struct checked_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct checked_case *c, generic, checksums)
{
    const uint32_t crc = put_member("a.npy") ^ c->flip;
    const uint64_t directory = archive.size;
    put_entry("a.npy", crc);
    put_end(directory, 1);
    const struct hub_file_entry entry = {HUB_VIEW("a.npz"), archive.size, false};
    struct hub_files files = {.entries = &entry,
                              .count = 1,
                              .open = open_archive,
                              .close = keep_open,
                              .check_until_ms = c->until_ms};
    struct hub_npz_reader npz = {0};
    cr_assert_eq(hub_npz_reader_open(&npz, &files, 0, NULL), HUB_OK);
    cr_assert_eq(npz.count, 1);
    cr_expect_eq(npz.unchecked.count, c->unchecked);
    cr_expect(c->words[0] ? strstr(npz.arrays[0].reason, c->words) != NULL : !npz.arrays[0].reason[0], "%s",
              npz.arrays[0].reason);
    hub_npz_reader_dispose(&npz);
    hub_buf_dispose(&archive);
}

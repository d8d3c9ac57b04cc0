#include "storage/io/tar.h"

#include <criterion/criterion.h>

static struct hub_buf out;

static void header(const char *name, uint64_t size, int64_t mtime_ns, bool spelled)
{
    hub_buf_dispose(&out);
    out = HUB_BUF_INIT(64 * KIB);
    cr_assert_eq(hub_tar_header(&(struct hub_tar_file){name, size, mtime_ns, spelled}, &out, NULL), HUB_OK);
    cr_assert_eq(out.size % HUB_TAR_BLOCK, 0);
}

/* The records of its pax header, NULL: there is none. */
static const char *records(void)
{
    return out.size > HUB_TAR_BLOCK ? out.data + HUB_TAR_BLOCK : NULL;
}

Test(base_tar, what_ustar_holds_is_one_block)
{
    header("ns/set-v0/data/main_data.hdf5", 077777777777, 1600000000000000000, false);
    cr_assert_null(records());
    cr_assert_str_eq(out.data, "ns/set-v0/data/main_data.hdf5");
    cr_assert_str_eq(out.data + 124, "77777777777");
    cr_assert_str_eq(out.data + 136, "13727410000");
    cr_assert_arr_eq(out.data + 257, "ustar\00000", 8);
}

Test(base_tar, what_it_does_not_hold_is_a_record)
{
    header("a", 0, 1600000000123456789, false);
    cr_assert_str_eq(records(), "30 mtime=1600000000.123456789\n");
    header("a", 0, -1500000000, false);
    cr_assert_str_eq(records(), "22 mtime=-1.500000000\n");
    header("a", 8 * GIB, 0, false);
    cr_assert_str_eq(records(), "19 size=8589934592\n");
    header("s\xc3\xbc\xc3\x9f", 0, 0, false);
    cr_assert_str_eq(records(), "14 path=s\xc3\xbc\xc3\x9f\n");
    header("a\\x5c", 0, 0, true);
    cr_assert_str_eq(records(), "30 comment=minari-hub spelled\n");
}

Test(base_tar, a_record_counts_its_own_digits)
{
    char name[128] = "";
    for (size_t i = 0; i < 101; i++)
        name[i] = 'n';
    header(name, 0, 0, false);
    cr_assert_arr_eq(records(), "111 path=nnn", 12);
    cr_assert_eq(strlen(records()), 111);
    cr_assert_arr_eq(out.data + 2 * HUB_TAR_BLOCK, name, 100, "whoever knows no pax gets what fits");
    name[100] = '\0';
    header(name, 0, 0, false);
    cr_assert_null(records());
}

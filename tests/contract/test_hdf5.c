/*
 * Every way HDF5 stores rows (tests/fixtures/hdf5), and files made to harm (hdf5-hostile). The numeric fields
 * of the former hold 0, 1, 2 ... in C order, so each value read from the layout alone is checked.
 */
#include "storage/base/digest.h"
#include "tests/support/contract.h"

struct counting_case {
    char set[24], path[36];
    uint32_t rows, items;
};

ParameterizedTestParameters(hdf5, counting)
{
    static struct counting_case cases[] = {
        {"layout-old-v0", "contiguous", 5, 3},
        {"layout-old-v0", "compact", 5, 3},
        {"layout-old-v0", "edge_1d", 25, 1},
        {"layout-old-v0", "edge_2d", 25, 7},
        {"layout-old-v0", "edge_3d", 9, 20},
        {"layout-old-v0", "chunk_over_extent", 5, 3},
        {"layout-old-v0", "shrunk", 6, 2},
        {"layout-old-v0", "grown", 11, 2},
        {"layout-old-v0", "chunked_early", 6, 2},
        {"layout-v110-v0", "single", 5, 3},
        {"layout-v110-v0", "single_gzip", 5, 3},
        {"layout-v110-v0", "implicit", 9, 5},
        {"layout-v110-v0", "fixed_array", 9, 5},
        {"layout-v110-v0", "fixed_array_gzip", 9, 5},
        {"layout-v110-v0", "fixed_array_paged", 1500, 1},
        {"layout-v110-v0", "extensible_array", 30, 5},
        {"layout-v110-v0", "extensible_array_gzip", 30, 5},
        {"layout-v110-v0", "extensible_array_second_axis", 7, 9},
        {"layout-v110-v0", "btree2", 9, 5},
        {"layout-v110-v0", "btree2_gzip", 9, 5},
        {"layout-v110-v0", "unfiltered_edges", 9, 5},
        {"layout-latest-v0", "fixed_array_paged", 1500, 1},
        {"layout-latest-v0", "extensible_array", 30, 5},
        {"layout-latest-v0", "compact", 5, 3},
        {"layout-hdf5-2-v0", "single", 5, 3},
        {"layout-hdf5-2-v0", "fixed_array", 9, 5},
        {"layout-hdf5-2-v0", "fixed_array_paged", 1100, 1},
        {"layout-hdf5-2-v0", "extensible_array", 300, 5},
        {"layout-hdf5-2-v0", "extensible_array_tiny", 600, 1},
        {"layout-hdf5-2-v0", "btree2", 20, 9},
        {"layout-1-v0", "contiguous", 5, 3},
        {"layout-1-v0", "contiguous_1d", 25, 1},
        {"layout-1-v0", "chunked", 25, 1},
        {"layout-1-v0", "chunked_gzip", 9, 5},
        {"layout-1-v0", "compact", 3, 1},
        {"filters-standard-v0", "gzip", 25, 7},
        {"filters-standard-v0", "shuffle_gzip_fletcher32", 25, 7},
        {"filters-standard-v0", "fletcher32", 25, 7},
        {"filters-standard-v0", "shuffle_lzf", 25, 7},
        {"filters-standard-v0", "mask", 12, 2},
        {"filters-standard-v0", "gzip_twice", 8, 4},
        {"filters-standard-v0", "szip", 25, 7},            /* by libhdf5, through side data */
        {"filters-standard-v0", "scaleoffset_int", 25, 7}, /* the same */
        {"filters-standard-v0", "nbit", 25, 7},            /* the same, of 17 bits */
        {"cache-image-v0", "new_0", 25, 3},
        {"cache-image-v0", "new_11", 25, 3},
        {"types-members-v0", "contiguous/n", 25, 1},
        {"types-members-v0", "contiguous_2d/pose", 5, 9},
        {"types-members-v0", "compact/deep/grid", 5, 12},
        {"types-members-v0", "chunked/pose", 25, 3},
        {"types-members-v0", "chunked_2d/deep/grid", 9, 30},
        {"types-members-v0", "gzip/n", 25, 1},
        {"types-members-v0", "gzip_2d/pose", 9, 15},
        {"filters-mixed-v0", "scaleoffset_lzf", 25, 7},
        {"filters-mixed-v0", "scaleoffset_shuffle_lzf", 25, 7},
        {"filters-unknown-v0", "good", 5, 3},
        {"filters-unknown-v0", "zfp_skipped", 5, 3}, /* an unknown filter that no chunk needs */
        {"filters-plugins-v0", "blosc_blosclz_plain", 25, 7},
        {"filters-plugins-v0", "blosc_lz4_bytes", 25, 7},
        {"filters-plugins-v0", "blosc_zstd_bits", 25, 7},
        {"filters-plugins-v0", "blosc_long", 5000, 3},
        {"filters-plugins-v0", "blosc_level_0", 25, 7},
        {"filters-plugins-v0", "blosc_skipped", 5, 3},
        {"filters-plugins-v0", "lz4_i2", 25, 7},
        {"filters-plugins-v0", "lz4_blocks", 5000, 3},
        {"filters-plugins-v0", "zstd_long", 5000, 3},
        {"filters-plugins-v0", "shuffle_zstd_fletcher32", 25, 7},
        {"filters-plugins-v0", "bits_u1", 25, 7},
        {"filters-plugins-v0", "bits_long", 5000, 3},
        {"filters-plugins-v0", "bits_few", 3, 1},
        {"filters-plugins-v0", "bits_lz4_f8", 25, 7},
        {"filters-plugins-v0", "bits_lz4_long", 5000, 3},
        {"filters-plugins-v0", "bits_zstd_long", 5000, 3},
        {"types-numbers-v0", "bits_12", 5, 1},
        {"types-compound-v0", "array_type", 5, 6},
        {"chunks-btree-v0", "tiny", 4200, 1},
        {"chunks-btree-v0", "tiny_gzip", 150, 1},
        {"chunks-arrays-v0", "extensible", 2500, 1},
        {"chunks-arrays-v0", "extensible_gzip", 300, 1},
        {"chunks-arrays-v0", "fixed", 2100, 1},
        {"chunks-arrays-v0", "btree2", 40, 30},
        {"names-long-v0", "before_11", 5, 1},
        {"names-long-v0", "soft", 5, 1},
        {"names-long-v0", "zlast", 5, 1},
        {"names-long-dense-v0", "before_11", 5, 1},
        {"names-long-dense-v0", "soft", 5, 1},
        {"names-long-dense-v0", "zlast", 5, 1},
        {"groups-links-v0", "hard", 5, 1},
        {"groups-links-v0", "soft_relative", 5, 1},
        {"groups-links-v0", "committed_type", 5, 1},
    };
    return cr_make_param_array(struct counting_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct counting_case *c, hdf5, counting, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "hdf5/%s", c->set);
    char path[64];
    snprintf(path, sizeof path, "infos/%s", c->path);
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = contract_read(&d, path, 0);
    cr_assert_eq(rows.rows, c->rows, "%s: %u rows", path, (unsigned)rows.rows);
    cr_assert_eq(hub_variant_row_items(&rows.variant), c->items);
    contract_check_counting(&d, path, &rows);
}

static void expect_text(const struct inspected *d, const char *path, const char *const *texts, uint32_t count)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = contract_read(d, path, 0);
    cr_assert_eq(rows.rows, count, "%s", path);
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_view text = contract_row(&rows, i);
        cr_expect(hub_view_is(text, texts[i]), "%s: row %u is '%.*s'", path, i, (int)text.size, text.data);
    }
}

Test(hdf5, text_of_fixed_and_varying_length, .timeout = 60)
{
    static const char *const words[] = {"", "door", "扉🚪", "e\u0301", "a\\\"\t\n"}, *const padded[] = {
                                                                                        "", "door", "abcdef"};
    static const char *const blanks[] = {"door", "ab"}, *const none[] = {"", "", "", "", ""};
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "hdf5/types-text-v0");
    HUB_CLEANUP(inspected_close)
    struct inspected unwritten = contract_open("minari-hdf5", "hdf5/fill-values-v0");
    expect_text(&d, "infos/vlen", words, 5);
    expect_text(&d, "infos/fixed_utf8", words, 5);
    expect_text(&d, "infos/fixed_null_padded", padded, 3);
    expect_text(&d, "infos/fixed_space_padded", blanks, 2);
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = contract_read(&d, "infos/vlen_f4", 0);
    cr_expect_eq(rows.variant.sequence, HUB_KIND_FLOAT);
    cr_expect(rows.offsets[1] == 12 && rows.offsets[2] == 16, "three numbers and one");
    expect_text(&unwritten, "infos/never_written_text", none, 5);
}

/* As each kind of padding says; what a writer's buffer held behind the text is not part of it. */
Test(hdf5, padding_of_fixed_strings, .timeout = 60)
{
    static const char *const terminated[] = {"door", "", "abcdefgh"}, *const blanks[] = {"a b", "", "  x"};
    static const char *const plain[] = {"null_terminated", "null_terminated_gzip", "null_terminated_scalars"};
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "hdf5/text-padding-v0");
    for (size_t i = 0; i < HUB_COUNT(plain); i++) {
        char path[64];
        snprintf(path, sizeof path, "infos/%s", plain[i]);
        expect_text(&d, path, terminated, i == 2 ? 1 : 3);
    }
    expect_text(&d, "infos/space_padded", blanks, 3);
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = contract_read(&d, "infos/null_padded", 0);
    cr_expect_eq(contract_row(&rows, 0).size, 6, "a NUL within is part of padded text");
    contract_check_text(&d, d.parts[0].episodes[0].attributes,
                        "{\"null_padded\":[\"ab\\u0000cd\"],\"null_terminated\":[\"door\"],"
                        "\"space_padded\":[\"a b\"]}");
}

Test(hdf5, a_name_longer_than_any_path_is_reported, .timeout = 60)
{
    static const char *const sets[] = {"hdf5/names-long-v0", "hdf5/names-long-dense-v0"};
    for (size_t i = 0; i < HUB_COUNT(sets); i++) {
        HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "%s", sets[i]);
        cr_expect_eq(d.parts[0].problem_count, 1);
        cr_expect_not_null(inspected_problem(&d, "bad-name", "episode_0/infos"), "%s", sets[i]);
    }
}

/* What is longer than a listing shows is told by its length and digest, which the sandbox allows. */
Test(hdf5, long_attributes_are_summed_up, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "hdf5/attributes-long-v0");
    char bytes[2000], hex[2 * HUB_SHA256_BYTES + 1], fixed[200];
    uint8_t digest[HUB_DIGEST_MAX];
    const char *attributes = d.parts[0].episodes[0].attributes;
    memset(bytes, 'y', sizeof bytes);
    cr_assert_eq(hub_digest_of(HUB_SHA256, (struct hub_view){bytes, sizeof bytes}, digest, NULL), HUB_OK);
    hub_hex(digest, HUB_SHA256_BYTES, hex);
    snprintf(fixed, sizeof fixed, "\"fixed\":{\"length\":2000,\"sha256\":\"%s\"}", hex);
    contract_check_says(&d, attributes, fixed);
    contract_check_says(&d, attributes, "\"model_file\":{\"length\":60017,\"sha256\":\"");
    contract_check_says(&d, attributes, "\"table\":{\"length\":40000,\"sha256\":\"");
    contract_check_says(&d, attributes, "\"short\":[0,1,2]");
}

struct refused_case {
    char set[32], path[28], why[56];
};

ParameterizedTestParameters(hdf5, refused)
{
    static struct refused_case cases[] = {
        {"hdf5/filters-unknown-v0", "zfp", "filter 32013 (zfp)"},
        {"hdf5/filters-unknown-v0", "bzip2", "filter 307 (bzip2)"},
        {"hdf5/filters-unknown-v0", "jpeg", "filter 32019 (jpeg)"},
        {"hdf5/filters-unknown-v0", "nobody", "filter 511"},
        {"hdf5/filters-plugins-v0", "bits_own_blocks", "bitshuffle in blocks of 16 elements, not compressed"},
        {"hdf5/types-members-v0", "nbit/n", "a member of a compound that only libhdf5 decodes"},
        {"hdf5/types-members-v0", "texts/ref", "reference type"},
        {"hdf5/types-compound-v0", "opaque", "opaque type"},
        {"hdf5/types-numbers-v0", "bitfield", "bitfield type"},
        {"hdf5/types-numbers-v0", "longdouble", "float of 80 bits that is not IEEE 754"},
        {"hdf5-hostile/outside-raw-v0", "passwd", "external raw storage"},
        {"hdf5-hostile/outside-raw-v0", "relative", "external raw storage"},
        {"hdf5-hostile/outside-virtual-v0", "absolute", "virtual dataset"},
        {"hdf5-hostile/outside-virtual-v0", "same_file", "virtual dataset"},
        {"hdf5-hostile/size-bomb-v0", "deflate_1_gib", "chunks of more than 256 MiB"},
        {"hdf5-hostile/types-user-v0", "reference", "reference type"},
    };
    return cr_make_param_array(struct refused_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct refused_case *c, hdf5, refused, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "%s", c->set);
    char path[64];
    snprintf(path, sizeof path, "infos/%s", c->path);
    const struct hub_found_field *field = contract_field(&d, path);
    cr_assert_not_null(field->unreadable, "%s %s is readable", c->set, path);
    contract_check_text(&d, field->unreadable, c->why);
    cr_expect_eq(contract_layout(&d, path).counts[HUB_T_ARRAYS], 0, "which episodes have it, and no rows");
}

struct hostile_case {
    char set[32];
    enum hub_status plan;
    char says[40]; /* in the plan's error, or a problem's code */
    bool good;     /* infos/good still reads 0..14 */
};

ParameterizedTestParameters(hdf5, hostile)
{
    static struct hostile_case cases[] = {
        {"outside-raw-v0", HUB_OK, "", true},
        {"outside-virtual-v0", HUB_OK, "", true},
        {"outside-links-v0", HUB_OK, "link-leaves-dataset", true},
        {"loop-hard-v0", HUB_OK, "link-cycle", true},
        {"loop-soft-v0", HUB_OK, "link-target-missing", true},
        {"loop-deep-v0", HUB_OK, "too-deep", true},
        {"size-declared-v0", HUB_OK, "", true},
        {"size-bomb-v0", HUB_OK, "", true},
        {"names-odd-v0", HUB_OK, "bad-name", true},
        {"types-user-v0", HUB_OK, "link-user-defined", true},
        {"attrs-wrong-v0", HUB_OK, "bad-metadata", true},
        {"unclean-shutdown-v0", HUB_OK, "file-not-closed", false},
        {"flipped-bytes0-v0", HUB_OK, "", false},
        {"flipped-bytes1-v0", HUB_OK, "group-damaged", false},
        {"flipped-bytes2-v0", HUB_OK, "group-damaged", false},
        {"truncated-half-v0", HUB_CORRUPT, "cut short", false},
        {"truncated-superblock-v0", HUB_CORRUPT, "superblock is cut short", false},
        {"truncated-tail-v0", HUB_CORRUPT, "cut short", false},
        {"empty-file-v0", HUB_CORRUPT, "not an HDF5 file", false},
        {"garbage-all-v0", HUB_CORRUPT, "not an HDF5 file", false},
        {"garbage-zeros-v0", HUB_CORRUPT, "superblock", false},
        {"garbage-magic-v0", HUB_UNSUPPORTED, "superblock of version", false},
        {"garbage-late-magic-v0", HUB_UNSUPPORTED, "superblock of version", false},
        {"lfs-pointer-v0", HUB_CORRUPT, "Git LFS pointer", false},
    };
    return cr_make_param_array(struct hostile_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct hostile_case *c, hdf5, hostile, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d;
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    struct hub_error err;
    const enum hub_status st = contract_try(&d, &err, "hdf5-hostile/%s", c->set);
    cr_assert_eq(st, c->plan, "%s: %s", c->set, err.detail);
    cr_assert_str_eq(d.format, "minari-hdf5", "%s is not claimed", c->set);
    if (st)
        contract_check_says(&d, err.detail, c->says);
    else if (c->says[0])
        contract_check_problems(&d, c->says);
    for (uint32_t i = 0; !st && i < d.plan.part_count; i++)
        cr_expect_eq(d.part_status[i], HUB_OK, "%s: %s", c->set, d.part_errors[i].detail);
    if (!c->good)
        return;
    rows = contract_read(&d, "infos/good", 0);
    cr_expect_eq(rows.rows * hub_variant_row_items(&rows.variant), 15);
    contract_check_counting(&d, "infos/good", &rows);
}

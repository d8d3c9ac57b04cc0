/*
 * Every way HDF5 stores rows (tests/fixtures/hdf5), and files made to harm (hdf5-hostile). The numeric fields
 * of the former hold 0, 1, 2 ... in C order, so each value read from the layout alone is checked.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "storage/base/digest.h"
#include "tests/support/rows.h"

static enum hub_status open_set(struct inspected *d, const char *name, struct hub_error *err)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", HUB_FIXTURES, name);
    return inspected_open(d, HUB_INSPECT, path, err);
}

static double number_at(const struct hub_variant *v, const uint8_t *at)
{
    uint64_t bits = 0;
    double d;
    float f;
    for (uint32_t i = 0; i < v->item_size; i++)
        bits |= (uint64_t)at[v->big_endian ? v->item_size - 1 - i : i] << (8 * i);
    if (v->kind == HUB_KIND_FLOAT && v->item_size == 8)
        return memcpy(&d, &bits, 8), d;
    if (v->kind == HUB_KIND_FLOAT && v->item_size == 4)
        return memcpy(&f, &bits, 4), (double)f;
    return (double)bits;
}

/* The rows of a field of episode 0. */
static void read_field(struct inspected *d, const char *path, struct hub_rows *rows)
{
    struct hub_layout layout;
    struct hub_error err = {0};
    const struct hub_found_field *field = inspected_field(&d->parts[0], path);
    cr_assert_not_null(field, "no field %s", path);
    cr_assert_null(field->unreadable, "%s: %s", path, field->unreadable);
    cr_assert_eq(hub_layout_open(field->layout, field->layout_size, &layout, &err), HUB_OK);
    const struct hub_window *window = hub_layout_window(&layout, 0);
    cr_assert_not_null(window, "%s has no rows in episode 0", path);
    cr_assert_eq(rows_read(d, 0, &layout, window, rows, &err), HUB_OK, "%s: %s", path, err.detail);
}

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
    struct inspected d;
    struct hub_error err = {0};
    struct hub_rows rows = {0};
    char set[64], path[64];
    snprintf(set, sizeof set, "hdf5/%s", c->set);
    snprintf(path, sizeof path, "infos/%s", c->path);
    cr_assert_eq(open_set(&d, set, &err), HUB_OK, "%s: %s", set, err.detail);
    read_field(&d, path, &rows);
    cr_assert_eq(rows.rows, c->rows, "%s: %u rows", path, (unsigned)rows.rows);
    cr_assert_eq(hub_variant_row_items(&rows.variant), c->items);
    for (uint64_t i = 0; i < (uint64_t)c->rows * c->items; i++)
        cr_assert_eq(number_at(&rows.variant, rows.data + i * rows.variant.item_size), (double)i,
                     "%s: element %u", path, (unsigned)i);
    hub_rows_dispose(&rows);
    inspected_close(&d);
}

static void expect_text(struct inspected *d, const char *path, const char *const *texts, uint32_t count)
{
    struct hub_rows rows = {0};
    read_field(d, path, &rows);
    cr_assert_eq(rows.rows, count, "%s", path);
    for (uint32_t i = 0; i < count; i++) {
        const char *at =
            (const char *)rows.data + (rows.offsets ? rows.offsets[i] : i * (uint64_t)rows.variant.item_size);
        const size_t size =
            rows.offsets ? rows.offsets[i + 1] - rows.offsets[i] : hub_variant_text_size(&rows.variant, at);
        cr_expect(size == strlen(texts[i]) && memcmp(at, texts[i], size) == 0, "%s: row %u is '%.*s'", path,
                  i, (int)size, at);
    }
    hub_rows_dispose(&rows);
}

Test(hdf5, text_of_fixed_and_varying_length, .timeout = 60)
{
    static const char *const words[] = {"", "door", "扉🚪", "e\u0301", "a\\\"\t\n"}, *const padded[] = {
                                                                                        "", "door", "abcdef"};
    static const char *const blanks[] = {"door", "ab"}, *const none[] = {"", "", "", "", ""};
    struct inspected d;
    struct hub_rows rows = {0};
    struct hub_error err = {0};
    cr_assert_eq(open_set(&d, "hdf5/types-text-v0", &err), HUB_OK);
    expect_text(&d, "infos/vlen", words, 5);
    expect_text(&d, "infos/fixed_utf8", words, 5);
    expect_text(&d, "infos/fixed_null_padded", padded, 3);
    expect_text(&d, "infos/fixed_space_padded", blanks, 2);
    read_field(&d, "infos/vlen_f4", &rows);
    cr_expect_eq(rows.variant.sequence, HUB_KIND_FLOAT);
    cr_expect(rows.offsets[1] == 12 && rows.offsets[2] == 16, "three numbers and one");
    hub_rows_dispose(&rows);
    inspected_close(&d);
    cr_assert_eq(open_set(&d, "hdf5/fill-values-v0", &err), HUB_OK);
    expect_text(&d, "infos/never_written_text", none, 5);
    inspected_close(&d);
}

/* As each kind of padding says; what a writer's buffer held behind the text is not part of it. */
Test(hdf5, padding_of_fixed_strings, .timeout = 60)
{
    static const char *const terminated[] = {"door", "", "abcdefgh"}, *const blanks[] = {"a b", "", "  x"};
    static const char *const plain[] = {"null_terminated", "null_terminated_gzip", "null_terminated_scalars"};
    struct inspected d;
    struct hub_error err = {0};
    struct hub_rows rows = {0};
    cr_assert_eq(open_set(&d, "hdf5/text-padding-v0", &err), HUB_OK);
    for (size_t i = 0; i < HUB_COUNT(plain); i++) {
        char path[64];
        snprintf(path, sizeof path, "infos/%s", plain[i]);
        expect_text(&d, path, terminated, i == 2 ? 1 : 3);
    }
    expect_text(&d, "infos/space_padded", blanks, 3);
    read_field(&d, "infos/null_padded", &rows);
    cr_expect_eq(hub_variant_text_size(&rows.variant, rows.data), 6, "a NUL within is part of padded text");
    hub_rows_dispose(&rows);
    cr_expect_str_eq(d.parts[0].episodes[0].attributes,
                     "{\"null_padded\":[\"ab\\u0000cd\"],\"null_terminated\":[\"door\"],"
                     "\"space_padded\":[\"a b\"]}");
    inspected_close(&d);
}

Test(hdf5, a_name_longer_than_any_path_is_reported, .timeout = 60)
{
    static const char *const sets[] = {"hdf5/names-long-v0", "hdf5/names-long-dense-v0"};
    for (size_t i = 0; i < HUB_COUNT(sets); i++) {
        struct inspected d;
        struct hub_error err = {0};
        cr_assert_eq(open_set(&d, sets[i], &err), HUB_OK);
        cr_expect_eq(d.parts[0].problem_count, 1);
        cr_expect_not_null(inspected_problem(&d, "bad-name", "episode_0/infos"), "%s", sets[i]);
        inspected_close(&d);
    }
}

/* What is longer than a listing shows is told by its length and digest, which the sandbox allows. */
Test(hdf5, long_attributes_are_summed_up, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    char bytes[2000], hex[2 * HUB_SHA256_BYTES + 1], fixed[200];
    uint8_t digest[HUB_DIGEST_MAX];
    cr_assert_eq(open_set(&d, "hdf5/attributes-long-v0", &err), HUB_OK);
    cr_assert_eq(d.part_status[0], HUB_OK, "%s", d.part_errors[0].detail);
    const char *attributes = d.parts[0].episodes[0].attributes;
    memset(bytes, 'y', sizeof bytes);
    cr_assert_eq(hub_digest_of(HUB_SHA256, (struct hub_view){bytes, sizeof bytes}, digest, &err), HUB_OK);
    hub_hex(digest, HUB_SHA256_BYTES, hex);
    snprintf(fixed, sizeof fixed, "\"fixed\":{\"length\":2000,\"sha256\":\"%s\"}", hex);
    cr_expect_not_null(strstr(attributes, fixed), "%s", attributes);
    cr_expect_not_null(strstr(attributes, "\"model_file\":{\"length\":60017,\"sha256\":\""), "%s",
                       attributes);
    cr_expect_not_null(strstr(attributes, "\"table\":{\"length\":40000,\"sha256\":\""), "%s", attributes);
    cr_expect_not_null(strstr(attributes, "\"short\":[0,1,2]"), "%s", attributes);
    inspected_close(&d);
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
    struct inspected d;
    struct hub_error err = {0};
    char path[64];
    snprintf(path, sizeof path, "infos/%s", c->path);
    cr_assert_eq(open_set(&d, c->set, &err), HUB_OK, "%s: %s", c->set, err.detail);
    const struct hub_found_field *field = inspected_field(&d.parts[0], path);
    cr_assert_not_null(field, "%s %s", c->set, path);
    cr_assert_not_null(field->unreadable, "%s %s is readable", c->set, path);
    cr_expect_str_eq(field->unreadable, c->why, "%s %s: %s", c->set, path, field->unreadable);
    struct hub_layout layout;
    cr_assert_eq(hub_layout_open(field->layout, field->layout_size, &layout, &err), HUB_OK);
    cr_expect_eq(layout.counts[HUB_T_ARRAYS], 0, "which episodes have it, and no rows");
    inspected_close(&d);
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
    struct inspected d;
    struct hub_error err = {0};
    struct hub_rows rows = {0};
    char set[64];
    snprintf(set, sizeof set, "hdf5-hostile/%s", c->set);
    const enum hub_status st = open_set(&d, set, &err);
    cr_assert_eq(st, c->plan, "%s: %s", c->set, err.detail);
    cr_assert_str_eq(d.format, "minari-hdf5", "%s is not claimed", c->set);
    if (st)
        cr_expect_not_null(strstr(err.detail, c->says), "%s: %s", c->set, err.detail);
    else if (c->says[0])
        cr_expect_not_null(inspected_problem(&d, c->says, NULL), "%s lacks %s", c->set, c->says);
    for (uint32_t i = 0; !st && i < d.plan.part_count; i++)
        cr_expect_eq(d.part_status[i], HUB_OK, "%s: %s", c->set, d.part_errors[i].detail);
    if (c->good) {
        read_field(&d, "infos/good", &rows);
        for (unsigned i = 0; i < 15; i++)
            cr_expect_eq(number_at(&rows.variant, rows.data + i * 8), (double)i);
        hub_rows_dispose(&rows);
    }
    inspected_close(&d);
}

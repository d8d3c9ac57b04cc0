/* The webdataset driver over tests/fixtures/webdataset. compare_tar.py compares all rows with what Python
 * reads. */
#include <zstd.h>

#include "tests/support/contract.h"
#include "tests/support/scan_root.h"

struct set_case {
    char name[40];
    enum hub_status plan;
    uint32_t parts, episodes, fields, unreadable; /* of the first part */
    uint64_t steps;                               /* of its first episode */
    char problem[24];
};

ParameterizedTestParameters(webdataset, sets)
{
    static struct set_case cases[] = {
        {"plain", HUB_OK, 2, 1, 4, 0, 4, ""},
        {"plain-kinds", HUB_OK, 1, 1, 8, 0, 3, ""},
        {"plain-traps", HUB_OK, 1, 1, 3, 3, 7, "repeated-key"},
        {"plain-fortran", HUB_OK, 1, 1, 3, 0, 9, ""},
        {"plain-truncated", HUB_OK, 1, 1, 3, 0, 1, "unterminated-shard"},
        {"plain-gz", HUB_OK, 1, 1, 4, 0, 4, ""},
        {"plain-xz", HUB_UNSUPPORTED, 0, 0, 0, 0, 0, ""},
        {"names-gnu", HUB_OK, 1, 1, 3, 2, 6, ""},
        {"names-pax", HUB_OK, 1, 1, 3, 2, 6, ""},
        {"names-ustar", HUB_OK, 1, 1, 2, 0, 2, ""},
        {"ilr-protocol2", HUB_OK, 1, 2, 8, 0, 2, ""},
        {"ilr-protocol3", HUB_OK, 1, 2, 8, 0, 2, ""},
        {"ilr-protocol4", HUB_OK, 1, 2, 8, 0, 2, ""},
        {"ilr-protocol5", HUB_OK, 1, 2, 8, 0, 2, ""},
        {"ilr-shards", HUB_OK, 1, 4, 8, 0, 1, ""},
        {"ilr-across", HUB_OK, 1, 3, 6, 0, 4, ""},
        {"ilr-across-zst", HUB_OK, 1, 2, 6, 0, 2, ""},
        {"plain-members", HUB_OK, 1, 1, 12, 0, 3, ""},
        {"plain-members-odd", HUB_OK, 1, 1, 4, 4, 2, "bad-member"},
        {"demos-dict", HUB_OK, 1, 5, 7, 0, 3, ""},
        {"demos-native", HUB_OK, 1, 6, 6, 0, 2, "unreadable-episode"},
        {"demos-beside", HUB_OK, 1, 6, 9, 0, 2, "repeated-field"},
        {"place/demos/dm_control/finger-spin", HUB_OK, 1, 2, 8, 0, 2, ""},
        {"ilr-joined", HUB_OK, 1, 4, 8, 0, 2, ""},
        {"ilr-opcodes", HUB_OK, 1, 4, 18, 5, 1, "uneven-field"},
        {"ilr-evil", HUB_OK, 1, 1, 8, 2, 2, "bad-pickle"},
        {"ilr-no-dones", HUB_OK, 1, 1, 5, 0, 4, "boundary-unknown"},
        {"ilr-wide", HUB_OK, 1, 1, 6, 0, 2, ""},
        {"ilr-open-tail", HUB_OK, 1, 2, 6, 0, 4, ""},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, webdataset, sets)
{
    HUB_CLEANUP(inspected_close) struct inspected d;
    struct hub_error err;
    uint32_t unreadable = 0;
    const enum hub_status st = contract_try(&d, &err, "webdataset/%s", c->name);
    cr_assert_eq(st, c->plan, "%s: %s", c->name, err.detail);
    cr_assert_str_eq(d.format, "webdataset");
    cr_assert_eq(d.plan.part_count, c->parts);
    contract_check_problems(&d, c->problem);
    if (st)
        return;
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    cr_assert_eq(part->episodes[0].steps, c->steps);
    for (uint32_t i = 0; i < part->field_count; i++) {
        const struct hub_found_field *f = &part->fields[i];
        unreadable += f->unreadable != NULL;
        cr_assert(!f->unreadable || !inspected_problem(&d, "uneven-field", f->path), "%s is reported twice",
                  f->path);
    }
    cr_assert_eq(unreadable, c->unreadable, "%s: %u", c->name, unreadable);
}

Test(webdataset, pickled_frames_are_pictures)
{
    HUB_CLEANUP(inspected_close)
    struct inspected wide = contract_open("webdataset", "webdataset/ilr-wide"),
                     small = contract_open("webdataset", "webdataset/ilr-no-dones");
    contract_check_picture(&wide, "obs", "CHW", 4, 1);
    contract_check_picture(&wide, "next_obs", "CHW", 4, 1);
    contract_check_picture(&wide, "acts", "", 0, 0);
    contract_check_picture(&small, "obs", "", 0, 0); /* (4,3,3) */
}

/* Metadata that names classes is read without them. */
Test(webdataset, metadata_of_pickles)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("webdataset", "webdataset/ilr-protocol3");
    const char *text = inspected_fact(&d, "metadata");
    contract_check_says(&d, text, "\"benchmark_name\":\"dm_control\"");
    contract_check_says(
        &d, text,
        "{\"class\":\"il_representations.envs.utils._inflate_object\",\"args\":[\"gym.spaces.box.Box\"");
    contract_check_says(&d, text, "\"value\":255}");
}

/* A fixture made by a shell command in a folder of its own. */
static struct inspected open_made(const char *command)
{
    char *folder = scan_directory(), line[3000];
    snprintf(line, sizeof line, "cd '%s/webdataset' && out=%s/made.tar && %s", HUB_FIXTURES, folder, command);
    scan_run((const char *const[]){"sh", "-c", line, NULL});
    const struct inspected d = contract_open("webdataset", "%s", folder);
    scan_remove(folder);
    return d;
}

/* Where no metadata are, the folders say what it is. */
Test(webdataset, metadata_of_folders)
{
    HUB_CLEANUP(inspected_close)
    struct inspected placed = contract_open("webdataset", "webdataset/place/demos/dm_control/finger-spin");
    HUB_CLEANUP(inspected_close) struct inspected plain = contract_open("webdataset", "webdataset/plain");
    contract_check_fact(&placed, "metadata",
                        "{\"kind\":\"demos\",\"benchmark\":\"dm_control\",\"task\":\"finger-spin\"}");
    contract_check_fact(&plain, "metadata", "");
}

/* Frames count up from 0, over episodes of 2 and 1 steps; infos/internal_state is arange(4) + frame. */
Test(webdataset, rows_of_frames)
{
    static const char *const sets[] = {"ilr-protocol2", "ilr-protocol3", "ilr-protocol4", "ilr-protocol5"};
    for (size_t s = 0; s < HUB_COUNT(sets); s++) {
        HUB_CLEANUP(inspected_close)
        struct inspected d = contract_open("webdataset", "webdataset/%s", sets[s]);
        HUB_CLEANUP(hub_rows_dispose) struct hub_rows frames = contract_read(&d, "frame", 1);
        HUB_CLEANUP(hub_rows_dispose) struct hub_rows states = contract_read(&d, "infos/internal_state", 0);
        cr_assert(frames.rows == 1 && contract_number(&frames, 0) == 2, "%s", sets[s]);
        cr_assert_eq(states.rows, 2);
        cr_assert(contract_number(&states, 4) == 1 && contract_number(&states, 7) == 4, "%s", sets[s]);
        cr_assert_float_eq(d.parts[0].episodes[0].episode_return, 0.125, 1e-12);
    }
}

/* Arrays smaller than a block of the tar are moved together, so that a slice need not read all that is
 * between them. */
Test(webdataset, small_rows_lie_together)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("webdataset", "webdataset/ilr-protocol4");
    const struct hub_layout small = contract_layout(&d, "infos/internal_state");
    cr_expect_eq(small.pieces[0].file, HUB_SIDE_FILE);
    cr_expect_lt(small.extents[1].offset - small.extents[0].offset, 512);
}

static void expect_episode(const struct inspected *d, uint32_t number, const char *name, uint32_t file,
                           uint64_t steps)
{
    const struct hub_found_episode *e = &d->parts[0].episodes[number];
    cr_expect_str_eq(e->name, name);
    cr_expect_eq(e->file, file, "%s: %u", name, e->file);
    cr_expect_eq(e->steps, steps);
}

/* Episodes of 4, 3 and 2 frames in shards of 3 whose numbers are 8, 9 and 10. */
Test(webdataset, episodes_over_several_shards)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("webdataset", "webdataset/ilr-across");
    cr_assert_eq(d.parts[0].episode_count, 3);
    expect_episode(&d, 0, "random-8/0", 1, 4);
    expect_episode(&d, 1, "random-9/0", 2, 3);
    expect_episode(&d, 2, "random-10/0", 0, 2);
    cr_expect_str_eq(d.parts[0].episodes[2].attributes, "{\"boundary\":\"open\"}");
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows frames = contract_read(&d, "frame", 1);
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows pictures = contract_read(&d, "obs", 1);
    cr_assert_eq(frames.rows, 3);
    cr_expect(contract_number(&frames, 0) == 4 && contract_number(&frames, 2) == 6);
    cr_expect(pictures.rows == 3 && pictures.data[0] == 4 && pictures.data[8] == 6);
}

/* Shards that were cut: the frames of the next one are no part of what was lost. */
Test(webdataset, a_gap_between_shards)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = open_made("head -c 20000 ilr-across/random-8.tar > ${out%.tar}-8.tar && "
                                   "cp ilr-across/random-9.tar ${out%.tar}-9.tar");
    cr_assert_not_null(inspected_problem(&d, "damaged-shard", "made-8.tar"));
    cr_assert_eq(d.parts[0].episode_count, 3);
    cr_expect_str_eq(d.parts[0].episodes[0].attributes, "{\"boundary\":\"unknown\"}");
    cr_expect_eq(d.parts[0].episodes[1].steps, 1); /* frame 3, which is done */
    cr_expect_eq(d.parts[0].episodes[2].steps, 2);
}

Test(webdataset, rows_of_texts)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("webdataset", "webdataset/plain");
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = contract_read(&d, "txt", 0);
    cr_assert_eq(rows.rows, 4);
    cr_assert(hub_view_is(contract_row(&rows, 2), "step 2 扉"));
}

/* What a pickle asks to be run is not. */
Test(webdataset, nothing_is_executed)
{
    remove("/tmp/minari-hub-was-fooled");
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("webdataset", "webdataset/ilr-evil");
    cr_assert_null(fopen("/tmp/minari-hub-was-fooled", "r"));
}

Test(webdataset, frames_without_an_end)
{
    HUB_CLEANUP(inspected_close) struct inspected d = open_made("gzip -dc ilr-no-dones/demos.tgz > $out");
    cr_assert_eq(d.parts[0].episode_count, 1);
    cr_assert_eq(d.parts[0].episodes[0].steps, 4);
    cr_assert_str_eq(d.parts[0].episodes[0].attributes, "{\"boundary\":\"unknown\"}");
    cr_assert_not_null(inspected_problem(&d, "boundary-unknown", NULL));
}

/* Cut in the last frame: the two before it stand, with all their fields. */
Test(webdataset, a_shard_that_is_cut_short)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = open_made("head -c 20000 ilr-protocol4/demos.tar > $out");
    cr_assert_not_null(inspected_problem(&d, "damaged-shard", NULL));
    cr_assert_eq(d.parts[0].episode_count, 1);
    cr_assert_eq(d.parts[0].episodes[0].steps, 2);
    for (uint32_t i = 0; i < d.parts[0].field_count; i++)
        cr_assert_null(d.parts[0].fields[i].unreadable, "%s", d.parts[0].fields[i].path);
}

/* Of a compressed shard only the beginning is looked at for a claim: here it is within the first member. */
Test(webdataset, a_compressed_shard_with_a_large_first_member)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = open_made("cd $(dirname $out) && seq 300000 > 000.txt && printf 1 > 000.cls && "
                                   "tar cf - 000.txt 000.cls | gzip > made.tar.gz && rm 000.*");
    cr_expect_eq(contract_part(&d, 0, 1, 2)->episodes[0].steps, 1);
}

/* A pickle that cannot be read costs its field one episode, not the shard. */
Test(webdataset, one_bad_pickle)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d =
        open_made("cp ilr-protocol4/demos.tar $out && printf '\\200\\377' | dd of=$out bs=1 seek=2048 "
                  "conv=notrunc 2>/dev/null");
    cr_assert_not_null(inspected_problem(&d, "bad-pickle", NULL));
    cr_assert_not_null(inspected_problem(&d, "uneven-field", "acts"));
    const struct hub_layout layout = contract_layout(&d, "acts");
    cr_assert_null(contract_field(&d, "acts")->unreadable);
    cr_assert_not_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 0)));
    cr_assert_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 1)));
}

/* ---- ceilings of what is unpacked ---- */

enum { UNPACKED = 70 * 1024 * 1024, NOISE = 128, EVERY = 64 * 1024 };

static void put_header(char *at, const char *name, unsigned size)
{
    unsigned sum = 0;
    snprintf(at, 100, "%s", name);
    snprintf(at + 124, 12, "%011o", size);
    at[156] = '0';
    memset(at + 148, ' ', 8);
    for (size_t i = 0; i < 512; i++)
        sum += (uint8_t)at[i];
    snprintf(at + 148, 8, "%06o", sum);
}

/* A shard of one sample: zeros with some noise, so that it packs to about a 500th; or zeros alone. */
static char *make_tar(bool noise)
{
    uint64_t state = 1;
    char *tar = calloc(1, UNPACKED);
    cr_assert_not_null(tar);
    put_header(tar, "000.cls", 1);
    put_header(tar + 1024, "000.bin", UNPACKED - 1536 - 1024);
    for (size_t at = EVERY; noise && at + EVERY < UNPACKED; at += EVERY)
        for (size_t i = 0; i < NOISE; i++)
            tar[at + i] = (char)((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    return tar;
}

static size_t write_packed(const char *folder, bool noise, int window)
{
    char *tar = make_tar(noise);
    const size_t room = ZSTD_compressBound(UNPACKED);
    char *packed = malloc(room);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window);
    const size_t size = ZSTD_compress2(zstd, packed, room, tar, UNPACKED);
    cr_assert(!ZSTD_isError(size));
    scan_write_bytes(folder, "demos.tar.zst", packed, size);
    ZSTD_freeCCtx(zstd);
    free(packed);
    free(tar);
    return size;
}

struct ceiling_case {
    bool noise;
    int window;
    enum hub_status st;
    char words[48];
};

ParameterizedTestParameters(webdataset, ceilings)
{
    static struct ceiling_case cases[] = {
        {true, 26, HUB_OK, ""}, /* as large as il-representations' own */
        {true, 27, HUB_TOO_BIG, "unpack it to .tar"},
        {false, 26, HUB_TOO_BIG, "times its size"},
    };
    return cr_make_param_array(struct ceiling_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct ceiling_case *c, webdataset, ceilings, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d;
    struct hub_error err;
    char *folder = scan_directory();
    const size_t size = write_packed(folder, c->noise, c->window);
    cr_assert(!c->noise || (UNPACKED / size > 400 && UNPACKED / size < 600), "%zu bytes", size);
    cr_assert_eq(contract_try(&d, &err, "%s", folder), HUB_OK, "%s", err.detail);
    cr_assert_str_eq(d.format, "webdataset");
    cr_expect_eq(d.part_status[0], c->st, "%s", d.part_errors[0].detail);
    contract_check_says(&d, d.part_errors[0].detail, c->words);
    scan_remove(folder);
}

/* The webdataset driver over tests/fixtures/webdataset. compare_tar.py compares all rows with what Python
 * reads. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "tests/support/rows.h"

static enum hub_status open_set(struct inspected *d, const char *name, struct hub_error *err)
{
    char path[1000];
    const bool placed = strcmp(name, "place") == 0;
    snprintf(path, sizeof path, "%s/webdataset/%s%s", HUB_FIXTURES, name,
             placed ? "/demos/dm_control/finger-spin" : "");
    return inspected_open(d, HUB_INSPECT, path, err);
}

struct set_case {
    char name[20];
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
        {"place", HUB_OK, 1, 2, 8, 0, 2, ""},
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
    struct inspected d;
    struct hub_error err = {0};
    uint32_t unreadable = 0;
    const enum hub_status st = open_set(&d, c->name, &err);
    cr_assert_eq(st, c->plan, "%s: %s", c->name, err.detail);
    cr_assert_str_eq(d.format, "webdataset");
    cr_assert_eq(d.plan.part_count, c->parts);
    if (!st) {
        cr_assert_eq(d.part_status[0], HUB_OK, "%s: %s", c->name, d.part_errors[0].detail);
        cr_assert_eq(d.parts[0].episode_count, c->episodes, "%s: %u", c->name, d.parts[0].episode_count);
        cr_assert_eq(d.parts[0].field_count, c->fields, "%s: %u", c->name, d.parts[0].field_count);
        cr_assert_eq(d.parts[0].episodes[0].steps, c->steps);
        for (uint32_t i = 0; i < d.parts[0].field_count; i++) {
            const struct hub_found_field *f = &d.parts[0].fields[i];
            unreadable += f->unreadable != NULL;
            cr_assert(!f->unreadable || !inspected_problem(&d, "uneven-field", f->path), "%s is told twice",
                      f->path);
        }
        cr_assert_eq(unreadable, c->unreadable, "%s: %u", c->name, unreadable);
    }
    if (c->problem[0])
        cr_assert_not_null(inspected_problem(&d, c->problem, NULL), "%s lacks %s", c->name, c->problem);
    else if (!st)
        cr_assert_eq(d.plan.problem_count + d.parts[0].problem_count, 0);
    inspected_close(&d);
}

/* Metadata that names classes is read without them. */
Test(webdataset, metadata_of_pickles)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, "ilr-protocol3", NULL), HUB_OK);
    const char *text = inspected_fact(&d, "metadata");
    cr_assert_not_null(strstr(text, "\"benchmark_name\":\"dm_control\""), "%s", text);
    cr_assert_not_null(
        strstr(
            text,
            "{\"class\":\"il_representations.envs.utils._inflate_object\",\"args\":[\"gym.spaces.box.Box\""),
        "%s", text);
    cr_assert_not_null(strstr(text, "\"value\":255}"), "%s", text);
    inspected_close(&d);
}

/* A fixture made by a shell command in a folder of its own. */
static void open_made(struct inspected *d, const char *command)
{
    char folder[] = "/tmp/hub-shards-XXXXXX", line[3000];
    struct hub_error err = {0};
    cr_assert_not_null(mkdtemp(folder));
    snprintf(line, sizeof line, "cd '%s/webdataset' && out=%s/made.tar && %s", HUB_FIXTURES, folder, command);
    cr_assert_eq(system(line), 0);
    cr_assert_eq(inspected_open(d, HUB_INSPECT, folder, &err), HUB_OK, "%s", err.detail);
    snprintf(line, sizeof line, "rm -r %s", folder);
    cr_assert_eq(system(line), 0);
}

/* Where no metadata are, the folders say what it is. */
Test(webdataset, metadata_of_folders)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, "place", NULL), HUB_OK);
    cr_expect_str_eq(inspected_fact(&d, "metadata"),
                     "{\"kind\":\"demos\",\"benchmark\":\"dm_control\",\"task\":\"finger-spin\"}");
    inspected_close(&d);
    cr_assert_eq(open_set(&d, "plain", NULL), HUB_OK);
    cr_expect_str_eq(inspected_fact(&d, "metadata"), "");
    inspected_close(&d);
}

static void read_rows(struct inspected *d, const char *path, uint32_t episode, struct hub_rows *rows)
{
    struct hub_layout layout;
    struct hub_error err = {0};
    const struct hub_found_field *f = inspected_field(&d->parts[0], path);
    cr_assert_not_null(f, "%s", path);
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    cr_assert_eq(rows_read(d, 0, &layout, hub_layout_window(&layout, episode), rows, &err), HUB_OK, "%s: %s",
                 path, err.detail);
}

/* Frames count up from 0, over episodes of 2 and 1 steps; infos/internal_state is arange(4) + frame. */
Test(webdataset, rows_of_frames)
{
    static const char sets[][16] = {"ilr-protocol2", "ilr-protocol3", "ilr-protocol4", "ilr-protocol5"};
    for (size_t s = 0; s < HUB_COUNT(sets); s++) {
        struct inspected d;
        struct hub_rows rows;
        double state[4];
        int64_t frame;
        cr_assert_eq(open_set(&d, sets[s], NULL), HUB_OK);
        read_rows(&d, "frame", 1, &rows);
        cr_assert_eq(rows.rows, 1);
        memcpy(&frame, rows.data, sizeof frame);
        cr_assert_eq(frame, 2, "%s", sets[s]);
        hub_rows_dispose(&rows);
        read_rows(&d, "infos/internal_state", 0, &rows);
        cr_assert_eq(rows.rows, 2);
        memcpy(state, rows.data + sizeof state, sizeof state);
        cr_assert(state[0] == 1 && state[3] == 4, "%s", sets[s]);
        hub_rows_dispose(&rows);
        cr_assert_float_eq(d.parts[0].episodes[0].episode_return, 0.125, 1e-12);
        inspected_close(&d);
    }
}

/* Arrays smaller than a block of the tar are moved together, so that a slice need not read all that is between them. */
Test(webdataset, small_rows_lie_together)
{
    struct inspected d;
    struct hub_layout small;
    cr_assert_eq(open_set(&d, "ilr-protocol4", NULL), HUB_OK);
    const struct hub_found_field *f = inspected_field(&d.parts[0], "infos/internal_state");
    cr_assert_not_null(f);
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &small, NULL), HUB_OK);
    cr_expect_eq(small.pieces[0].file, HUB_SIDE_FILE);
    cr_expect_lt(small.extents[1].offset - small.extents[0].offset, 512);
    inspected_close(&d);
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
    struct inspected d;
    struct hub_rows rows;
    int64_t frames[3];
    cr_assert_eq(open_set(&d, "ilr-across", NULL), HUB_OK);
    cr_assert_eq(d.parts[0].episode_count, 3);
    expect_episode(&d, 0, "random-8/0", 1, 4);
    expect_episode(&d, 1, "random-9/0", 2, 3);
    expect_episode(&d, 2, "random-10/0", 0, 2);
    cr_expect_str_eq(d.parts[0].episodes[2].attributes, "{\"boundary\":\"open\"}");
    read_rows(&d, "frame", 1, &rows);
    cr_assert_eq(rows.rows, 3);
    memcpy(frames, rows.data, sizeof frames);
    cr_expect(frames[0] == 4 && frames[2] == 6);
    hub_rows_dispose(&rows);
    read_rows(&d, "obs", 1, &rows);
    cr_expect(rows.rows == 3 && rows.data[0] == 4 && rows.data[8] == 6);
    hub_rows_dispose(&rows);
    inspected_close(&d);
}

/* Shards that were cut: the frames of the next one are no part of what was lost. */
Test(webdataset, a_gap_between_shards)
{
    struct inspected d;
    open_made(&d, "head -c 20000 ilr-across/random-8.tar > ${out%.tar}-8.tar && "
                  "cp ilr-across/random-9.tar ${out%.tar}-9.tar");
    cr_assert_not_null(inspected_problem(&d, "damaged-shard", "made-8.tar"));
    cr_assert_eq(d.parts[0].episode_count, 3);
    cr_expect_str_eq(d.parts[0].episodes[0].attributes, "{\"boundary\":\"unknown\"}");
    cr_expect_eq(d.parts[0].episodes[1].steps, 1); /* frame 3, which is done */
    cr_expect_eq(d.parts[0].episodes[2].steps, 2);
    inspected_close(&d);
}

Test(webdataset, rows_of_texts)
{
    struct inspected d;
    struct hub_rows rows;
    cr_assert_eq(open_set(&d, "plain", NULL), HUB_OK);
    read_rows(&d, "txt", 0, &rows);
    cr_assert_eq(rows.rows, 4);
    const struct hub_view third = {(const char *)rows.data + rows.offsets[2],
                                   rows.offsets[3] - rows.offsets[2]};
    cr_assert(hub_view_is(third, "step 2 扉"));
    hub_rows_dispose(&rows);
    inspected_close(&d);
}

/* What a pickle asks to be run is not. */
Test(webdataset, nothing_is_executed)
{
    struct inspected d;
    remove("/tmp/minari-hub-was-fooled");
    cr_assert_eq(open_set(&d, "ilr-evil", NULL), HUB_OK);
    cr_assert_null(fopen("/tmp/minari-hub-was-fooled", "r"));
    inspected_close(&d);
}

Test(webdataset, frames_without_an_end)
{
    struct inspected d;
    open_made(&d, "gzip -dc ilr-no-dones/demos.tgz > $out");
    cr_assert_eq(d.parts[0].episode_count, 1);
    cr_assert_eq(d.parts[0].episodes[0].steps, 4);
    cr_assert_str_eq(d.parts[0].episodes[0].attributes, "{\"boundary\":\"unknown\"}");
    cr_assert_not_null(inspected_problem(&d, "boundary-unknown", NULL));
    inspected_close(&d);
}

/* Cut in the last frame: the two before it stand, with all their fields. */
Test(webdataset, a_shard_that_is_cut_short)
{
    struct inspected d;
    open_made(&d, "head -c 20000 ilr-protocol4/demos.tar > $out");
    cr_assert_not_null(inspected_problem(&d, "damaged-shard", NULL));
    cr_assert_eq(d.parts[0].episode_count, 1);
    cr_assert_eq(d.parts[0].episodes[0].steps, 2);
    for (uint32_t i = 0; i < d.parts[0].field_count; i++)
        cr_assert_null(d.parts[0].fields[i].unreadable, "%s", d.parts[0].fields[i].path);
    inspected_close(&d);
}

/* Of a compressed shard only the beginning is looked at for a claim: here it is within the first member. */
Test(webdataset, a_compressed_shard_with_a_large_first_member)
{
    struct inspected d;
    open_made(&d, "cd $(dirname $out) && seq 300000 > 000.txt && printf 1 > 000.cls && "
                  "tar cf - 000.txt 000.cls | gzip > made.tar.gz && rm 000.*");
    cr_assert_str_eq(d.format, "webdataset");
    cr_assert_eq(d.part_status[0], HUB_OK, "%s", d.part_errors[0].detail);
    cr_expect_eq(d.parts[0].field_count, 2);
    cr_expect_eq(d.parts[0].episodes[0].steps, 1);
    inspected_close(&d);
}

/* A pickle that cannot be read costs its field one episode, not the shard. */
Test(webdataset, one_bad_pickle)
{
    struct inspected d;
    struct hub_layout layout;
    open_made(&d, "cp ilr-protocol4/demos.tar $out && printf '\\200\\377' | dd of=$out bs=1 seek=2048 "
                  "conv=notrunc 2>/dev/null");
    cr_assert_not_null(inspected_problem(&d, "bad-pickle", NULL));
    cr_assert_not_null(inspected_problem(&d, "uneven-field", "acts"));
    const struct hub_found_field *f = inspected_field(&d.parts[0], "acts");
    cr_assert_null(f->unreadable);
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    cr_assert_not_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 0)));
    cr_assert_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 1)));
    inspected_close(&d);
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

static size_t write_packed(const char *path, bool noise, int window)
{
    char *tar = make_tar(noise);
    const size_t room = ZSTD_compressBound(UNPACKED);
    char *packed = malloc(room);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window);
    const size_t size = ZSTD_compress2(zstd, packed, room, tar, UNPACKED);
    FILE *f = fopen(path, "wb");
    cr_assert(f && !ZSTD_isError(size) && fwrite(packed, 1, size, f) == size);
    fclose(f);
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
    char folder[] = "/tmp/hub-ceiling-XXXXXX", path[64];
    struct inspected d;
    struct hub_error err = {0};
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/demos.tar.zst", folder);
    const size_t size = write_packed(path, c->noise, c->window);
    cr_assert(!c->noise || (UNPACKED / size > 400 && UNPACKED / size < 600), "%zu bytes", size);
    cr_assert_eq(inspected_open(&d, HUB_INSPECT, folder, &err), HUB_OK, "%s", err.detail);
    cr_assert_str_eq(d.format, "webdataset");
    cr_expect_eq(d.part_status[0], c->st, "%s", d.part_errors[0].detail);
    cr_expect(strstr(d.part_errors[0].detail, c->words), "%s", d.part_errors[0].detail);
    inspected_close(&d);
    unlink(path);
    rmdir(folder);
}

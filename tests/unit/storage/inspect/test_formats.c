/* The table of formats: what minari-inspect announces, how names match, what is refused. */
#include "storage/inspect/formats.h"

#include "storage/inspect/inspect.h"
#include "storage/inspect/protocol.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

static struct hub_inspector *start(const char *program)
{
    struct hub_inspector_options options = HUB_INSPECTOR_OPTIONS_INIT;
    struct hub_inspector *inspector = NULL;
    options.program = program;
    cr_assert_eq(hub_inspector_new(&options, &inspector, NULL), HUB_OK);
    return inspector;
}

Test(formats, the_inspector_announces_what_it_knows, .timeout = 60)
{
    const struct hub_format_table *table = NULL, *again = NULL;
    struct hub_error err = {0};
    struct hub_inspector *inspector = start(HUB_INSPECT);
    cr_assert_eq(hub_inspector_formats(inspector, &table, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_inspector_formats(inspector, &again, &err), HUB_OK);
    cr_expect_eq(table, again);
    const struct hub_format_row *minari = hub_format_table_find(table, "minari-hdf5");
    const struct hub_format_row *lerobot = hub_format_table_find(table, "lerobot");
    cr_assert(minari && lerobot && hub_format_table_find(table, "webdataset"));
    cr_expect_null(hub_format_table_find(table, "files"), "what nobody claims is no format of its own");
    cr_expect_str_eq(minari->asides[0], "namespace_metadata.json");
    cr_expect_null(lerobot->asides[0]);
    cr_expect(hub_format_table_wants(table, minari, "data/main_data.hdf5", false));
    cr_expect_not(hub_format_table_wants(table, lerobot, "data/main_data.hdf5", false));
    cr_expect(hub_format_table_wants(table, NULL, "x.tar", false));
    cr_expect(hub_format_table_looks_into(table, "data"));
    cr_expect(hub_format_table_looks_into(table, "meta"));
    cr_expect_not(hub_format_table_looks_into(table, "videos"));
    hub_inspector_free(inspector);
}

Test(formats, a_program_that_announces_nothing_is_named, .timeout = 60)
{
    const struct hub_format_table *table = NULL;
    struct hub_error err = {0};
    struct hub_inspector *inspector = start("/bin/false");
    cr_assert_eq(hub_inspector_formats(inspector, &table, &err), HUB_IO);
    cr_expect(strstr(err.detail, "/bin/false ended while it started"), "%s", err.detail);
    hub_inspector_free(inspector);
}

struct name_case {
    char pattern[24], path[32];
    bool directory, wanted;
};

static struct hub_buf row(const char *name, const char *pattern)
{
    struct hub_frame_writer w;
    struct hub_buf out = HUB_BUF_INIT(HUB_MAX_TABLE);
    hub_frame_writer_init(&w, HUB_MAX_TABLE);
    hub_frame_begin(&w, HUB_FRAME_FORMAT);
    hub_frame_text(&w, hub_view_of(name));
    hub_frame_u32(&w, 1);
    hub_frame_text(&w, hub_view_of(pattern));
    hub_frame_u32(&w, 1);
    hub_frame_text(&w, HUB_VIEW("about.json"));
    cr_assert_eq(hub_frame_end(&w, NULL), HUB_OK);
    cr_assert_eq(hub_buf_add_view(&out, hub_buf_view(&w.out), NULL), HUB_OK);
    hub_frame_writer_dispose(&w);
    return out;
}

ParameterizedTestParameters(formats, names)
{
    static struct name_case cases[] = {
        {"*.tar", "x.tar", false, true},
        {"*.tar", "x.tar", true, false},
        {"*.tar", ".tar", false, true},
        {"*.tar", "x.tar.gz", false, false},
        {"*.tar", "data/x.tar", false, false},
        {"a*b*c", "a-b-b-c", false, true},
        {"a*b*c", "a-c-b", false, false},
        {"info.json", "info.json", false, true},
        {"info.json", "info.jso", false, false},
        {"meta_data/", "meta_data", true, true},
        {"meta_data/", "meta_data", false, false},
        {"meta_data/", "meta_data/x", false, false},
        {"data/*.hdf5", "data/x.hdf5", false, true},
        {"data/*.hdf5", "data/x.hdf5", true, false},
        {"data/*.hdf5", "date/x.hdf5", false, false},
        {"data/*.hdf5", "data", true, false},
        {"*/info.json", "any/info.json", false, true},
        {"train/house_*/", "train/house_1", true, true}, /* a directory in one */
        {"train/house_*/", "train/house_1", false, false},
        {"train/house_*/", "train", true, false},
        {"train/house_*/", "house_1", true, false},
    };
    return cr_make_param_array(struct name_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct name_case *c, formats, names)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = row("some", c->pattern);
    struct hub_format_table *table = NULL;
    cr_assert_eq(hub_format_table_read(bytes.data, bytes.size, &table, NULL), HUB_OK);
    cr_assert_eq(hub_format_table_wants(table, NULL, c->path, c->directory), c->wanted, "%s: %s", c->pattern,
                 c->path);
    cr_expect(hub_format_table_is_aside(table, "about.json"));
    cr_expect_not(hub_format_table_is_aside(table, c->path));
    hub_format_table_free(table);
}

Test(formats, malformed_tables_are_refused)
{
    static const char *const bad[] = {"", "/x", "a/b/c", "/", "a/b/c/", "a//"};
    struct hub_format_table *table = NULL;
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = row("some", bad[i]);
        cr_expect_eq(hub_format_table_read(bytes.data, bytes.size, &table, NULL), HUB_CORRUPT, "%s", bad[i]);
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = row("bad name", "x"), good = row("some", "x");
    cr_expect_eq(hub_format_table_read(bytes.data, bytes.size, &table, NULL), HUB_CORRUPT);
    for (size_t size = 0; size < good.size; size++)
        cr_expect_eq(hub_format_table_read(good.data, size, &table, NULL), HUB_CORRUPT, "%zu", size);
}

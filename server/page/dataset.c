/* A dataset: what it is, whether it is whole, how its episodes are spread, how to use it. */
#include "server/page/cameras.h"
#include "server/page/episodes.h"
#include "server/page/handlers.h"
#include "server/page/mirrors.h"
#include "server/page/problems.h"
#include "server/page/recipes.h"
#include "server/page/spaces.h"
#include "server/page/svg.h"
#include "storage/model/format_row.h"
#include "storage/text/number.h"

#include <stdio.h>

enum { MOST_VERSIONS = 8, FEW_NAMES = 6, FOLLOW_S = 5 };

/* Links to the versions, the newest first and marked. */
static void write_version_links(struct page *page, const json_t *dataset)
{
    const json_t *versions = json_object_get(dataset, "versions");
    const struct page_chips chips = {HUB_VIEW("Versions")};
    const size_t count = json_array_size(versions);
    if (count < 2)
        return;
    page_chips_begin(&page->out, &chips);
    for (size_t i = count; i-- > 0 && count - i <= MOST_VERSIONS;) {
        const json_t *version = json_array_get(versions, i);
        const struct hub_view id = page_text(version, "id"), href = page_url(page, "/d/%p", id);
        const struct hub_view name =
            page_url(page, i + 1 == count ? "v%u (newest)" : "v%u", page_count(version, "version"));
        if (hub_view_equal(id, page_text(dataset, "id")))
            page_version_here(&page->out, &(struct page_version_here){href, name});
        else
            page_version_link(&page->out, &(struct page_version_link){href, name});
    }
    if (count > MOST_VERSIONS)
        page_version_link(&page->out, &(struct page_version_link){HUB_VIEW("#versions"),
                                                                  page_url(page, "all %u", (uint64_t)count)});
    page_chips_end(&page->out, &chips);
}

/* "Minari 0.5.3 (HDF5)", "LeRobot v3.0": as its library calls it. */
static struct hub_view format_words(struct page *page, const json_t *dataset)
{
    const struct hub_view name = page_text(dataset, "format");
    const struct hub_format_traits *traits = hub_format_traits_of(name.data ? name.data : "");
    const struct hub_view library = hub_view_of(traits->library ? traits->library : ""),
                          version = page_text(json_object_get(dataset, "metadata"), "minari_version");
    if (traits->era_is_version && library.size)
        return page_url(page, "%r %r", library, page_text(dataset, "era"));
    if (!traits->data_format)
        return name;
    return page_url(page, version.size ? "%r %r (%r)" : "%r%r (%r)", library, version,
                    strcmp(traits->data_format, "hdf5") == 0 ? HUB_VIEW("HDF5")
                                                             : hub_view_of(traits->data_format));
}

/* The beginning of a long description, all of it folded. */
static void write_about(struct page *page, struct hub_view about)
{
    enum { LONG = 400, SHOWN = 280 };
    const struct page_details more = {HUB_VIEW("More")};
    size_t size = SHOWN;
    if (about.size <= LONG) {
        if (about.size)
            page_paragraph(&page->out, &(struct page_paragraph){HUB_VIEW("lead"), about});
        return;
    }
    while (size > 0 && ((unsigned char)about.data[size] & 0xC0) == 0x80)
        size--; /* to the begin of a character */
    page_paragraph(&page->out,
                   &(struct page_paragraph){HUB_VIEW("lead"), page_url(page, "%r\xE2\x80\xA6",
                                                                       (struct hub_view){about.data, size})});
    page_details_begin(&page->out, &more);
    page_paragraph(&page->out, &(struct page_paragraph){HUB_VIEW("lead"), about});
    page_details_end(&page->out, &more);
}

static void write_head(struct page *page, const json_t *dataset)
{
    struct page_out *out = &page->out;
    const struct hub_view revision = page_text(dataset, "revision"),
                          env = page_text(json_object_get(dataset, "facts"), "env");
    const struct hub_view robot = page_text(dataset, "robot_type"), about = page_text(dataset, "description");
    page_crumbs(page, page_id_of(page, dataset), "");
    const struct page_dataset_head head = {page_id_of(page, dataset), page_status_class(dataset),
                                           page_status_words(page, dataset)};
    page_dataset_head_begin(out, &head);
    if (revision.size)
        page_dataset_revision(out,
                              &(struct page_dataset_revision){{revision.data, HUB_MIN(revision.size, 12)}});
    if (page_text(dataset, "commit").size && !page->revision.size)
        page_link(out, &(struct page_link){page_url(page, "/d/%p/~revisions", page_id(page)),
                                           HUB_VIEW("All revisions")});
    page_dataset_head_end(out, &head);
    write_version_links(page, dataset);
    write_about(page, about);
    page_revision_bar(page, dataset);
    page_facts_begin(out, NULL);
    page_fact_count(out, &(struct page_fact_count){page_count(dataset, "episodes"), HUB_VIEW("episodes")});
    page_fact_count(out, &(struct page_fact_count){page_count(dataset, "steps"), HUB_VIEW("steps")});
    page_fact_bytes(out, &(struct page_fact_bytes){page_count(dataset, "size"), HUB_VIEW("size")});
    page_fact_text(out, &(struct page_fact_text){format_words(page, dataset), HUB_VIEW("format")});
    if (env.size)
        page_fact_text(out, &(struct page_fact_text){env, HUB_VIEW("environment")});
    if (robot.size)
        page_fact_text(out, &(struct page_fact_text){robot, HUB_VIEW("robot")});
    if (page_double(dataset, "fps") > 0)
        page_fact_real(out, &(struct page_fact_real){page_double(dataset, "fps"), HUB_VIEW("Hz")});
    page_facts_end(out, NULL);
}

static void write_distributions(struct page *page, const json_t *statistics)
{
    struct page_out *out = &page->out;
    const json_t *fields = json_object_get(statistics, "fields"),
                 *coverage = json_object_get(statistics, "coverage");
    const json_t *returns = json_object_get(fields, "return"), *steps = json_object_get(fields, "steps");
    page_hidden_head(out, &(struct page_hidden_head){HUB_VIEW("Distributions")});
    page_dataset_cards_begin(out, NULL);
    page_episodes_figure(page, returns, "Return", "return");
    page_episodes_figure(page, steps, "Steps", "steps");
    page_outcome_figure(page, json_object_get(statistics, "outcome"));
    page_values_figure(page, json_object_get(statistics, "tasks"), "Tasks", "task",
                       page_count(statistics, "episodes"));
    page_values_figure(page, json_object_get(statistics, "splits"), "Splits", "split",
                       page_count(statistics, "episodes"));
    page_dataset_cards_end(out, NULL);
    const struct hub_view unreadable = page_unreadable_words(page, coverage);
    if (coverage && !page_flag(coverage, "complete"))
        page_paragraph(
            out, &(struct page_paragraph){
                     HUB_VIEW("muted"), page_url(page, "From %n of %n episodes%r.",
                                                 page_count(coverage, "episodes"), page_count(coverage, "of"),
                                                 unreadable.size ? unreadable : HUB_VIEW(" so far"))});
    page_dataset_more_begin(out, NULL);
    page_link(out, &(struct page_link){page_url(page, "@/d/%p/~statistics", page_id(page)),
                                       HUB_VIEW("Statistics of all fields")});
    page_link(out, &(struct page_link){page_url(page, "@/d/%p/~findings", page_id(page)),
                                       HUB_VIEW("Odd episodes")});
    page_dataset_more_end(out, NULL);
}

static void write_episodes(struct page *page, const json_t *dataset, const json_t *list)
{
    struct page_out *out = &page->out;
    const struct page_section section = {HUB_VIEW("episodes"), HUB_VIEW("Episodes")};
    const struct page_dataset_goto go_to = {page_url(page, "/d/%p/episodes", page_id(page)), HUB_VIEW("")};
    page_section_begin(out, &section);
    page_dataset_goto_begin(out, &go_to);
    page_hidden_revision(page);
    page_dataset_goto_end(out, &go_to);
    page_episodes_table(page, dataset, list, HUB_VIEW(""), NULL);
    page_dataset_more_begin(out, NULL);
    page_link(out, &(struct page_link){page_url(page, "@/d/%p/episodes", page_id(page)),
                                       page_count(list, "total") == 1
                                           ? HUB_VIEW("Filter and sort")
                                           : page_url(page, "All %n episodes, to filter and sort",
                                                      page_count(list, "total"))});
    page_dataset_more_end(out, NULL);
    page_section_end(out, &section);
}

/* Of its dimensions: a few as they are, more of them folded. */
static void write_names(struct page *page, const json_t *names)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(16 * KIB);
    const struct page_details details = {page_url(page, "%u names", (uint64_t)json_array_size(names))};
    size_t i;
    const json_t *name;
    json_array_foreach(names, i, name)
    {
        const char *said = json_string_value(name);
        if (hub_buf_addf(&text, NULL, "%s%s", i ? ", " : "", said ? said : "-"))
            break;
    }
    if (!text.size)
        return;
    if (json_array_size(names) > FEW_NAMES)
        page_details_begin(&page->out, &details);
    page_field_names(&page->out, &(struct page_field_names){hub_buf_view(&text)});
    if (json_array_size(names) > FEW_NAMES)
        page_details_end(&page->out, &details);
}

static void write_fields(struct page *page, const json_t *dataset)
{
    struct page_out *out = &page->out;
    const json_t *fields = json_object_get(dataset, "fields"), *field;
    static const char *const heads[] = {"Field", "Type", "Shape", "Rows", "Role", "Episodes"};
    const struct page_section section = {HUB_VIEW("fields"), HUB_VIEW("Fields")};
    const struct page_table table = {
        HUB_VIEW("cardlike"), HUB_VIEW("step: one row per step; state: one more, after the last step")};
    if (!json_array_size(fields))
        return;
    page_section_begin(out, &section);
    page_table_begin(out, &table);
    page_thead_begin(out, NULL);
    for (size_t i = 0; i < HUB_COUNT(heads); i++)
        page_th(out,
                &(struct page_th){i == 2 || i == 5 ? HUB_VIEW("n") : HUB_VIEW(""), hub_view_of(heads[i])});
    page_thead_end(out, NULL);
    page_tbody_begin(out, NULL);
    size_t i;
    json_array_foreach(fields, i, field)
    {
        char shape[80] = "";
        const json_t *dims = json_object_get(field, "shape");
        for (size_t d = 0, used = 0; d < json_array_size(dims) && used + 24 < sizeof shape; d++)
            used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%lld", d ? " \xC3\x97 " : "",
                                     (long long)json_integer_value(json_array_get(dims, d)));
        const struct hub_view type = page_text(field, "type"), dtype = page_text(field, "dtype");
        const struct page_field_row row = {
            page_text(field, "path"), hub_view_is(type, "number") ? dtype : type,
            hub_view_of(shape),       page_text(field, "axis"),
            page_text(field, "role"), page_count(field, "episodes")};
        page_field_row_begin(out, &row);
        write_names(page, json_object_get(field, "names"));
        page_field_row_end(out, &row);
    }
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
    page_section_end(out, &section);
}

static void write_spaces(struct page *page, const json_t *dataset)
{
    const json_t *observation = json_object_get(dataset, "observation_space"),
                 *action = json_object_get(dataset, "action_space");
    const struct page_section section = {HUB_VIEW("spaces"), HUB_VIEW("Spaces")};
    if (!json_is_object(observation) && !json_is_object(action))
        return;
    page_section_begin(&page->out, &section);
    page_space_tree(page, "observation", observation);
    page_space_tree(page, "action", action);
    page_section_end(&page->out, &section);
}

static void write_versions(struct page *page, const json_t *dataset)
{
    struct page_out *out = &page->out;
    const json_t *versions = json_object_get(dataset, "versions"), *version;
    const struct page_section section = {HUB_VIEW("versions"), HUB_VIEW("Versions")};
    const struct page_table table = {HUB_VIEW("cardlike"), HUB_VIEW("Datasets of the same name")};
    if (json_array_size(versions) < 2)
        return;
    page_section_begin(out, &section);
    page_table_begin(out, &table);
    page_tbody_begin(out, NULL);
    size_t i;
    json_array_foreach(versions, i, version)
    {
        const struct hub_view id = page_text(version, "id");
        page_version_row(
            out, &(struct page_version_row){page_url(page, "/d/%p", id), id, page_count(version, "episodes"),
                                            page_status_class(version), page_status_words(page, version)});
    }
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
    page_section_end(out, &section);
}

/* A number with its own digits, which the JSON of jansson does not keep to. */
static struct hub_view real_of(struct page *page, const json_t *value)
{
    char digits[HUB_NUMBER_CHARS];
    const size_t size = hub_number_double(json_real_value(value), digits);
    return page_url(page, "%r", (struct hub_view){digits, size});
}

/* A member of the metadata: an address as a link, all else as its JSON. */
static void write_member(struct page *page, const char *name, const json_t *value)
{
    const struct hub_view text = {json_string_value(value), json_string_length(value)};
    if (hub_view_starts(text, "https://") || hub_view_starts(text, "http://")) {
        page_dl_link(&page->out, &(struct page_dl_link){hub_view_of(name), text});
        return;
    }
    char *json = text.data || json_is_real(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const struct hub_view said = json_is_real(value) ? real_of(page, value)
                                 : text.data         ? text
                                                     : hub_view_of(json ? json : "");
    page_dl_text(&page->out, &(struct page_dl_text){hub_view_of(name), said});
    free(json);
}

static void write_file_links(struct page *page, uint64_t files)
{
    struct page_out *out = &page->out;
    page_dataset_more_begin(out, NULL);
    page_link(out, &(struct page_link){page_url(page, "@/d/%p/files", page_id(page)),
                                       page_url(page, files == 1 ? "%n file" : "%n files", files)});
    page_link(out, &(struct page_link){page_url(page, "@/api/v1/datasets/%p/archive.tar", page_id(page)),
                                       HUB_VIEW("Download all as one tar")});
    page_dataset_more_end(out, NULL);
}

static void write_metadata(struct page *page, const json_t *dataset)
{
    struct page_out *out = &page->out;
    const struct page_section section = {HUB_VIEW("metadata"), HUB_VIEW("Metadata and files")};
    const struct page_details details = {HUB_VIEW("Metadata as stored")};
    const char *name;
    json_t *value;
    page_section_begin(out, &section);
    if (!hub_view_is(page_text(dataset, "status"), "remote"))
        write_file_links(page, page_count(dataset, "files"));
    if (json_object_size(json_object_get(dataset, "metadata"))) {
        page_details_begin(out, &details);
        page_dl_begin(out, NULL);
        json_object_foreach(json_object_get(dataset, "metadata"), name, value)
            write_member(page, name, value);
        page_dl_end(out, NULL);
        page_details_end(out, &details);
    }
    page_section_end(out, &section);
}

static enum hub_status write_use(struct page *page, const json_t *dataset, const json_t *episodes)
{
    struct page_out *out = &page->out;
    const struct page_section use = {HUB_VIEW("use"), HUB_VIEW("Download and use")};
    page_section_begin(out, &use);
    HUB_TRY(page_recipes(page, dataset, page_first_episode(episodes), NULL, true));
    page_dataset_more_begin(out, NULL);
    page_link(out, &(struct page_link){page_url(page, "@/d/%p/~use", page_id(page)),
                                       HUB_VIEW("More ways: Python, curl, Minari, rclone")});
    page_dataset_more_end(out, NULL);
    page_section_end(out, &use);
    return HUB_OK;
}

static enum hub_status show(struct page *page, const json_t *dataset, const json_t *statistics,
                            const json_t *episodes)
{
    const struct hub_view id = page_id_of(page, dataset);
    page_open(page, id, page_url(page, "/api/v1/datasets/%p", id));
    write_head(page, dataset);
    if (!page->revision.size)
        HUB_TRY(page_origin(page, dataset));
    page_problems(page, dataset);
    HUB_TRY(page_cameras(page, dataset, episodes));
    if (statistics)
        write_distributions(page, statistics);
    if (episodes)
        write_episodes(page, dataset, episodes);
    if (!page_is_pending(dataset) && !page->revision.size) /* clients get the current data */
        HUB_TRY(write_use(page, dataset, episodes));
    write_fields(page, dataset);
    write_spaces(page, dataset);
    write_versions(page, dataset);
    write_metadata(page, dataset);
    return page_close(page);
}

enum hub_status hub_page_dataset(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *dataset = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *statistics = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *episodes = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view id = page_id(&page);
    HUB_TRY(page_fetch(
        &page, page_url(&page, "/api/v1/datasets/%p%r", id, page_query(&page, "revision", NULL)), &dataset));
    page.refresh_s = page_is_pending(dataset) ? FOLLOW_S : 0;
    if (hub_view_is(page_text(dataset, "status"), "ready")) {
        HUB_TRY(
            page_fetch_if_any(&page, page_url(&page, "/api/v1/datasets/%p/~statistics", id), &statistics));
        HUB_TRY(page_fetch_if_any(
            &page, page_url(&page, "/api/v1/datasets/%p/episodes?limit=10&include=spark", id), &episodes));
    }
    return show(&page, dataset, statistics, episodes);
}

/* The status of a dataset and its problems: see problems.h. */
#include "server/page/problems.h"

#include "storage/model/format_row.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_PROBLEMS = 10 };

/* ---- the status ---- */

static uint64_t flaws_of(const json_t *dataset)
{
    return page_count(dataset, "costly_problems") + page_count(dataset, "damaged");
}

static bool is_ready(const json_t *dataset)
{
    return hub_view_is(page_text(dataset, "status"), "ready");
}

bool page_is_pending(const json_t *dataset)
{
    return hub_view_is(page_text(dataset, "status"), "pending");
}

struct hub_view page_status_words(struct page *page, const json_t *dataset)
{
    const uint64_t flaws = flaws_of(dataset);
    if (!is_ready(dataset) || !flaws)
        return page_text(dataset, "status");
    return page_url(page, flaws == 1 ? "ready, %u problem" : "ready, %u problems", flaws);
}

struct hub_view page_status_class(const json_t *dataset)
{
    return is_ready(dataset) && flaws_of(dataset) ? HUB_VIEW("flawed") : page_text(dataset, "status");
}

struct hub_view page_unreadable_words(struct page *page, const json_t *coverage)
{
    const uint64_t lost = page_count(json_object_get(coverage, "unreadable"), "episodes");
    return lost ? page_url(page, ", rows of %n cannot be read", lost) : HUB_VIEW("");
}

struct hub_view page_library_of(const json_t *dataset)
{
    const char *library = hub_format_library(page_text(dataset, "format").data);
    return library ? hub_view_of(library) : HUB_VIEW("its own library");
}

/* ---- what is lost, in one sentence ---- */

/* Damaged files have a clause of their own. */
static uint64_t count_costs(const json_t *problems, const char *costs)
{
    uint64_t count = 0;
    size_t i;
    const json_t *problem;
    json_array_foreach(problems, i, problem) count +=
        hub_view_is(page_text(problem, "costs"), costs) &&
        !hub_view_is(page_text(problem, "code"), "file-damaged");
    return count;
}

static uint64_t count_all_costs(const json_t *problems)
{
    uint64_t count = 0;
    size_t i;
    const json_t *problem;
    json_array_foreach(problems, i, problem) count += page_text(problem, "costs").size > 0;
    return count;
}

static void add_clause(struct hub_buf *out, struct hub_view clause)
{
    (void)!hub_buf_addf(out, NULL, "%s%.*s", out->size ? "; " : "", (int)clause.size, clause.data);
}

static void add_lost(struct page *page, const json_t *dataset, struct hub_buf *out)
{
    const json_t *problems = json_object_get(dataset, "problems");
    const uint64_t damaged = page_count(dataset, "damaged"), held = page_count(dataset, "episodes"),
                   claimed = page_count(dataset, "claimed_episodes"),
                   episodes = count_costs(problems, "episodes"), fields = count_costs(problems, "fields"),
                   cameras = count_costs(problems, "cameras");
    if (claimed > held)
        add_clause(out, page_url(page, "%n of %n episodes cannot be read", claimed - held, claimed));
    else if (episodes)
        add_clause(out, HUB_VIEW("episodes, or rows of them, are missing"));
    if (fields)
        add_clause(out, page_url(page,
                                 fields == 1 ? "%u field cannot be read everywhere"
                                             : "%u fields cannot be read everywhere",
                                 fields));
    if (cameras)
        add_clause(out, HUB_VIEW("videos are missing or cut short"));
    if (damaged)
        add_clause(
            out,
            page_url(page, damaged == 1 ? "%u damaged file is not served" : "%u damaged files are not served",
                     damaged));
    if (json_is_false(json_object_get(dataset, "loadable")))
        add_clause(out, page_url(page, "%r does not load it", page_library_of(dataset)));
}

static struct hub_view sum_of(struct page *page, const json_t *dataset)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    if (flaws_of(dataset))
        add_lost(page, dataset, &out);
    if (!out.size)
        return HUB_VIEW("");
    if (out.data[0] >= 'a' && out.data[0] <= 'z')
        out.data[0] = (char)(out.data[0] - 'a' + 'A');
    return page_url(page, "%r.", hub_buf_view(&out));
}

/* ---- the list ---- */

static void write_some(struct page *page, const json_t *problems, bool costly)
{
    uint64_t count = 0;
    size_t i;
    const json_t *problem;
    page_list_begin(&page->out, NULL);
    json_array_foreach(problems, i, problem)
    {
        const struct hub_view path = page_text(problem, "path");
        if ((page_text(problem, "costs").size > 0) == costly && ++count <= MOST_PROBLEMS)
            page_item(&page->out, &(struct page_item){page_url(page, path.size ? "%r: %r" : "%r%r", path,
                                                               page_text(problem, "detail"))});
    }
    if (count > MOST_PROBLEMS)
        page_item(&page->out, &(struct page_item){page_url(page, "and %n more", count - MOST_PROBLEMS)});
    page_list_end(&page->out, NULL);
}

/* How many of its parts are inspected, from the API, where a request for its episodes has it inspected
 * next. */
static struct hub_view parts_of(struct page *page, struct hub_view id)
{
    HUB_CLEANUP(hub_freep) char *extra = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    struct hub_error err = {0};
    unsigned long long parts, done;
    const struct hub_view target = page_url(page, "/api/v1/datasets/%p/episodes?limit=1", id);
    if (!target.size || !hub_page_fetch(page->request, target.data, &extra, &list, &err) || !extra ||
        sscanf(extra, "\"parts\":%llu,\"done\":%llu", &parts, &done) != 2)
        return HUB_VIEW("");
    return page_url(page, ", %u of %u parts are read", (uint64_t)done, (uint64_t)parts);
}

static struct hub_view change_of(struct page *page, const json_t *dataset)
{
    const struct hub_view modified = page_text(dataset, "modified");
    struct tm utc = {0};
    if (!modified.size || !strptime(modified.data, "%Y-%m-%dT%H:%M:%S", &utc))
        return HUB_VIEW("");
    const int64_t age_s = hub_time_now_s() - timegm(&utc);
    return age_s < 0 ? HUB_VIEW("") : page_url(page, ", last change %u s ago", (uint64_t)age_s);
}

/* What is written, or being read: how far it is. */
static void write_pending(struct page *page, const json_t *dataset)
{
    const struct hub_view reason = page_text(dataset, "reason"),
                          far = reason.size ? change_of(page, dataset)
                                            : parts_of(page, page_id_of(page, dataset));
    const struct page_note note = {HUB_VIEW(""), reason.size ? page_url(page, "Not ready yet: %r.", reason)
                                                             : HUB_VIEW("Not ready yet: it is being read.")};
    page_note_begin(&page->out, &note);
    page_follows(&page->out,
                 &(struct page_follows){page_count(dataset, "size"),
                                        page_url(page,
                                                 "%r. Its files can be downloaded now. Episodes appear when "
                                                 "it is read completely; this page updates itself.",
                                                 far)});
    page_note_end(&page->out, &note);
}

static void write_reason(struct page *page, const json_t *dataset)
{
    const struct hub_view reason = page_text(dataset, "reason");
    const struct page_note note = {HUB_VIEW("bad"), reason};
    if (page_is_pending(dataset)) {
        write_pending(page, dataset);
        return;
    }
    if (!reason.size)
        return;
    page_note_begin(&page->out, &note);
    page_paragraph(
        &page->out,
        &(struct page_paragraph){HUB_VIEW("muted"), HUB_VIEW("The files are listed and can be downloaded.")});
    page_note_end(&page->out, &note);
}

static void write_notes(struct page *page, const json_t *problems, uint64_t count)
{
    const struct page_details details = {
        page_url(page, count == 1 ? "%u note, which costs nothing" : "%u notes, which cost nothing", count)};
    page_details_begin(&page->out, &details);
    write_some(page, problems, false);
    page_details_end(&page->out, &details);
}

void page_problems(struct page *page, const json_t *dataset)
{
    const json_t *problems = json_object_get(dataset, "problems");
    const uint64_t all = json_array_size(problems), costly = count_all_costs(problems), others = all - costly;
    const struct hub_view sum = sum_of(page, dataset);
    const struct page_note note = {HUB_VIEW(""), sum.size ? sum
                                                 : costly ? HUB_VIEW("Problems of its files:")
                                                          : HUB_VIEW("Nothing is lost.")};
    write_reason(page, dataset);
    if (!all)
        return;
    page_note_begin(&page->out, &note);
    if (costly)
        write_some(page, problems, true);
    if (others)
        write_notes(page, problems, others);
    page_note_end(&page->out, &note);
}

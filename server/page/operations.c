/* What the hub is doing: its directories, what runs and waits, what is wrong. */
#include "server/page/frame.h"
#include "server/page/handlers.h"
#include "server/page/mirrors.h"
#include "server/page/weighed.h"

static void write_roots(struct page *page, const json_t *status)
{
    static const char *const heads[] = {"Directory", "Datasets", "Size", "Free", "Mode", NULL};
    const struct page_section section = {HUB_VIEW("disk"), HUB_VIEW("Disk")};
    const struct page_table table = {HUB_VIEW("cardlike"), HUB_VIEW("Served directories")};
    size_t i;
    const json_t *root;
    page_section_begin(&page->out, &section);
    page_heads_begin(page, &table, heads, " nnn ");
    json_array_foreach(json_object_get(status, "roots"), i, root)
    {
        const struct hub_view name = page_text(root, "name");
        page_root_row(&page->out,
                      &(struct page_root_row){
                          name.size ? name : page_url(page, "root %u (without a name)", (uint64_t)i),
                          page_count(root, "datasets"), page_count(root, "size"), page_count(root, "free"),
                          page_flag(root, "read_only") ? HUB_VIEW("read only") : HUB_VIEW("")});
    }
    page_heads_end(page, &table);
    page_section_end(&page->out, &section);
}

/* What pushed datasets may hold; nothing where no quota is set. */
static void write_quotas(struct page *page, const json_t *quotas)
{
    static const char *const heads[] = {"Prefix", "Used", "Limit", NULL};
    const struct page_section section = {HUB_VIEW("quotas"), HUB_VIEW("Quotas")};
    const struct page_table table = {HUB_VIEW("cardlike"), HUB_VIEW("Pushed datasets and open drafts")};
    size_t i;
    const json_t *quota;
    if (!json_array_size(quotas))
        return;
    page_section_begin(&page->out, &section);
    page_heads_begin(page, &table, heads, " nn");
    json_array_foreach(quotas, i, quota)
    {
        const struct hub_view prefix = page_text(quota, "prefix");
        page_quota_row(&page->out,
                       &(struct page_quota_row){prefix.size ? prefix : HUB_VIEW("all"),
                                                page_count(quota, "used"), page_count(quota, "limit")});
    }
    page_heads_end(page, &table);
    page_section_end(&page->out, &section);
}

/* "3 of 12 parts"; nothing where it has nothing to count. */
static struct hub_view done_of(struct page *page, const json_t *job)
{
    const uint64_t of = page_count(job, "of");
    return of ? page_url(page, "%n of %n %r", page_count(job, "done"), of, page_text(job, "unit"))
              : HUB_VIEW("");
}

static void write_jobs(struct page *page, const json_t *jobs)
{
    static const char *const heads[] = {"Job", "Target", "State", "Done", "Error", NULL};
    const struct page_section section = {HUB_VIEW("jobs"), HUB_VIEW("Jobs")};
    const struct page_table table = {
        HUB_VIEW("cardlike"),
        page_url(page, page_count(jobs, "total") == 1 ? "%n job" : "%n jobs", page_count(jobs, "total"))};
    size_t i;
    const json_t *job;
    page_section_begin(&page->out, &section);
    if (json_array_size(json_object_get(jobs, "items"))) {
        page_heads_begin(page, &table, heads, "   n ");
        json_array_foreach(json_object_get(jobs, "items"), i, job)
            page_job_row(&page->out, &(struct page_job_row){page_text(job, "kind"), page_text(job, "target"),
                                                            page_text(job, "state"), done_of(page, job),
                                                            page_text(job, "error")});
        page_heads_end(page, &table);
    } else {
        page_paragraph(&page->out, &(struct page_paragraph){
                                       HUB_VIEW("muted"), HUB_VIEW("There are no running or waiting jobs.")});
    }
    page_section_end(&page->out, &section);
}

/* Those that whoever asks may see. */
static void write_drafts(struct page *page, const json_t *drafts)
{
    static const char *const heads[] = {"Dataset", "Who", "Changed", "Files", "Size", "State", NULL};
    const struct page_section section = {HUB_VIEW("drafts"), HUB_VIEW("Drafts")};
    const struct page_table table = {HUB_VIEW("cardlike"), HUB_VIEW("Datasets that are being pushed")};
    const json_t *items = json_object_get(drafts, "items"), *draft;
    size_t i;
    if (!json_array_size(items))
        return;
    page_section_begin(&page->out, &section);
    page_heads_begin(page, &table, heads, "   nn ");
    json_array_foreach(items, i, draft) page_open_draft_row(
        &page->out, &(struct page_open_draft_row){
                        page_url(page, "/~drafts/%s", page_text(draft, "draft")), page_text(draft, "id"),
                        page_text(draft, "who"), page_text(draft, "changed"), page_count(draft, "complete"),
                        page_count(draft, "files"), page_count(draft, "bytes"),
                        json_object_get(draft, "refused") ? HUB_VIEW("refused") : page_text(draft, "state")});
    page_heads_end(page, &table);
    page_section_end(&page->out, &section);
}

static void write_status(struct page *page, const json_t *status)
{
    struct page_out *out = &page->out;
    const json_t *counts = json_object_get(status, "datasets"), *access = json_object_get(status, "access");
    static const char *const states[] = {"ready", "pending", "broken", "unsupported", "remote"};
    page_title(out, &(struct page_title){HUB_VIEW("Operations")});
    page_facts_begin(out, NULL);
    for (size_t i = 0; i < HUB_COUNT(states); i++)
        if (page_count(counts, states[i]))
            page_fact_count(out,
                            &(struct page_fact_count){page_count(counts, states[i]), hub_view_of(states[i])});
    page_fact_bytes(out, &(struct page_fact_bytes){page_count(json_object_get(status, "memory"), "resident"),
                                                   HUB_VIEW("memory in use")});
    page_fact_text(out, &(struct page_fact_text){page_text(status, "version"), HUB_VIEW("version")});
    page_facts_end(out, NULL);
    if (page_text(access, "text").size)
        page_paragraph(out, &(struct page_paragraph){HUB_VIEW("muted"), page_text(access, "text")});
}

enum hub_status hub_page_operations(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *status = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *jobs = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *mirrors = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *drafts = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *problems = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view query = page_query(&page, "limit", "limit", HUB_VIEW("1000"), NULL);
    HUB_TRY(page_fetch(&page, HUB_VIEW("/api/v1/status"), &status));
    HUB_TRY(page_fetch(&page, HUB_VIEW("/api/v1/jobs"), &jobs));
    HUB_TRY(page_fetch(&page, page_url(&page, "/api/v1/problems%r", query), &problems));
    HUB_TRY(page_fetch_if_any(&page, HUB_VIEW("/api/v1/mirrors"), &mirrors));
    if (hub_request_may_write_some(request))
        HUB_TRY(page_fetch_if_any(&page, HUB_VIEW("/api/v1/drafts"), &drafts));
    page_open(&page, HUB_VIEW("Operations"), HUB_VIEW("/api/v1/status"));
    write_status(&page, status);
    write_jobs(&page, jobs);
    page_mirrors(&page, mirrors);
    write_drafts(&page, drafts);
    write_roots(&page, status);
    write_quotas(&page, json_object_get(status, "quotas"));
    HUB_TRY(page_weighed_problems(&page, problems));
    HUB_TRY(page_close(&page));
    return drafts ? hub_response_private(response, err) : HUB_OK;
}

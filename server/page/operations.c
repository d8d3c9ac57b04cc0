/* What the hub is doing: its directories, what runs and waits, what is wrong. */
#include "server/page/frame.h"
#include "server/page/handlers.h"

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

static void write_jobs(struct page *page, const json_t *jobs)
{
    static const char *const heads[] = {"Job", "Target", "State", "Done", "Error", NULL};
    const struct page_section section = {HUB_VIEW("jobs"), HUB_VIEW("Jobs")};
    const struct page_table table = {HUB_VIEW("cardlike"),
                                     page_url(page, "%u jobs", page_count(jobs, "total"))};
    size_t i;
    const json_t *job;
    page_section_begin(&page->out, &section);
    if (json_array_size(json_object_get(jobs, "items"))) {
        page_heads_begin(page, &table, heads, "   n ");
        json_array_foreach(json_object_get(jobs, "items"), i, job)
            page_job_row(&page->out, &(struct page_job_row){page_text(job, "kind"), page_text(job, "target"),
                                                            page_text(job, "state"), page_count(job, "done"),
                                                            page_count(job, "of"), page_text(job, "unit"),
                                                            page_text(job, "error")});
        page_heads_end(page, &table);
    } else {
        page_paragraph(&page->out, &(struct page_paragraph){
                                       HUB_VIEW("muted"), HUB_VIEW("There are no running or waiting jobs.")});
    }
    page_section_end(&page->out, &section);
}

static void write_problems(struct page *page, const json_t *problems)
{
    static const char *const heads[] = {"Dataset", "Problem", "Details", NULL};
    const struct page_section section = {HUB_VIEW("problems"), HUB_VIEW("Problems")};
    const struct page_table table = {HUB_VIEW("cardlike"),
                                     page_url(page, "%u problems", page_count(problems, "total"))};
    size_t i;
    const json_t *problem;
    page_section_begin(&page->out, &section);
    page_heads_begin(page, &table, heads, "   ");
    json_array_foreach(json_object_get(problems, "items"), i, problem)
    {
        const struct hub_view id = page_text(problem, "dataset");
        page_problem_row(&page->out, &(struct page_problem_row){
                                         id.size ? page_url(page, "/d/%p", id) : HUB_VIEW("/~operations"), id,
                                         page_text(problem, "code"), page_text(problem, "path"),
                                         page_text(problem, "detail")});
    }
    page_heads_end(page, &table);
    page_pages(page, problems);
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
    HUB_CLEANUP(hub_json_decrefp) json_t *problems = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    HUB_TRY(page_fetch(&page, HUB_VIEW("/api/v1/status"), &status));
    HUB_TRY(page_fetch(&page, HUB_VIEW("/api/v1/jobs"), &jobs));
    HUB_TRY(page_fetch(
        &page,
        page_url(&page, "/api/v1/problems%r", page_query(&page, "limit", "limit", HUB_VIEW("50"), NULL)),
        &problems));
    page_open(&page, HUB_VIEW("Operations"), HUB_VIEW("/api/v1/status"));
    write_status(&page, status);
    write_jobs(&page, jobs);
    write_problems(&page, problems);
    write_roots(&page, status);
    write_quotas(&page, json_object_get(status, "quotas"));
    return page_close(&page);
}

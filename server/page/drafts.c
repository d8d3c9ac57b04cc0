/* Datasets that are being pushed: how far each is, and why one was refused. */
#include "server/page/frame.h"
#include "server/page/handlers.h"

enum { REFRESH_S = 3, SHOWN_FILES = 200 };

/* For those who may write something; the API shows each of them what is theirs. */
static enum hub_status allow(const struct hub_request *request, struct hub_error *err)
{
    if (hub_request_may_write_some(request))
        return HUB_OK;
    return hub_principal_signed_in(&request->principal)
               ? hub_fail_as(
                     err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                     "drafts are for those who may write a dataset: `minari-hub access set token:NAME "
                     "write PREFIX` allows it")
               : hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_SIGN_IN, "drafts want a token of this hub");
}

static bool is_under_way(const json_t *draft)
{
    return hub_view_is(page_text(draft, "state"), "open") ||
           hub_view_is(page_text(draft, "state"), "committing") ||
           hub_view_is(page_text(draft, "state"), "publishing");
}

static struct page_table table_of(const char *caption)
{
    return (struct page_table){HUB_VIEW("cardlike"), hub_view_of(caption)};
}

static void write_paragraph(struct page *page, struct hub_view text)
{
    page_paragraph(&page->out, &(struct page_paragraph){HUB_VIEW("muted"), text});
}

/* What one may see is for nobody else, also where no rule hides a dataset. */
static enum hub_status close_private(struct page *page)
{
    HUB_TRY(page_close(page));
    return hub_response_private(page->response, page->err);
}

/* ---- all ---- */

static void write_draft(struct page *page, const json_t *draft)
{
    const json_t *refused = json_object_get(draft, "refused");
    const struct hub_view name = page_text(draft, "draft");
    page_draft_row(&page->out,
                   &(struct page_draft_row){page_url(page, "/~drafts/%s", name), page_text(draft, "id"), name,
                                            page_text(draft, "who"), page_text(draft, "changed"),
                                            page_count(draft, "complete"), page_count(draft, "files"),
                                            page_count(draft, "bytes"),
                                            refused ? HUB_VIEW("refused") : page_text(draft, "state"),
                                            page_text(refused, "reason")});
}

static void write_drafts(struct page *page, const json_t *items)
{
    static const char *const heads[] = {"Dataset", "Who", "Changed", "Files", "Size", "State", NULL};
    size_t i;
    const json_t *draft;
    if (!json_array_size(items)) {
        write_paragraph(page, HUB_VIEW("There are no drafts."));
        return;
    }
    const struct page_table table = table_of("Drafts");
    page_heads_begin(page, &table, heads, "   nn ");
    json_array_foreach(items, i, draft) write_draft(page, draft);
    page_heads_end(page, &table);
}

enum hub_status hub_page_drafts(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    size_t i;
    const json_t *draft;
    HUB_TRY(page_begin(&page, request, response, err));
    HUB_TRY(allow(request, err));
    HUB_TRY(page_fetch(&page, HUB_VIEW("/api/v1/drafts"), &list));
    const json_t *items = json_object_get(list, "items");
    json_array_foreach(items, i, draft) page.refresh_s = is_under_way(draft) ? REFRESH_S : page.refresh_s;
    page_open(&page, HUB_VIEW("Drafts"), HUB_VIEW("/api/v1/drafts"));
    page_title(&page.out, &(struct page_title){HUB_VIEW("Drafts")});
    write_paragraph(&page, HUB_VIEW("Datasets that are being pushed. Only their writers and administrators "
                                    "see them before they are published."));
    write_drafts(&page, items);
    return close_private(&page);
}

/* ---- one ---- */

static void write_facts(struct page *page, const json_t *draft)
{
    struct page_out *out = &page->out;
    page_facts_begin(out, NULL);
    page_fact_text(out, &(struct page_fact_text){page_text(draft, "state"), HUB_VIEW("state")});
    page_fact_count(out, &(struct page_fact_count){page_count(draft, "files"), HUB_VIEW("files")});
    page_fact_count(out, &(struct page_fact_count){page_count(draft, "complete"), HUB_VIEW("complete")});
    page_fact_bytes(out, &(struct page_fact_bytes){page_count(draft, "bytes"), HUB_VIEW("total")});
    page_fact_text(out, &(struct page_fact_text){page_text(draft, "who"), HUB_VIEW("who")});
    page_fact_time(out, &(struct page_fact_time){page_text(draft, "changed"), HUB_VIEW("changed")});
    if (is_under_way(draft))
        page_fact_time(out,
                       &(struct page_fact_time){page_text(draft, "ends"), HUB_VIEW("ends if not changed")});
    page_facts_end(out, NULL);
}

static void write_refusal(struct page *page, const json_t *refused)
{
    static const char *const heads[] = {"Problem", "Details", NULL};
    const struct page_note note = {HUB_VIEW("bad"), page_text(refused, "reason")};
    const struct page_section section = {HUB_VIEW("refused"), HUB_VIEW("Why it was refused")};
    const json_t *problems = json_object_get(refused, "problems"), *problem;
    size_t i;
    page_section_begin(&page->out, &section);
    page_note_begin(&page->out, &note);
    page_note_end(&page->out, &note);
    if (json_array_size(problems)) {
        const struct page_table table = table_of("Problems");
        page_heads_begin(page, &table, heads, "  ");
        json_array_foreach(problems, i, problem) page_draft_problem(
            &page->out, &(struct page_draft_problem){page_text(problem, "code"), page_text(problem, "path"),
                                                     page_text(problem, "detail")});
        page_heads_end(page, &table);
    }
    write_paragraph(page, page_url(page,
                                   "The commit of %r was refused. The draft is still open: send what is "
                                   "wrong again, and commit again.",
                                   page_text(refused, "at")));
    page_section_end(&page->out, &section);
}

static void write_files(struct page *page, const json_t *files, struct hub_view draft)
{
    static const char *const heads[] = {"File", "Received", "Size", "SHA-256 begins", NULL};
    const struct page_section section = {HUB_VIEW("files"), HUB_VIEW("Files")};
    const json_t *items = json_object_get(files, "items"), *file = NULL;
    const size_t count = json_array_size(items);
    struct hub_view path = HUB_VIEW("");
    size_t i;
    page_section_begin(&page->out, &section);
    const struct page_table table = table_of("Files that have been announced");
    if (count)
        page_heads_begin(page, &table, heads, " nn ");
    else
        write_paragraph(page, HUB_VIEW("There are no files here."));
    json_array_foreach(items, i, file)
    {
        const struct hub_view sha = page_text(file, "sha256");
        path = page_text(file, "path");
        page_draft_file(&page->out, &(struct page_draft_file){path,
                                                              page_count(file, "offset"),
                                                              page_count(file, "size"),
                                                              {sha.data, HUB_MIN(sha.size, 16)}});
    }
    if (count)
        page_heads_end(page, &table);
    if (count == SHOWN_FILES)
        page_link(&page->out, &(struct page_link){page_url(page, "/~drafts/%s?after=%s", draft, path),
                                                  HUB_VIEW("Files that follow")});
    page_section_end(&page->out, &section);
}

/* A cookie changes nothing here: the command line does. */
static void write_drop(struct page *page, struct hub_view draft)
{
    const struct page_section section = {HUB_VIEW("drop"), HUB_VIEW("Drop it")};
    page_section_begin(&page->out, &section);
    write_paragraph(page, HUB_VIEW("This removes the draft with all that was received:"));
    page_draft_command(
        &page->out, &(struct page_draft_command){page_url(page, "minari-cli drafts drop %r --remote %r",
                                                          draft, hub_view_of(hub_base_url(page->request)))});
    page_section_end(&page->out, &section);
}

static void write_one(struct page *page, const json_t *draft, const json_t *files, struct hub_view name)
{
    const struct hub_view id = page_text(draft, "id");
    const json_t *refused = json_object_get(draft, "refused");
    page_draft_crumbs_begin(&page->out, NULL);
    page_crumb_here(&page->out, &(struct page_crumb_here){id});
    page_draft_crumbs_end(&page->out, NULL);
    page_title(&page->out, &(struct page_title){id});
    write_facts(page, draft);
    if (hub_view_is(page_text(draft, "state"), "published"))
        page_link(&page->out, &(struct page_link){page_url(page, "/d/%p", id), HUB_VIEW("The dataset")});
    if (refused)
        write_refusal(page, refused);
    if (files)
        write_files(page, files, name);
    if (hub_view_is(page_text(draft, "state"), "open"))
        write_drop(page, name);
}

enum hub_status hub_page_draft(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *draft = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *files = NULL;
    const struct hub_view name = hub_request_capture(request, "name");
    HUB_TRY(page_begin(&page, request, response, err));
    HUB_TRY(allow(request, err));
    const struct hub_view api = page_url(&page, "/api/v1/drafts/%s", name);
    HUB_TRY(page_fetch(&page, api, &draft));
    if (hub_view_is(page_text(draft, "state"), "open"))
        HUB_TRY(page_fetch_if_any(&page,
                                  page_url(&page, "/api/v1/drafts/%s/files%r", name,
                                           page_query(&page, "limit", "limit", HUB_VIEW("200"), NULL)),
                                  &files));
    page.refresh_s = is_under_way(draft) ? REFRESH_S : 0;
    page_open(&page, page_url(&page, "Draft of %r", page_text(draft, "id")), api);
    write_one(&page, draft, files, name);
    return close_private(&page);
}

/* The page of revisions: each commit of an id with the files and episodes that it changed. */
#include "server/page/frame.h"
#include "server/page/handlers.h"
#include "storage/text/number.h"

#include <inttypes.h>
#include <stdio.h>

enum { COMMIT_SHOWN = 10 };

/* ---- one ---- */

/* "2 added, 1 changed"; "" where it is not known. */
static void say_changes(const json_t *commit, char out[120])
{
    static const char *const words[] = {"added", "changed", "removed"};
    const json_t *changes = json_object_get(commit, "changes");
    size_t used = 0;
    out[0] = '\0';
    if (!changes)
        return;
    for (size_t i = 0; i < HUB_COUNT(words); i++)
        if (page_count(changes, words[i]))
            used += (size_t)snprintf(out + used, 120 - used, "%s%" PRIu64 " %s", used ? ", " : "",
                                     page_count(changes, words[i]), words[i]);
    if (!used)
        snprintf(out, 120, "none");
}

static void say_episodes(const json_t *commit, char out[64])
{
    const uint64_t now = page_count(commit, "episodes"), before = page_count(commit, "episodes_before");
    out[0] = '\0';
    if (!json_object_get(commit, "episodes"))
        return;
    if (json_object_get(commit, "episodes_before") && before != now)
        snprintf(out, 64, "%" PRIu64 " \xE2\x86\x92 %" PRIu64, before, now);
    else
        snprintf(out, 64, "%" PRIu64, now);
}

static bool is_deletion(const json_t *commit)
{
    return hub_view_is(page_text(commit, "kind"), "delete");
}

/* A link where its data can be seen: of a dataset that was deleted nothing can. */
static void write_name(struct page *page, const json_t *commit, struct hub_view id, bool is_there)
{
    const struct hub_view name = page_text(commit, "commit"), state = page_text(commit, "state"),
                          begins = {name.data, HUB_MIN(name.size, (size_t)COMMIT_SHOWN)};
    const bool current = hub_view_is(state, "current"), kept = hub_view_is(state, "kept");
    if (is_there && (current || kept))
        page_revision_link(
            &page->out, &(struct page_revision_link){current ? page_url(page, "/d/%p", id)
                                                             : page_url(page, "/d/%p?revision=%s", id, name),
                                                     begins, state});
    else
        page_revision_name(&page->out,
                           &(struct page_revision_name){begins, is_deletion(commit) ? HUB_VIEW("deleted")
                                                                : kept              ? HUB_VIEW("kept")
                                                                       : HUB_VIEW("no longer kept")});
}

static void write_row(struct page *page, const json_t *commit, struct hub_view id, bool is_there)
{
    char changes[120], episodes[64], files[32] = "", size[HUB_SIZE_CHARS] = "";
    say_changes(commit, changes);
    say_episodes(commit, episodes);
    if (!is_deletion(commit)) {
        snprintf(files, sizeof files, "%" PRIu64, page_count(commit, "files"));
        hub_number_size(page_count(commit, "bytes"), size);
    }
    const struct page_revision_row row = {
        page_text(commit, "at"), page_text(commit, "who"), hub_view_of(files),          hub_view_of(changes),
        hub_view_of(episodes),   hub_view_of(size),        page_text(commit, "message")};
    page_revision_row_begin(&page->out, &row);
    write_name(page, commit, id, is_there);
    page_revision_row_end(&page->out, &row);
}

/* ---- all ---- */

static void write_table(struct page *page, const json_t *items, struct hub_view id, bool is_there)
{
    static const char *const heads[] = {"Commit",   "When", "Who",     "Files", "Files changed",
                                        "Episodes", "Size", "Message", NULL};
    const struct page_table table = {HUB_VIEW("cardlike"), HUB_VIEW("Revisions, the newest first")};
    const json_t *commit;
    size_t i;
    page_heads_begin(page, &table, heads, "   n nn ");
    json_array_foreach(items, i, commit) write_row(page, commit, id, is_there);
    page_heads_end(page, &table);
}

static const json_t *find_kept(const json_t *items)
{
    const json_t *commit;
    size_t i;
    json_array_foreach(items, i, commit) if (hub_view_is(page_text(commit, "state"), "kept")) return commit;
    return NULL;
}

/* A page changes nothing: the command line does. */
static void write_revert(struct page *page, const json_t *items, struct hub_view id)
{
    const struct page_section section = {HUB_VIEW("revert"), HUB_VIEW("Have one back")};
    const json_t *kept = find_kept(items);
    if (!kept)
        return;
    page_section_begin(&page->out, &section);
    page_paragraph(&page->out, &(struct page_paragraph){
                                   HUB_VIEW("muted"),
                                   HUB_VIEW("The files of a kept revision become a new one, in the place of "
                                            "what is there. Nothing is transferred, and nothing is lost:")});
    page_revision_command(&page->out,
                          &(struct page_revision_command){
                              page_url(page, "minari-cli revert %q --revision %r --remote %r", id,
                                       page_text(kept, "commit"), hub_view_of(hub_base_url(page->request)))});
    page_section_end(&page->out, &section);
}

static void write_page(struct page *page, const json_t *list, struct hub_view id, bool is_there)
{
    const json_t *items = json_object_get(list, "items");
    page_crumbs(page, id, "revisions");
    page_title(&page->out, &(struct page_title){HUB_VIEW("Revisions")});
    page_facts_begin(&page->out, NULL);
    page_fact_count(&page->out, &(struct page_fact_count){page_count(list, "total"), HUB_VIEW("revisions")});
    page_facts_end(&page->out, NULL);
    write_table(page, items, id, is_there);
    page_pages(page, list);
    write_revert(page, items, id);
}

enum hub_status hub_page_revisions(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *dataset = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view query = page_query(&page, "limit", "limit", HUB_VIEW("50"), NULL);
    const struct hub_view api = page_url(&page, "/api/v1/datasets/%p/~revisions%r", page_id(&page), query);
    HUB_TRY(page_fetch(&page, api, &list));
    const struct hub_view id = page_text(list, "id");
    HUB_TRY(page_fetch_if_any(&page, page_url(&page, "/api/v1/datasets/%p", id), &dataset));
    page_open(&page, page_url(&page, "Revisions - %r", id), api);
    write_page(&page, list, id, dataset != NULL);
    return page_close(&page);
}

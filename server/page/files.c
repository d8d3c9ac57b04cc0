/* The files of a dataset, a level of the tree at a time. */
#include "server/page/frame.h"
#include "server/page/handlers.h"

#include <stdio.h>

static void write_parents(struct page *page, struct hub_view prefix)
{
    struct page_out *out = &page->out;
    page_dataset_more_begin(out, NULL);
    page_link(out, &(struct page_link){page_query(page, "prefix cursor", NULL), HUB_VIEW("All files")});
    for (size_t i = 0; i < prefix.size; i++)
        if (prefix.data[i] == '/')
            page_link(out, &(struct page_link){page_query(page, "prefix cursor", "prefix",
                                                          (struct hub_view){prefix.data, i + 1}, NULL),
                                               {prefix.data, i + 1}});
    page_dataset_more_end(out, NULL);
}

static void write_rows(struct page *page, const json_t *list, struct hub_view id)
{
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(list, "prefixes"), i, row)
    {
        const struct hub_view name = page_text(row, "prefix");
        page_file_folder(&page->out,
                         &(struct page_file_folder){page_query(page, "prefix cursor", "prefix", name, NULL),
                                                    name, page_count(row, "files"), page_count(row, "size")});
    }
    json_array_foreach(json_object_get(list, "items"), i, row)
    {
        const struct hub_view name = page_text(row, "path"), sha = page_text(row, "sha256");
        page_file_row(&page->out,
                      &(struct page_file_row){page_url(page, "@/api/v1/datasets/%p/files/%p", id, name),
                                              name,
                                              page_count(row, "size"),
                                              {sha.data, HUB_MIN(sha.size, 16)}});
    }
}

static void write_table(struct page *page, const json_t *list, struct hub_view id)
{
    static const char *const heads[] = {"Name", "Files", "Size", "SHA-256 begins"};
    struct page_out *out = &page->out;
    const struct page_table table = {HUB_VIEW("cardlike"), HUB_VIEW("Files and folders of this level")};
    page_table_begin(out, &table);
    page_thead_begin(out, NULL);
    for (size_t i = 0; i < HUB_COUNT(heads); i++)
        page_th(out,
                &(struct page_th){i == 1 || i == 2 ? HUB_VIEW("n") : HUB_VIEW(""), hub_view_of(heads[i])});
    page_thead_end(out, NULL);
    page_tbody_begin(out, NULL);
    write_rows(page, list, id);
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
}

enum hub_status hub_page_files(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view query =
        page_query(&page, "delimiter limit", "delimiter", HUB_VIEW("/"), "limit", HUB_VIEW("200"), NULL);
    const struct hub_view api = page_url(&page, "/api/v1/datasets/%p/files%r", page_id(&page), query);
    HUB_TRY(page_fetch(&page, api, &list));
    const struct hub_view id = page_id_of(&page, list), prefix = hub_request_query(request, "prefix");
    page_open(&page, page_url(&page, "Files - %r", id), api);
    page_crumbs(&page, id, "files");
    page_title(&page.out, &(struct page_title){HUB_VIEW("Files")});
    page_revision_bar(&page, list);
    page_facts_begin(&page.out, NULL);
    page_fact_bytes(&page.out, &(struct page_fact_bytes){page_count(list, "size"), HUB_VIEW("total")});
    page_facts_end(&page.out, NULL);
    page_dataset_more_begin(&page.out, NULL);
    page_link(&page.out, &(struct page_link){page_url(&page, "@/api/v1/datasets/%p/archive.tar", id),
                                             HUB_VIEW("Download all as one tar")});
    page_dataset_more_end(&page.out, NULL);
    if (prefix.size)
        write_parents(&page, prefix);
    write_table(&page, list, id);
    page_pages(&page, list);
    return page_close(&page);
}

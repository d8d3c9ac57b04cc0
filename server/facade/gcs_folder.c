/* A folder of a bucket as a page of links, one level: what rclone's http remote, `wget -r`, fsspec and
 * people read. It is made as it is sent, so that a folder may be of any size. */
#include "server/facade/gcs.h"
#include "server/facade/handlers.h"
#include "server/facade/hf_upstream.h"
#include "server/facade/markup.h"

#include "storage/ids/spell.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdlib.h>

struct folder_page {
    struct hub_body_producer maker; /* first */
    struct hub_objects objects;
    struct hub_object object; /* that comes next */
    struct hub_buf folder;    /* its whole name, as it is here: "", or ends with a slash */
    struct hub_buf shown;     /* ... as it is asked for: "/bucket/folder/" */
    bool top, begun, ended;
};

static void page_free(struct hub_body_producer *maker)
{
    struct folder_page *page = (struct folder_page *)maker;
    hub_objects_dispose(&page->objects);
    hub_buf_dispose(&page->folder);
    hub_buf_dispose(&page->shown);
    free(page);
}

static void page_freep(struct folder_page **page)
{
    if (*page)
        page_free(&(*page)->maker);
}

/* The next object in the folder, or the first of the next folder in it. */
static enum hub_status step(struct folder_page *page, struct hub_error *err)
{
    const enum hub_status st = hub_objects_next(&page->objects, &page->object, err);
    page->ended = st == HUB_NOT_FOUND || (!st && !hub_view_starts(page->object.name, page->folder.data));
    return st == HUB_NOT_FOUND ? HUB_OK : st;
}

static enum hub_status add_link(struct hub_view name, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_spell_path(name, &text, err));
    HUB_TRY(hub_buf_add_text(out, "<tr><td><a href=\"", err));
    HUB_TRY(hub_uri_encode_path(hub_buf_view(&text), out, err));
    HUB_TRY(hub_buf_add_text(out, "\">", err));
    HUB_TRY(hub_markup_add(hub_buf_view(&text), out, err));
    return hub_buf_add_text(out, "</a></td>", err);
}

static enum hub_status add_file(const struct folder_page *page, struct hub_view name, struct hub_buf *out,
                                struct hub_error *err)
{
    char modified[HUB_TIME_CHARS];
    HUB_CLEANUP(hub_object_facts_dispose) struct hub_object_facts facts = {0};
    HUB_TRY(add_link(name, out, err));
    if (page->object.file) {
        facts.size = page->object.file->stamp.size;
        facts.modified_ns = (int64_t)page->object.file->stamp.mtime_ns;
    } else {
        HUB_TRY(hub_object_facts_of_space(&page->objects, &page->object, &facts, err));
    }
    hub_time_rfc3339(facts.modified_ns / 1000000000, modified);
    return hub_buf_addf(out, err, "<td>%" PRIu64 "</td><td>%s</td></tr>\n", facts.size, modified);
}

/* ... and the walk goes on behind all that is in it. */
static enum hub_status add_folder(struct folder_page *page, struct hub_view name, struct hub_buf *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf behind = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(add_link(name, out, err));
    HUB_TRY(hub_buf_add_text(out, "<td></td><td></td></tr>\n", err));
    HUB_TRY(hub_buf_add_view(&behind, hub_buf_view(&page->folder), err));
    HUB_TRY(hub_buf_add_view(&behind, name, err));
    behind.data[behind.size - 1]++;
    return hub_objects_seek(&page->objects, hub_buf_view(&behind), err);
}

static enum hub_status add_entry(struct folder_page *page, struct hub_buf *out, struct hub_error *err)
{
    const size_t above = page->folder.size;
    struct hub_view name = {page->object.name.data + above, page->object.name.size - above};
    const char *slash = memchr(name.data, '/', name.size);
    if (slash)
        name.size = (size_t)(slash - name.data) + 1;
    HUB_TRY(slash ? add_folder(page, name, out, err) : add_file(page, name, out, err));
    return step(page, err);
}

static enum hub_status add_head(const struct folder_page *page, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_view shown = hub_buf_view(&page->shown);
    HUB_TRY(
        hub_buf_add_text(out, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Index of ", err));
    HUB_TRY(hub_markup_add(shown, out, err));
    HUB_TRY(hub_buf_add_text(out, "</title></head>\n<body><h1>Index of ", err));
    HUB_TRY(hub_markup_add(shown, out, err));
    HUB_TRY(
        hub_buf_add_text(out, "</h1>\n<table><tr><th>Name</th><th>Size</th><th>Modified</th></tr>\n", err));
    return page->top ? HUB_OK : hub_buf_add_text(out, "<tr><td><a href=\"../\">../</a></td></tr>\n", err);
}

static enum hub_status more(struct hub_body_producer *maker, struct hub_buf *out, struct hub_error *err)
{
    struct folder_page *page = (struct folder_page *)maker;
    if (page->begun && page->ended)
        return HUB_OK;
    if (!page->begun)
        HUB_TRY(add_head(page, out, err));
    page->begun = true;
    while (!page->ended && out->size < HUB_BODY_STREAM_BLOCK)
        HUB_TRY(add_entry(page, out, err));
    return page->ended ? hub_buf_add_text(out, "</table></body></html>\n", err) : HUB_OK;
}

static enum hub_status page_new(struct folder_page **out, struct hub_error *err)
{
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    **out = (struct folder_page){
        .maker = {more, page_free}, .folder = HUB_BUF_INIT(64 * KIB), .shown = HUB_BUF_INIT(128 * KIB)};
    return HUB_OK;
}

/* Found, or empty and the bucket that holds all. */
static enum hub_status open_page(const struct hub_request *request, struct folder_page *page,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_gcs_bucket_dispose) struct hub_gcs_bucket bucket = {0};
    const struct hub_view path = hub_request_capture(request, "path");
    HUB_TRY(hub_gcs_bucket_of(request, &bucket, err));
    HUB_TRY(hub_buf_add_text(&page->folder, bucket.begins.data, err));
    HUB_TRY(hub_buf_addf(&page->shown, err, "/%s/%s%s", bucket.name.data, path.size ? path.data : "",
                         path.size ? "/" : ""));
    page->top = !path.size;
    if (path.size) {
        HUB_TRY(hub_unspell(path, &page->folder, err));
        HUB_TRY(hub_buf_add_text(&page->folder, "/", err));
    }
    HUB_TRY(hub_objects_open(request, &page->objects, err));
    HUB_TRY(hub_objects_seek(&page->objects, hub_buf_view(&page->folder), err));
    HUB_TRY(step(page, err));
    return page->ended && page->folder.size
               ? hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND,
                                page->top ? "bucket" : "object", page->shown.data, "There is no folder '%s'",
                                page->shown.data)
               : HUB_OK;
}

static bool is_list_request(const struct hub_request *request)
{
    return hub_view_is(hub_request_query(request, "list-type"), "2");
}

enum hub_status hub_gcs_folder(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(page_freep) struct folder_page *page = NULL;
    if (is_list_request(request) && !hub_request_capture(request, "path").size)
        return hub_gcs_list_xml(request, response, err);
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(page_new(&page, err));
    HUB_TRY(open_page(request, page, err));
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    HUB_TRY(hub_response_header(response, err, "Content-Security-Policy", "default-src 'none'"));
    struct hub_body_producer *maker = &page->maker;
    page = NULL;
    return hub_response_made(response, 200, "text/html; charset=utf-8", maker, err);
}

/* To the page of the folder; HUB_NOT_FOUND where there is none. */
static enum hub_status send_on(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(page_freep) struct folder_page *page = NULL;
    HUB_TRY(page_new(&page, err));
    HUB_TRY(open_page(request, page, err));
    hub_response_dispose(response);
    response->status = 301;
    return hub_response_header(response, err, "Location", "%s/", request->target);
}

enum hub_status hub_gcs_top(struct hub_request *request, struct hub_response *response, struct hub_error *err)
{
    if (is_list_request(request))
        return hub_gcs_list_xml(request, response, err);
    if (!request->may_block)
        return HUB_AGAIN;
    const enum hub_status st = send_on(request, response, err);
    return st == HUB_NOT_FOUND ? hub_route_none(request, err) : st;
}

/* As servers of files do; not for clients of the protocol, to whom a name that no object has is none. */
enum hub_status hub_gcs_path(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    struct hub_error none = {0};
    const enum hub_status st = hub_gcs_media(request, response, err);
    if (st == HUB_NOT_FOUND && hub_hf_is_file(request) &&
        hub_hf_has_upstream(request)) { /* a model, or a space */
        hub_response_dispose(response);
        return hub_hf_pass_on(request, response, err);
    }
    if (st != HUB_NOT_FOUND || strcmp(err->parameter, "object") != 0 ||
        hub_request_header(request, "X-Goog-Api-Client"))
        return st;
    if (!request->may_block)
        return HUB_AGAIN;
    if (send_on(request, response, &none))
        return st;
    *err = (struct hub_error){0};
    return HUB_OK;
}

/* The files of web/assets and web/vendor: embedded, and served at addresses that name their state. */
#include "server/page/assets.h"

#include "server/api/reply.h"
#include "server/page/handlers.h"

#include "assets_build.h"

#define JS "text/javascript; charset=utf-8"
#define CSS "text/css; charset=utf-8"

extern const unsigned char page_style_css[], page_logo_svg[], page_page_js[], page_theme_js[],
    page_timeline_js[], page_clock_js[], page_lane_js[], page_lanes_js[], page_pictures_js[], page_tiles_js[],
    page_values_js[], page_compare_js[], page_extremes_js[], page_fields_js[], page_help_js[],
    page_picked_js[], page_uplot_css[], page_uplot_js[], page_cameras_css[], page_posters_js[];
extern const unsigned long page_style_css_size, page_logo_svg_size, page_page_js_size, page_theme_js_size,
    page_timeline_js_size, page_clock_js_size, page_lane_js_size, page_lanes_js_size, page_pictures_js_size,
    page_tiles_js_size, page_values_js_size, page_compare_js_size, page_extremes_js_size, page_fields_js_size,
    page_help_js_size, page_picked_js_size, page_uplot_css_size, page_uplot_js_size, page_cameras_css_size,
    page_posters_js_size;

static const struct asset {
    const char *name, *type;
    const unsigned char *bytes;
    const unsigned long *size;
} assets[] = {
    {"style.css", CSS, page_style_css, &page_style_css_size},
    {"cameras.css", CSS, page_cameras_css, &page_cameras_css_size},
    {"logo.svg", "image/svg+xml", page_logo_svg, &page_logo_svg_size},
    {"theme.js", JS, page_theme_js, &page_theme_js_size},
    {"page.js", JS, page_page_js, &page_page_js_size},
    {"timeline.js", JS, page_timeline_js, &page_timeline_js_size},
    {"clock.js", JS, page_clock_js, &page_clock_js_size},
    {"lane.js", JS, page_lane_js, &page_lane_js_size},
    {"lanes.js", JS, page_lanes_js, &page_lanes_js_size},
    {"pictures.js", JS, page_pictures_js, &page_pictures_js_size},
    {"posters.js", JS, page_posters_js, &page_posters_js_size},
    {"tiles.js", JS, page_tiles_js, &page_tiles_js_size},
    {"values.js", JS, page_values_js, &page_values_js_size},
    {"compare.js", JS, page_compare_js, &page_compare_js_size},
    {"extremes.js", JS, page_extremes_js, &page_extremes_js_size},
    {"fields.js", JS, page_fields_js, &page_fields_js_size},
    {"help.js", JS, page_help_js, &page_help_js_size},
    {"picked.js", JS, page_picked_js, &page_picked_js_size},
    {"uPlot.iife.min.js", JS, page_uplot_js, &page_uplot_js_size},
};

static struct hub_view bytes_of(const struct asset *asset)
{
    return (struct hub_view){(const char *)asset->bytes, *asset->size};
}

const char *hub_assets_build(void)
{
    return ASSETS_BUILD;
}

static const struct asset *named(struct hub_view name)
{
    for (size_t i = 0; i < HUB_COUNT(assets); i++)
        if (hub_view_is(name, assets[i].name))
            return &assets[i];
    return NULL;
}

/* Lines of a script that only say something to who reads it here are not sent, nor how far others are
 * indented. */
static enum hub_status add_script(struct hub_buf *out, struct hub_view text, struct hub_error *err)
{
    while (text.size) {
        const char *end = memchr(text.data, '\n', text.size);
        const size_t size = end ? (size_t)(end + 1 - text.data) : text.size, blank = strspn(text.data, " ");
        const struct hub_view line = {text.data, size - (end != NULL)},
                              words = {line.data + HUB_MIN(blank, line.size),
                                       line.size - HUB_MIN(blank, line.size)};
        if (!hub_view_starts(words, "//") && !(hub_view_starts(words, "/** ") && hub_view_ends(words, "*/")))
            HUB_TRY(hub_buf_add(out, words.data, size - (size_t)(words.data - text.data), err));
        text = (struct hub_view){text.data + size, text.size - size};
    }
    return HUB_OK;
}

enum hub_status hub_page_asset(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    const struct asset *asset = named(hub_request_capture(request, "path"));
    if (!asset || !hub_view_is(hub_request_capture(request, "build"), hub_assets_build()))
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND,
                           "this version of the hub has no such asset: reload the page");
    HUB_TRY(hub_reply_on_worker(request));
    struct hub_buf *body = hub_response_buffer(response, 200, asset->type, MIB);
    HUB_TRY(strcmp(asset->type, JS) == 0 ? add_script(body, bytes_of(asset), err)
                                         : hub_buf_add_view(body, bytes_of(asset), err));
    if (strcmp(asset->type, CSS) == 0) /* one request for both */
        HUB_TRY(hub_buf_add(body, page_uplot_css, page_uplot_css_size, err));
    response->is_kept = true;
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "public, max-age=31536000, immutable"));
    HUB_TRY(hub_response_header(response, err, "Content-Security-Policy", "default-src 'none'; sandbox"));
    return hub_reply_document(request, response, err);
}

/* Where datasets come from: see mirrors.h. */
#include "server/page/mirrors.h"

enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400 };

/* ---- words ---- */

/* "2026-11-28 20:15" */
static struct hub_view minute_of(struct page *page, struct hub_view iso)
{
    return iso.size < 16 ? iso
                         : page_url(page, "%r %r", (struct hub_view){iso.data, 10},
                                    (struct hub_view){iso.data + 11, 5});
}

/* ", every 6 h" */
static struct hub_view every_of(struct page *page, const json_t *rule)
{
    const uint64_t every_s = page_count(rule, "every");
    return page_text(rule, "every").size ? page_url(page, ", every %r", page_text(rule, "every"))
           : !every_s                    ? HUB_VIEW("")
           : every_s % DAY_S == 0        ? page_url(page, ", every %n d", every_s / DAY_S)
           : every_s % HOUR_S == 0       ? page_url(page, ", every %n h", every_s / HOUR_S)
           : every_s % MINUTE_S == 0     ? page_url(page, ", every %n min", every_s / MINUTE_S)
                                         : page_url(page, ", every %n s", every_s);
}

static struct hub_view what_of(struct page *page, const json_t *rule)
{
    const struct hub_view prefix = page_text(rule, "prefix");
    return page_url(page, "%r%r", prefix.size ? prefix : HUB_VIEW("all"), every_of(page, rule));
}

static struct hub_view running_words(struct page *page, const json_t *rule)
{
    const uint64_t running = page_count(rule, "running"), waiting = page_count(rule, "waiting");
    return running   ? page_url(page, "copying %n, %n wait", running, waiting)
           : waiting ? page_url(page, "%n wait to be copied", waiting)
                     : HUB_VIEW("looking for changes");
}

static struct hub_view state_words(struct page *page, const json_t *rule)
{
    const struct hub_view state = page_text(rule, "state"), error = page_text(rule, "error");
    if (hub_view_is(state, "failing"))
        return page_url(page, "fails: %r", error.size ? error : HUB_VIEW("the reason is not known"));
    if (hub_view_is(state, "running"))
        return running_words(page, rule);
    if (hub_view_is(state, "paused"))
        return HUB_VIEW("paused");
    return page_text(rule, "synced").size ? HUB_VIEW("up to date") : HUB_VIEW("not looked yet");
}

static struct hub_view state_class(const json_t *rule)
{
    const struct hub_view state = page_text(rule, "state");
    return hub_view_is(state, "failing") ? HUB_VIEW("broken")
           : hub_view_is(state, "idle")  ? HUB_VIEW("ready")
                                         : HUB_VIEW("pending");
}

/* ---- tables ---- */

static void write_rules(struct page *page, const json_t *items, bool pull, const struct page_section *section,
                        const char *caption)
{
    static const char *const heads[] = {"From", "What", "State", "Last", "Next", "Datasets", "Fetched", NULL};
    const struct page_table table = {HUB_VIEW("cardlike"), hub_view_of(caption)};
    bool any = false;
    size_t i;
    const json_t *rule;
    json_array_foreach(items, i, rule)
    {
        if (page_flag(rule, "pull") != pull)
            continue;
        if (!any) {
            page_section_begin(&page->out, section);
            page_heads_begin(page, &table, heads, "     nn");
        }
        any = true;
        page_mirror_row(&page->out, &(struct page_mirror_row){
                                        page_text(rule, "remote"), page_text(rule, "name"),
                                        what_of(page, rule), state_class(rule), state_words(page, rule),
                                        page_text(rule, "synced"), page_text(rule, "next"),
                                        page_count(rule, "datasets"), page_count(rule, "bytes")});
    }
    if (any) {
        page_heads_end(page, &table);
        page_section_end(&page->out, section);
    }
}

void page_mirrors(struct page *page, const json_t *rules)
{
    const struct page_section mirrors = {HUB_VIEW("mirrors"), HUB_VIEW("Mirrors")},
                              upstreams = {HUB_VIEW("upstreams"), HUB_VIEW("Upstreams")};
    const json_t *items = json_object_get(rules, "items");
    write_rules(page, items, false, &mirrors, "Rules that keep copies");
    write_rules(page, items, true, &upstreams, "Listed here; fetched when somebody reads them");
}

/* ---- of one dataset ---- */

static struct hub_view changes_of(struct page *page, const json_t *origin)
{
    const struct hub_view gone = page_text(origin, "gone"), unlisted = page_text(origin, "unlisted");
    return gone.size ? page_url(page, " It is no longer there since %r.", minute_of(page, gone))
           : unlisted.size
               ? page_url(page, " The remote has not listed it since %r.", minute_of(page, unlisted))
           : page_flag(origin, "stale")
               ? HUB_VIEW(" It changed there; changed files are fetched when somebody reads them.")
               : HUB_VIEW("");
}

enum hub_status page_origin(struct page *page, const json_t *dataset)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *rule = NULL;
    const json_t *origin = json_object_get(dataset, "origin");
    const struct hub_view remote = page_text(origin, "remote"), synced = page_text(origin, "synced");
    const bool listed = hub_view_is(page_text(dataset, "status"), "remote");
    if (!remote.size)
        return HUB_OK;
    HUB_TRY(page_fetch_if_any(page, page_url(page, "/api/v1/mirrors/%s", page_text(origin, "rule")), &rule));
    const struct hub_view next = page_text(rule, "next");
    page_origin_line(
        &page->out,
        &(struct page_origin_line){
            listed ? HUB_VIEW("Remote: only") : HUB_VIEW("Copy of"), remote,
            page_url(page, "%r%r%r%r%r.%r",
                     listed ? HUB_VIEW(" has it; it is fetched when somebody reads it") : HUB_VIEW(""),
                     synced.size ? HUB_VIEW(", checked ") : HUB_VIEW(""), minute_of(page, synced),
                     next.size && !listed ? HUB_VIEW(", next ") : HUB_VIEW(""),
                     listed ? HUB_VIEW("") : minute_of(page, next), changes_of(page, origin))});
    return HUB_OK;
}

/**
 * What pages are written with: one function for each type of slot that web/tool/template.c knows. Each
 * escapes what its type needs, so that no text of a dataset is ever markup. The first failure sticks: later
 * calls do nothing, and hub_page_finish tells at the end.
 */
#ifndef HUB_PAGE_OUT_H
#define HUB_PAGE_OUT_H

#include "storage/base/buf.h"

#include <stdint.h>

struct page_out {
    struct hub_buf *buf;
    struct hub_error *err;
    enum hub_status status;
};

/** Text of ours that is HTML. For generated code only. */
void page_put_raw(struct page_out *out, const char *html, size_t size);
/** Foreign text: escapes markup, shows invisible characters by their number, cuts a long text. */
void page_put_text(struct page_out *out, struct hub_view text);
/** The same, and never cut: what is pasted elsewhere, or sent back by a form. */
void page_put_whole(struct page_out *out, struct hub_view text);
/** An address within the hub, made of encoded parts: begins with one '/', '?' or '#'; anything else becomes
 * "#". */
void page_put_url(struct page_out *out, struct hub_view url);
void page_put_asset(struct page_out *out, const char *name);
void page_put_number(struct page_out *out, int64_t value); /* "7", an episode's number */
void page_put_count(struct page_out *out, uint64_t value); /* "1,203" */
void page_put_real(struct page_out *out, double value);    /* five digits; "NaN" */
/** Of a drawing, as long as it is: ends at what is no command or number. */
void page_put_path(struct page_out *out, struct hub_view d);
void page_put_coord(struct page_out *out, double value);   /* of a drawing */
void page_put_bytes(struct page_out *out, uint64_t value); /* "7.1 MB" */
void page_put_time(struct page_out *out, struct hub_view iso);
/** An address of elsewhere: a link if it begins with http:// or https://, else text. */
void page_put_link(struct page_out *out, struct hub_view url);

/** "268 steps" as text, for captions. */
enum { PAGE_COUNT_BYTES = 32, PAGE_REAL_BYTES = 40 };
/** By threes of its digits: 1,203. */
void page_count_text(uint64_t value, char out[PAGE_COUNT_BYTES]);
void page_real(double value, char out[PAGE_REAL_BYTES]);

#endif

/*
 * Claims directories: all formats bid on each as a whole; if none bids, they bid on its files, best bid
 * first, until no file has a bid. A proposal is valid until another one takes one of its files.
 */
#include "storage/worker/child_state.h"

#include "storage/inspect/formats.h"

#include <stdlib.h>

struct bid {
    int confidence;
    bool stale; /* to be asked again */
    struct hub_claim claim;
};

/* The bids on the files of a listing. */
struct auction {
    struct hub_child *child;
    struct bid *bids;
    size_t formats;
    uint32_t *wanted; /* by file: a bit for each bid that wants it */
};

static size_t format_count(const struct hub_child *child)
{
    size_t n = 0;
    while (n < HUB_MAX_FORMATS && child->formats[n])
        n++;
    return n;
}

static enum hub_status put_claim(struct hub_child *child, const char *format, int confidence,
                                 const struct hub_claim *claim, struct hub_error *err)
{
    hub_frame_begin(&child->writer, HUB_FRAME_CLAIM);
    hub_frame_u8(&child->writer, (uint8_t)HUB_MIN(confidence, 100));
    hub_frame_text(&child->writer, hub_view_of(format));
    hub_frame_text(&child->writer, claim ? hub_view_of(claim->name) : (struct hub_view){"", 0});
    hub_frame_u32(&child->writer, child->listing);
    hub_frame_u32(&child->writer, claim ? claim->file_count : 0);
    for (uint32_t i = 0; claim && i < claim->file_count; i++)
        hub_frame_u32(&child->writer, child->first + claim->files[i]);
    return hub_frame_end(&child->writer, err);
}

/* The best of the bids not yet taken, first in order among equals; SIZE_MAX: none. */
static size_t best_bid(const struct bid *bids, size_t count)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (bids[i].confidence > 0 && (best == SIZE_MAX || bids[i].confidence > bids[best].confidence))
            best = i;
    return best;
}

/* A bid counts on a directory that has a name of the format's, on no other. */
static int bid_on(struct hub_child *child, const struct hub_format *format)
{
    const int bid = format->claim_directory ? format->claim_directory(&child->files) : 0;
    return bid <= 0 || !format->marks || hub_files_have_names(&child->files, format->marks) ? bid : 0;
}

static enum hub_status claim_directory(struct hub_child *child, size_t formats, bool *claimed,
                                       struct hub_error *err)
{
    struct bid bids[HUB_MAX_FORMATS] = {0};
    for (size_t i = 0; i < formats; i++)
        bids[i].confidence = bid_on(child, child->formats[i]);
    *claimed = false;
    for (size_t best; (best = best_bid(bids, formats)) != SIZE_MAX; bids[best].confidence = 0) {
        HUB_TRY(put_claim(child, child->formats[best]->name, bids[best].confidence, NULL, err));
        *claimed = true;
    }
    return HUB_OK;
}

/* Blank the files of a claim and mark the proposals that wanted one of them. */
static void take_files(struct auction *a, const struct hub_claim *taken)
{
    uint32_t lost = 0;
    for (uint32_t i = 0; i < taken->file_count; i++) {
        struct hub_file_entry *e = &a->child->entries[a->child->first + taken->files[i]];
        lost |= a->wanted[taken->files[i]];
        free((void *)e->path.data);
        *e = (struct hub_file_entry){.path = {NULL, 0}, .directory = e->directory};
    }
    for (size_t f = 0; f < a->formats; f++)
        a->bids[f].stale = a->bids[f].stale || (lost >> f & 1);
}

static bool claim_sound(const struct hub_child *child, const struct hub_claim *claim)
{
    for (uint32_t i = 0; i < claim->file_count; i++)
        if (claim->files[i] >= child->files.count || child->files.entries[claim->files[i]].path.size == 0)
            return false;
    return claim->file_count > 0 && claim->file_count <= child->files.count;
}

static void refresh(struct auction *a, size_t number)
{
    struct bid *bid = &a->bids[number];
    const uint32_t bit = UINT32_C(1) << number;
    for (uint32_t i = 0; i < bid->claim.file_count; i++)
        a->wanted[bid->claim.files[i]] &= ~bit;
    bid->stale = false;
    bid->claim.file_count = 0;
    bid->claim.name[0] = '\0';
    bid->confidence = a->child->formats[number]->claim_files(&a->child->files, &bid->claim);
    if (bid->confidence <= 0 || !claim_sound(a->child, &bid->claim))
        bid->confidence = 0;
    if (!bid->confidence)
        bid->claim.file_count = 0;
    for (uint32_t i = 0; i < bid->claim.file_count; i++)
        a->wanted[bid->claim.files[i]] |= bit;
}

static enum hub_status claim_files(struct auction *a, struct hub_error *err)
{
    for (unsigned claims = 0; claims < HUB_MAX_CLAIMS; claims++) {
        for (size_t i = 0; i < a->formats; i++)
            if (a->bids[i].stale)
                refresh(a, i);
        const size_t best = best_bid(a->bids, a->formats);
        if (best == SIZE_MAX)
            return HUB_OK;
        const struct bid *bid = &a->bids[best];
        HUB_TRY(put_claim(a->child, a->child->formats[best]->name, bid->confidence, &bid->claim, err));
        take_files(a, &bid->claim);
    }
    return HUB_OK;
}

static enum hub_status claim_listing(struct hub_child *child, struct hub_error *err)
{
    const size_t formats = format_count(child);
    bool claimed = false;
    if (strcmp(child->hint, HUB_HINT_FILES) != 0)
        HUB_TRY(claim_directory(child, formats, &claimed, err));
    if (claimed)
        return HUB_OK;
    struct bid bids[HUB_MAX_FORMATS] = {0};
    HUB_CLEANUP(hub_freep) uint32_t *wanted = calloc((size_t)child->files.count + 1, sizeof *wanted);
    struct auction auction = {child, bids, formats, wanted};
    enum hub_status st = hub_allocated(wanted, err);
    for (size_t i = 0; i < formats && !st; i++) {
        bids[i].stale = child->formats[i]->claim_files != NULL;
        bids[i].claim.files = calloc(child->files.count + 1, sizeof(uint32_t));
        st = hub_allocated(bids[i].claim.files, err);
    }
    if (!st)
        st = claim_files(&auction, err);
    for (size_t i = 0; i < formats; i++)
        free(bids[i].claim.files);
    return st;
}

enum hub_status hub_child_claim(struct hub_child *child, struct hub_error *err)
{
    const uint32_t listings = HUB_MAX(child->part_file_count, 1U);
    for (child->listing = 0; child->listing < listings; child->listing++) {
        const uint32_t at = child->listing;
        const uint32_t first = child->part_file_count ? child->part_files[at] : 0;
        const uint32_t end = at + 1 < listings ? child->part_files[at + 1] : child->entry_count;
        if (first > end || end > child->entry_count)
            return hub_fail(err, HUB_INVALID, "listings that overlap");
        child->first = first;
        child->files.entries = child->entries + first;
        child->files.count = end - first;
        HUB_TRY(claim_listing(child, err));
    }
    return HUB_OK;
}

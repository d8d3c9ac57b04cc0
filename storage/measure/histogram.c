/* Histograms: see histogram.h. */
#include "storage/measure/histogram.h"

#include <math.h>
#include <stdlib.h>

struct head {
    uint32_t dims, bins, room, whole;
};

static enum hub_status make_room(struct hub_histogram *h, struct hub_error *err)
{
    HUB_TRY(hub_new(&h->low, h->dims, sizeof *h->low, err));
    HUB_TRY(hub_new(&h->high, h->dims, sizeof *h->high, err));
    return hub_new(&h->counts, (size_t)h->dims * h->room, sizeof *h->counts, err);
}

enum hub_status hub_histogram_init(struct hub_histogram *h, const struct hub_measured_field *field,
                                   uint32_t bins, struct hub_error *err)
{
    *h = (struct hub_histogram){.dims = field->dims,
                                .bins = bins,
                                .whole = field->variant.kind != HUB_KIND_FLOAT,
                                .room = HUB_MAX(bins, (uint32_t)HUB_HISTOGRAM_VALUES)};
    const enum hub_status st = make_room(h, err);
    if (st)
        hub_histogram_dispose(h);
    for (uint32_t d = 0; !st && d < h->dims; d++) {
        h->low[d] = field->folds[d].min;
        h->high[d] = field->folds[d].max;
    }
    return st;
}

void hub_histogram_dispose(struct hub_histogram *h)
{
    free(h->low);
    free(h->high);
    free(h->counts);
    *h = (struct hub_histogram){0};
}

bool hub_histogram_of_values(const struct hub_histogram *h, uint32_t dim)
{
    return h->whole && h->high[dim] - h->low[dim] < HUB_HISTOGRAM_VALUES;
}

uint32_t hub_histogram_bins(const struct hub_histogram *h, uint32_t dim)
{
    if (!(h->low[dim] <= h->high[dim]))
        return 0;
    if (hub_histogram_of_values(h, dim))
        return (uint32_t)(h->high[dim] - h->low[dim]) + 1;
    return h->low[dim] < h->high[dim] ? h->bins : 1;
}

/* Values of one dimension, `stride` apart. Halves keep the largest differences finite. */
static void count(const struct hub_histogram *h, uint32_t dim, const double *values, uint64_t rows,
                  uint32_t stride)
{
    const uint32_t bins = hub_histogram_bins(h, dim);
    const double low = h->low[dim], half = h->high[dim] / 2 - low / 2;
    uint64_t *counts = h->counts + (size_t)dim * h->room;
    const bool of_values = hub_histogram_of_values(h, dim);
    for (uint64_t r = 0; bins && r < rows; r++) {
        const double v = values[r * stride];
        if (!(v >= low && v <= h->high[dim])) /* NaN too */
            continue;
        const double at = of_values ? v - low : bins == 1 ? 0 : (v / 2 - low / 2) / half * bins;
        counts[at >= bins ? bins - 1 : (uint32_t)at]++;
    }
}

static enum hub_status count_window(struct hub_row_source *source, const struct hub_window *window,
                                    const struct hub_histogram *h, struct hub_error *err)
{
    struct hub_block b;
    for (uint64_t row = 0; row < window->count; row += b.rows) {
        HUB_TRY(hub_source_get(source, window, row, window->count - row, &b, err));
        for (uint32_t d = 0; d < h->dims; d++)
            count(h, d, b.values + d, b.rows, h->dims);
    }
    return HUB_OK;
}

enum hub_status hub_measure_histogram(struct hub_measured_part *part, const struct hub_layout *layout,
                                      enum hub_axis axis, struct hub_histogram *h, struct hub_error *err)
{
    HUB_CLEANUP(hub_source_dispose)
    struct hub_row_source source = {.host = part->host, .layout = layout, .files = &part->files};
    for (uint32_t i = 0; i < layout->counts[HUB_T_WINDOWS]; i++) {
        const struct hub_window window = hub_window_of_steps(layout->windows[i], axis);
        struct hub_error why = {0};
        if (hub_source_dims(layout, &window) != h->dims)
            continue;
        const enum hub_status st = count_window(&source, &window, h, &why);
        if (st && !hub_measure_is_verdict(st))
            return hub_pass(st, &why, err);
        HUB_TRY(hub_measure_breathe(part, err));
    }
    return HUB_OK;
}

enum hub_status hub_histogram_pack(const struct hub_histogram *h, struct hub_buf *out, struct hub_error *err)
{
    const struct head head = {h->dims, h->bins, h->room, h->whole};
    HUB_TRY(hub_buf_add(out, &head, sizeof head, err));
    HUB_TRY(hub_buf_add(out, h->low, h->dims * sizeof *h->low, err));
    HUB_TRY(hub_buf_add(out, h->high, h->dims * sizeof *h->high, err));
    return hub_buf_add(out, h->counts, (size_t)h->dims * h->room * sizeof *h->counts, err);
}

bool hub_histogram_add(struct hub_histogram *h, struct hub_view packed)
{
    const struct head head = {h->dims, h->bins, h->room, h->whole};
    const size_t edges = h->dims * sizeof *h->low, counts = (size_t)h->dims * h->room;
    const char *at = packed.data + sizeof head;
    if (packed.size != sizeof head + 2 * edges + counts * sizeof *h->counts ||
        memcmp(packed.data, &head, sizeof head) != 0 || memcmp(at, h->low, edges) != 0 ||
        memcmp(at + edges, h->high, edges) != 0)
        return false;
    for (size_t i = 0; i < counts; i++) {
        uint64_t n;
        memcpy(&n, at + 2 * edges + i * sizeof n, sizeof n);
        h->counts[i] += n;
    }
    return true;
}

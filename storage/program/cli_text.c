/* Reports for people. Foreign text is one line each by the time it comes here (see proof.c), but it may be
 * anything else. */
#include "storage/program/cli.h"

#include <stdio.h>

void hub_report_dtype(const struct hub_report_field *field, char out[24])
{
    if (field->varies >> 31)
        snprintf(out, 24, "varies");
    else
        hub_variant_name(&field->variant, field->type, out);
}

void hub_report_shape(const struct hub_report_field *field, const char *open, const char *star,
                      const char *close, char out[96])
{
    size_t at = (size_t)snprintf(out, 96, "%s", open);
    for (unsigned d = 0; d < field->variant.rank && at < 80; d++) {
        at += (size_t)snprintf(out + at, 96 - at, "%s", d ? "," : "");
        if (field->varies >> d & 1 || field->varies >> 31)
            at += (size_t)snprintf(out + at, 96 - at, "%s", star);
        else
            at += (size_t)snprintf(out + at, 96 - at, "%u", field->variant.dims[d]);
    }
    snprintf(out + at, 96 - at, "%s", close);
}

static void size_text(uint64_t bytes, char out[24])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;
    double value = (double)bytes;
    while (value >= 1024 && unit + 1 < HUB_COUNT(units)) {
        value /= 1024;
        unit++;
    }
    snprintf(out, 24, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static enum hub_status put_line(struct hub_buf *out, const char *label, const char *value,
                                struct hub_error *err)
{
    return value ? hub_buf_addf(out, err, "  %-12s %.200s\n", label, value) : HUB_OK;
}

/* What a dialect of a format means, else its name. */
static const char *era_text(const struct hub_report *r)
{
    const char *era = hub_report_fact(r, "era");
    const struct hub_format *format = hub_report_format(r);
    for (const char *const *e = era && format ? format->eras : NULL; e && *e; e++)
        if (strncmp(*e, era, strlen(era)) == 0 && (*e)[strlen(era)] == ':')
            return *e;
    return era;
}

static enum hub_status put_head(const struct hub_report *r, struct hub_buf *out, struct hub_error *err)
{
    char size[24], count[64];
    const struct hub_load_rule *rule = hub_report_rule(r);
    const char *era = era_text(r), *claimed = hub_report_fact(r, "claimed_episodes");
    HUB_TRY(hub_buf_addf(out, err, "%s\n  %-12s %s%s%s%s\n", r->path, "format",
                         r->format ? r->format : "none (plain files)", era ? " (" : "", era ? era : "",
                         era ? ")" : ""));
    if (r->format && strcmp(r->status, "ready") != 0)
        HUB_TRY(hub_buf_addf(out, err, "  %-12s %s: %s\n", "status", r->status, r->why.detail));
    HUB_TRY(put_line(out, "not loadable", r->refused, err));
    HUB_TRY(put_line(out, "id", hub_report_fact(r, "id"), err));
    if (rule)
        HUB_TRY(put_line(out, rule->name, hub_report_fact(r, "stated_version"), err));
    if (r->format) {
        snprintf(count, sizeof count, "%llu", (unsigned long long)r->episodes);
        const bool differs = claimed && strcmp(claimed, count) != 0;
        HUB_TRY(hub_buf_addf(out, err, "  %-12s %s%s%s%s\n", "episodes", count,
                             differs ? " (the files state " : "", differs ? claimed : "",
                             differs ? ")" : ""));
        HUB_TRY(hub_buf_addf(out, err, "  %-12s %llu\n", "steps", (unsigned long long)r->steps));
    }
    size_text(r->tree.bytes, size);
    return hub_buf_addf(out, err, "  %-12s %u, %s\n", "files", r->tree.set.count, size);
}

static enum hub_status put_field(const struct hub_report_field *f, int width, struct hub_buf *out,
                                 struct hub_error *err)
{
    char dtype[24] = "", shape[96] = "", size[24];
    if (f->variants) {
        hub_report_dtype(f, dtype);
        hub_report_shape(f, "(", "*", ")", shape);
    }
    size_text(f->stored, size);
    if (f->unreadable && f->variants == 0)
        return hub_buf_addf(out, err, "  %-*s %-11s unreadable: %s\n", width, f->path,
                            hub_field_type_name(f->type), f->unreadable);
    return hub_buf_addf(out, err, "  %-*s %-11s %-9s %-14s %-8s %9llu %10llu %11s%s%s\n", width, f->path,
                        hub_field_type_name(f->type), dtype, shape, hub_axis_name(f->axis),
                        (unsigned long long)f->episodes, (unsigned long long)f->rows, size,
                        f->unreadable ? "  unreadable in places: " : "", f->unreadable ? f->unreadable : "");
}

/* Control characters, those of ISO 6429's upper set (C2 80 .. C2 9F) too, become question marks. */
static void escape_controls(struct hub_buf *out)
{
    for (size_t i = 0; i < out->size; i++) {
        const unsigned char c = (unsigned char)out->data[i];
        const bool upper = c == 0xC2 && i + 1 < out->size && ((unsigned char)out->data[i + 1] & 0xE0) == 0x80;
        if ((c < 0x20 && c != '\n') || c == 0x7F || upper)
            out->data[i] = '?';
        if (upper)
            out->data[++i] = '?';
    }
}

enum hub_status hub_report_text(const struct hub_report *r, struct hub_buf *out, struct hub_error *err)
{
    int width = 5;
    HUB_TRY(put_head(r, out, err));
    for (uint32_t i = 0; i < r->field_count; i++)
        width = HUB_MAX(width, (int)HUB_MIN(strlen(r->fields[i].path), (size_t)60));
    if (r->field_count)
        HUB_TRY(hub_buf_addf(out, err, "  %-*s %-11s %-9s %-14s %-8s %9s %10s %11s\n", width, "FIELD", "TYPE",
                             "DTYPE", "SHAPE", "AXIS", "EPISODES", "ROWS", "STORED"));
    for (uint32_t i = 0; i < r->field_count; i++)
        HUB_TRY(put_field(&r->fields[i], width, out, err));
    if (r->problems)
        HUB_TRY(hub_buf_addf(out, err, "  %llu problem%s\n", (unsigned long long)r->problems,
                             r->problems == 1 ? "" : "s"));
    HUB_TRY(hub_buf_add_view(out, hub_buf_view(&r->problem_text), err));
    HUB_TRY(hub_buf_add_text(out, "\n", err));
    escape_controls(out);
    return HUB_OK;
}

/* Tables: see table.h. */
#include "client/cli/table.h"

#include "client/cli/cli.h"
#include "storage/text/utf8.h"

#include <stdlib.h>
#include <wchar.h>

void table_number(uint64_t n, char out[TABLE_NUMBER])
{
    static const char letters[] = {'\0', 'K', 'M', 'B', 'T'};
    double value = (double)n;
    size_t i = 0;
    for (; value >= 1000 && i + 1 < sizeof letters; i++)
        value /= 1000;
    snprintf(out, TABLE_NUMBER, "%.0f%.1s", value,
             &letters[i]); /* printf rounds halves to even, as Python does */
}

bool table_add(struct text_table *t, const char *const *texts)
{
    if (hub_grow(&t->rows, t->row_count, &t->capacity, sizeof *t->rows, NULL))
        return false;
    struct table_row *row = &t->rows[t->row_count++];
    *row = (struct table_row){0};
    for (unsigned i = 0; texts && i < t->count; i++)
        if (hub_dup(&row->cells[i], cli_clean(texts[i] ? texts[i] : ""), NULL))
            return false;
    return true;
}

void table_dispose(struct text_table *t)
{
    for (uint32_t r = 0; r < t->row_count; r++)
        for (unsigned i = 0; i < t->count; i++)
            free(t->rows[r].cells[i]);
    free(t->rows);
    t->rows = NULL;
    t->row_count = t->capacity = 0;
}

/* Columns of a terminal; text was cleaned, so it decodes. */
static int width_of(const char *text)
{
    struct hub_view left = hub_view_of(text);
    int width = 0;
    uint32_t code;
    for (size_t n; (n = hub_utf8_decode(left, &code)); left.data += n, left.size -= n) {
        const int w = wcwidth((wchar_t)code);
        width += w < 0 ? 1 : w;
    }
    return width;
}

static void line(const struct text_table *t, FILE *out, const int *widths, const char *left, const char *fill,
                 const char *cross, const char *right)
{
    fputs(left, out);
    for (unsigned c = 0; c < t->count; c++) {
        for (int i = 0; i < widths[c] + 2; i++)
            fputs(fill, out);
        fputs(c + 1 < t->count ? cross : right, out);
    }
    fputc('\n', out);
}

/* A cell in its column's width; colours are Minari's. */
static void cell(const struct text_table *t, FILE *out, size_t r, unsigned c, int width, bool colour,
                 bool last)
{
    static const char *const colours[] = {"\033[36m", "\033[32m", "\033[35m"}; /* cyan, green, magenta */
    const bool header = r == SIZE_MAX;
    const char *text = header ? t->columns[c].name : t->rows[r].cells[c];
    const int pad = width - width_of(text);
    const char *paint = header              ? "\033[1m"
                        : c == 0            ? colours[0]
                        : c + 1 == t->count ? colours[2]
                                            : colours[1];
    for (int i = 0; t->columns[c].right && i < pad; i++)
        fputc(' ', out);
    fprintf(out, "%s%s%s", colour ? paint : "", text, colour ? "\033[0m" : "");
    for (int i = 0; !t->columns[c].right && !last && i < pad; i++)
        fputc(' ', out);
}

static void row(const struct text_table *t, FILE *out, const int *widths, size_t r, const char *bar,
                bool colour)
{
    for (unsigned c = 0; c < t->count; c++) {
        fprintf(out, "%s%s", bar, *bar ? " " : c ? "  " : "");
        cell(t, out, r, c, widths[c], colour, !*bar && c + 1 == t->count);
        fputs(*bar ? " " : "", out);
    }
    fprintf(out, "%s\n", bar);
}

static bool is_rule(const struct text_table *t, size_t r)
{
    return !t->rows[r].cells[0];
}

static void centred(FILE *out, const char *text, int width, bool colour)
{
    const int pad = (width - width_of(text)) / 2;
    fprintf(out, "%*s%s%s%s\n", pad > 0 ? pad : 0, "", colour ? "\033[3m" : "", text,
            colour ? "\033[0m" : "");
}

static void print_boxed(const struct text_table *t, FILE *out, const int *widths, bool colour)
{
    int total = 1;
    for (unsigned c = 0; c < t->count; c++)
        total += widths[c] + 3;
    if (t->title)
        centred(out, t->title, total, colour);
    line(t, out, widths, "┏", "━", "┳", "┓");
    row(t, out, widths, SIZE_MAX, "┃", colour);
    line(t, out, widths, "┡", "━", "╇", "┩");
    for (size_t r = 0; r < t->row_count; r++) {
        if (!is_rule(t, r))
            row(t, out, widths, r, "│", colour);
        else if (r && r + 1 < t->row_count && !is_rule(t, r - 1)) /* no rule at an end or behind another */
            line(t, out, widths, "├", "─", "┼", "┤");
    }
    line(t, out, widths, "└", "─", "┴", "┘");
    if (t->caption)
        centred(out, t->caption, total, colour);
}

void table_print(const struct text_table *t, FILE *out, bool terminal, bool colour)
{
    int widths[TABLE_COLUMNS];
    for (unsigned c = 0; c < t->count; c++) {
        widths[c] = width_of(t->columns[c].name);
        for (size_t r = 0; r < t->row_count; r++)
            if (!is_rule(t, r))
                widths[c] = HUB_MAX(widths[c], width_of(t->rows[r].cells[c]));
    }
    if (terminal) {
        print_boxed(t, out, widths, colour);
        return;
    }
    if (t->title)
        fprintf(stderr, "%s\n", t->title);
    row(t, out, widths, SIZE_MAX, "", false);
    for (size_t r = 0; r < t->row_count; r++)
        if (!is_rule(t, r))
            row(t, out, widths, r, "", false);
    fflush(out);
    if (t->caption)
        fprintf(stderr, "%s\n", t->caption);
}

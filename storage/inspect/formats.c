/* The table of formats on the hub's side: see formats.h. */
#include "storage/inspect/formats.h"

#include "storage/inspect/protocol.h"
#include "storage/inspect/text.h"
#include "storage/model/format_marks.h"

#include <stdlib.h>

/* ---- reading ---- */

static void names_free(char **names)
{
    for (char **name = names; name && *name; name++)
        free(*name);
    free(names);
}

void hub_format_table_free(struct hub_format_table *table)
{
    for (uint32_t i = 0; table && i < table->count; i++) {
        struct hub_format_row *row = &table->rows[i];
        names_free(row->names);
        names_free(row->asides);
        free(row->name);
    }
    free(table);
}

/* One or two segments, none of them empty; a slash behind them is of a directory. */
static bool pattern_valid(struct hub_view pattern)
{
    const size_t size = pattern.size - hub_view_ends(pattern, "/");
    const char *slash = size ? memchr(pattern.data, '/', size) : NULL;
    const size_t rest = slash ? size - (size_t)(slash + 1 - pattern.data) : 1;
    return size > 0 && pattern.data[0] != '/' && !memchr(pattern.data, 0, size) && rest > 0 &&
           (!slash || !memchr(slash + 1, '/', rest));
}

static enum hub_status read_names(struct hub_cursor *c, char ***out, struct hub_error *err)
{
    const uint32_t count = hub_cursor_u32(c);
    if (c->failed || count > HUB_MAX_FORMAT_NAMES)
        return hub_fail(err, HUB_CORRUPT, "a malformed format");
    char **names = *out = calloc(count + (size_t)1, sizeof *names);
    for (uint32_t i = 0; names && i < count; i++) {
        const struct hub_view pattern = hub_cursor_text(c, 255);
        if (c->failed || !pattern_valid(pattern))
            return hub_fail(err, HUB_CORRUPT, "a malformed name pattern");
        names[i] = hub_view_dup(pattern);
        if (!names[i])
            names = NULL;
    }
    return hub_allocated(names, err);
}

static enum hub_status read_row(struct hub_cursor *c, struct hub_format_row *row, struct hub_error *err)
{
    const struct hub_view name = hub_cursor_text(c, 32);
    if (c->failed || !hub_name_valid(name))
        return hub_fail(err, HUB_CORRUPT, "a malformed format");
    row->name = hub_view_dup(name);
    HUB_TRY(hub_allocated(row->name, err));
    HUB_TRY(read_names(c, &row->names, err));
    HUB_TRY(read_names(c, &row->asides, err));
    return row->names[0] ? HUB_OK : hub_fail(err, HUB_CORRUPT, "a malformed format");
}

static enum hub_status read_rows(struct hub_frame_reader *r, struct hub_format_table *table,
                                 struct hub_error *err)
{
    for (;;) {
        struct hub_frame frame;
        HUB_TRY(hub_frame_next(r, &frame, err));
        if (!frame.type)
            return HUB_OK;
        if (frame.type != HUB_FRAME_FORMAT || table->count == HUB_MAX_FORMATS)
            return hub_fail(err, HUB_CORRUPT, "more than one table of formats");
        struct hub_cursor c = hub_cursor_of(frame.data, frame.size);
        HUB_TRY(read_row(&c, &table->rows[table->count++], err));
        if (hub_cursor_left(&c))
            return hub_fail(err, HUB_CORRUPT, "a malformed format");
    }
}

enum hub_status hub_format_table_read(const void *data, size_t size, struct hub_format_table **out,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_frame_reader_dispose) struct hub_frame_reader reader;
    struct hub_format_table *table = calloc(1, sizeof *table);
    void *room = NULL;
    size_t room_size = 0;
    hub_frame_reader_init(&reader);
    HUB_TRY(hub_allocated(table, err));
    enum hub_status st = hub_frame_room(&reader, &room, &room_size, err);
    if (!st && size > room_size)
        st = hub_fail(err, HUB_CORRUPT, "a table of %zu bytes", size);
    if (!st) {
        memcpy(room, data, size);
        hub_frame_filled(&reader, size);
        st = read_rows(&reader, table, err);
    }
    if (!st && (reader.in.size != reader.at || table->count == 0))
        st = hub_fail(err, HUB_CORRUPT, "a table of formats that is cut short");
    if (st)
        hub_format_table_free(table);
    else
        *out = table;
    return st;
}

/* ---- asking ---- */

const struct hub_format_row *hub_format_table_find(const struct hub_format_table *table, const char *name)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    return NULL;
}

bool hub_format_table_wants(const struct hub_format_table *table, const struct hub_format_row *format,
                            const char *path, bool directory)
{
    for (uint32_t i = 0; i < table->count; i++)
        for (char **name = table->rows[i].names; (!format || format == &table->rows[i]) && *name; name++)
            if (hub_mark_fits(*name, hub_view_of(path), directory))
                return true;
    return false;
}

bool hub_format_table_looks_into(const struct hub_format_table *table, const char *name)
{
    for (uint32_t i = 0; i < table->count; i++)
        for (char **pattern = table->rows[i].names; *pattern; pattern++)
            if (hub_mark_looks_into(*pattern, hub_view_of(name)))
                return true;
    return false;
}

bool hub_format_table_is_aside(const struct hub_format_table *table, const char *name)
{
    for (uint32_t i = 0; i < table->count; i++)
        for (char **aside = table->rows[i].asides; *aside; aside++)
            if (strcmp(*aside, name) == 0)
                return true;
    return false;
}

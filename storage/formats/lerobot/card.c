/* README.md as the hub of its makers shows it: what the front matter says of license, tags and name, and the
 * first paragraph behind it as the description. Of YAML the plain lines "key: value", "key: [a, b]" and "-
 * item" are read. */
#include "storage/formats/lerobot/lerobot.h"

#define MAX_CARD (64 * KIB)

static struct hub_view trim(struct hub_view text)
{
    while (text.size && strchr(" \t\r\"'", text.data[0]))
        text = (struct hub_view){text.data + 1, text.size - 1};
    while (text.size && strchr(" \t\r\"'", text.data[text.size - 1]))
        text.size--;
    return text;
}

static bool take_line(struct hub_view *rest, struct hub_view *line)
{
    const char *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    const size_t size = end ? (size_t)(end - rest->data) : rest->size;
    *line = (struct hub_view){rest->data, size};
    rest->data += size + (end != NULL);
    rest->size -= size + (end != NULL);
    return size || end;
}

/* "[a, b]" */
static void put_flow(struct hub_json *json, struct hub_view list)
{
    list = (struct hub_view){list.data + 1, list.size - 1};
    while (list.size && list.data[0] != ']') {
        size_t n = 0;
        while (n < list.size && list.data[n] != ',' && list.data[n] != ']')
            n++;
        hub_json_string(json, trim((struct hub_view){list.data, n}));
        n += n < list.size && list.data[n] == ',';
        list = (struct hub_view){list.data + n, list.size - n};
    }
}

/* Lines "- item" that follow. */
static void put_block(struct hub_json *json, struct hub_view *rest)
{
    for (struct hub_view line, before = *rest; take_line(rest, &line); before = *rest) {
        const struct hub_view item = trim(line);
        if (!hub_view_starts(item, "- ")) {
            *rest = before;
            return;
        }
        hub_json_string(json, trim((struct hub_view){item.data + 2, item.size - 2}));
    }
}

static void put_member(struct hub_json *json, const char *key, struct hub_view value, struct hub_view *rest)
{
    hub_json_key(json, hub_view_of(key));
    if (value.size && value.data[0] != '[') {
        hub_json_string(json, value);
        return;
    }
    hub_json_array(json);
    if (value.size)
        put_flow(json, value);
    else
        put_block(json, rest);
    hub_json_end_array(json);
}

/* From "---" to "---"; `rest` is then what follows. How many members. */
static unsigned put_front(struct hub_json *json, struct hub_view *rest)
{
    static const char *const keys[] = {"license", "pretty_name", "tags", "task_categories", "language"};
    bool seen[HUB_COUNT(keys)] = {false};
    struct hub_view line;
    unsigned kept = 0;
    if (!hub_view_starts(*rest, "---") || !take_line(rest, &line))
        return 0;
    while (take_line(rest, &line) && !hub_view_starts(line, "---"))
        for (size_t i = 0; i < HUB_COUNT(keys); i++) {
            const size_t size = strlen(keys[i]);
            if (seen[i] || line.size <= size || line.data[size] != ':' || !hub_view_starts(line, keys[i]))
                continue;
            seen[i] = true;
            put_member(json, keys[i], trim((struct hub_view){line.data + size + 1, line.size - size - 1}),
                       rest);
            kept++;
        }
    return kept;
}

/* Text that is no heading, picture, table or code. */
static bool is_prose(struct hub_view line)
{
    return line.size && !strchr("#<!|`[>", line.data[0]) && !hub_view_starts(line, "---");
}

static enum hub_status first_paragraph(struct hub_view rest, struct hub_buf *out, struct hub_error *err)
{
    for (struct hub_view line; take_line(&rest, &line);) {
        const struct hub_view text = trim(line);
        if (!is_prose(text) && out->size)
            break;
        if (!is_prose(text))
            continue;
        HUB_TRY(out->size ? hub_buf_add(out, " ", 1, err) : HUB_OK);
        HUB_TRY(hub_buf_add_view(out, text, err));
    }
    return HUB_OK;
}

enum hub_status hub_lerobot_send_card(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf text = HUB_BUF_INIT(MAX_CARD + 1), front = HUB_BUF_INIT(4 * MAX_CARD),
                   prose = HUB_BUF_INIT(MAX_CARD + 1);
    const uint32_t file = hub_files_find(files, "README.md");
    size_t got = 0;
    if (file == HUB_NONE || files->entries[file].size == 0)
        return HUB_OK;
    HUB_TRY(hub_buf_reserve(&text, MAX_CARD, err));
    const enum hub_status st = hub_files_read(files, file, 0, text.data, MAX_CARD, &got, err);
    if (st)
        return hub_is_local(st) ? HUB_OK : st; /* it describes, and is needed by nobody */
    struct hub_view rest = {text.data, got};
    struct hub_json json = hub_json_to(&front, err);
    hub_json_object(&json);
    const unsigned kept = put_front(&json, &rest);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    if (kept)
        HUB_TRY(hub_sink_fact(sink, "card", hub_buf_view(&front), err));
    HUB_TRY(first_paragraph(rest, &prose, err));
    return prose.size ? hub_sink_fact(sink, "description", hub_buf_view(&prose), err) : HUB_OK;
}

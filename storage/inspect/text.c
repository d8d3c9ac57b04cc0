/* UTF-8, one-line texts, paths, facts: see text.h. */
#include "storage/inspect/text.h"

#include "storage/io/fs.h"
#include "storage/model/record.h"
#include "storage/text/number.h"
#include "storage/text/utf8.h"

/* Bytes of the character at `at` other than NUL, 0 when there is none. */
static size_t character(struct hub_view text, size_t at)
{
    uint32_t code;
    const size_t n = hub_utf8_decode((struct hub_view){text.data + at, text.size - at}, &code);
    return n == 1 && code == 0 ? 0 : n;
}

bool hub_text_valid(struct hub_view text)
{
    return hub_utf8_valid(text) && (text.size == 0 || !memchr(text.data, '\0', text.size));
}

static bool is_control(uint8_t byte)
{
    return byte < 0x20 || byte == 0x7F;
}

bool hub_line_valid(struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (is_control((uint8_t)text.data[i]))
            return false;
    return hub_text_valid(text);
}

bool hub_path_valid(struct hub_view text)
{
    return hub_path_plain(text) && hub_text_valid(text);
}

bool hub_name_valid(struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return text.size > 0;
}

enum hub_status hub_text_mend(struct hub_view text, size_t limit, bool line, struct hub_buf *out,
                              struct hub_error *err)
{
    out->size = 0;
    HUB_TRY(hub_buf_reserve(out, 0, err));
    out->data[0] = '\0';
    for (size_t i = 0; i < text.size;) {
        const size_t n = character(text, i);
        const bool blank = line && n == 1 && is_control((uint8_t)text.data[i]);
        const struct hub_view add = n == 0  ? HUB_VIEW("\xEF\xBF\xBD")
                                    : blank ? HUB_VIEW(" ")
                                            : (struct hub_view){text.data + i, n};
        if (out->size + add.size > limit)
            break;
        HUB_TRY(hub_buf_add_view(out, add, err));
        i += n ? n : 1;
    }
    return HUB_OK;
}

static const struct fact_row {
    const char *key;
    enum hub_fact_kind kind;
    enum hub_json_kind json;
} facts[] = {
    {"era", HUB_FACT_STRING, 0},
    {"id", HUB_FACT_STRING, 0},
    {"stated_version", HUB_FACT_STRING, 0},
    {"description", HUB_FACT_STRING, 0},
    {"observation_space_text", HUB_FACT_STRING, 0},
    {"action_space_text", HUB_FACT_STRING, 0},
    {"observation_space_place", HUB_FACT_PLACE, 0},
    {"action_space_place", HUB_FACT_PLACE, 0},
    {"authors", HUB_FACT_JSON, HUB_JSON_ARRAY},
    {"metadata", HUB_FACT_JSON, HUB_JSON_OBJECT},
    {"observation_space", HUB_FACT_JSON, HUB_JSON_VALUE},
    {"action_space", HUB_FACT_JSON, HUB_JSON_VALUE},
    {"env_spec", HUB_FACT_JSON, HUB_JSON_VALUE},
    {"combined", HUB_FACT_JSON, HUB_JSON_ARRAY},
    {"splits", HUB_FACT_JSON, HUB_JSON_OBJECT},
    {"statistics", HUB_FACT_JSON, HUB_JSON_OBJECT},
    {"requirements", HUB_FACT_JSON, HUB_JSON_ARRAY},
    {"fps", HUB_FACT_JSON, HUB_JSON_VALUE},
    {"robot_type", HUB_FACT_JSON, HUB_JSON_VALUE},
    {"tasks", HUB_FACT_JSON, HUB_JSON_ARRAY},
    {"subtasks", HUB_FACT_JSON, HUB_JSON_ARRAY},
    {"dimensions", HUB_FACT_JSON, HUB_JSON_OBJECT},
    {"cameras", HUB_FACT_JSON, HUB_JSON_ARRAY},
    {"card", HUB_FACT_JSON, HUB_JSON_OBJECT},
    {"claimed_episodes", HUB_FACT_INTEGER, 0},
    {"claimed_steps", HUB_FACT_INTEGER, 0},
    {"claimed_in", HUB_FACT_STRING, 0},
};
_Static_assert(HUB_COUNT(facts) <= 32, "hub_fact_find promises an index below 32");

enum hub_fact_kind hub_fact_find(struct hub_view key, enum hub_json_kind *json, unsigned *index)
{
    for (unsigned i = 0; i < HUB_COUNT(facts); i++) {
        if (!hub_view_is(key, facts[i].key))
            continue;
        if (json)
            *json = facts[i].json;
        if (index)
            *index = i;
        return facts[i].kind;
    }
    return HUB_FACT_UNKNOWN;
}

bool hub_fact_valid(struct hub_view key, struct hub_view text)
{
    enum hub_json_kind json = HUB_JSON_VALUE;
    struct hub_location location;
    uint64_t number;
    if (text.size > HUB_MAX_TEXT)
        return false;
    switch (hub_fact_find(key, &json, NULL)) {
    case HUB_FACT_STRING:
        return hub_text_valid(text);
    case HUB_FACT_JSON:
        return hub_json_valid(text, json);
    case HUB_FACT_INTEGER:
        return hub_number_read(text, 999999999999999999U, &number);
    case HUB_FACT_PLACE:
        return hub_location_read(text, &location);
    case HUB_FACT_UNKNOWN:
        break;
    }
    return false;
}

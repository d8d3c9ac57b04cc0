/* Members of JSON documents: see put.h. */
#include "server/api/put.h"

#include "storage/ids/spell.h"
#include "storage/text/time.h"

void hub_put_time(struct hub_json *json, const char *key, int64_t unix_ns)
{
    char text[HUB_TIME_CHARS];
    hub_time_rfc3339_ms(unix_ns / 1000000, text);
    hub_json_put_text(json, key, text);
}

void hub_put_if_set(struct hub_json *json, const char *key, const char *text)
{
    if (text && *text)
        hub_json_put_text(json, key, text);
}

void hub_put_path(struct hub_json *json, const char *key, const char *path)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    if (hub_spell_path(hub_view_of(path), &text, NULL))
        text.size = 0;
    hub_json_put_text(json, key, text.size ? text.data : "");
}

void hub_put_json(struct hub_json *json, const char *key, struct hub_view text)
{
    if (text.size)
        hub_json_put_raw(json, key, text);
}

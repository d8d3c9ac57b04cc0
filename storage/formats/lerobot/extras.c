/* What RoboCasa keeps beside LeRobot's files, extras/episode_000012/ep_meta.json: the instruction, the
 * kitchen, the objects in it. States and models of the simulator beside it are listed as files. */
#include "storage/formats/lerobot/lerobot.h"
#include "storage/text/number.h"

#include <stdio.h>

#define EXTRAS "extras/episode_"
enum { MAX_KEPT = 32 * 1024 }; /* half of what an episode's attributes may take */

int64_t hub_lerobot_extra_of(struct hub_view path)
{
    const size_t start = sizeof EXTRAS - 1, end = sizeof "/ep_meta.json" - 1;
    uint64_t number;
    return hub_view_starts(path, EXTRAS) && hub_view_ends(path, "/ep_meta.json") && path.size > start + end &&
                   hub_number_read((struct hub_view){path.data + start, path.size - start - end}, INT64_MAX,
                                   &number)
               ? (int64_t)number
               : -1;
}

enum hub_status hub_lerobot_read_extra(struct hub_files *files, int64_t episode, json_t **out,
                                       struct hub_error *err)
{
    char path[80];
    struct hub_error why = {0};
    *out = NULL;
    snprintf(path, sizeof path, EXTRAS "%06lld/ep_meta.json", (long long)episode);
    const enum hub_status st = hub_json_file(files, path, NULL, out, &why);
    if (!st || st == HUB_NOT_FOUND || hub_is_local(st)) /* it describes, and is needed by nobody */
        return HUB_OK;
    return hub_pass(st, &why, err);
}

void hub_lerobot_put_extra(struct hub_json *json, const json_t *extra)
{
    const size_t size = json_dumpb(extra, NULL, 0, JSON_COMPACT);
    const json_t *lang = json_object_get(extra, "lang");
    if (json_object_size(extra) && size <= MAX_KEPT) {
        hub_json_key(json, HUB_VIEW("ep_meta"));
        hub_json_parsed(json, extra);
    } else if (json_is_string(lang)) {
        hub_json_put_text(json, "lang", json_string_value(lang));
    }
}

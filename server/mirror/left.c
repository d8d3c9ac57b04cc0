/* What rules leave out: see left.h. */
#include "server/mirror/left.h"

#include "storage/text/number.h"

#include <inttypes.h>
#include <stdio.h>

json_t *hub_left_document(const struct hub_remote_left *left)
{
    json_t *names = json_array();
    for (size_t i = 0; i < HUB_LEFT_OUT && left->names[i]; i++)
        (void)json_array_append_new(names, json_string(left->names[i]));
    return json_pack("{s:I, s:I, s:I, s:o}", "places", (json_int_t)left->places, "files",
                     (json_int_t)left->files, "bytes", (json_int_t)left->bytes, "names", names);
}

void hub_left_text(const json_t *left, const char *only, char *out, size_t size)
{
    const json_t *names = json_object_get(left, "names"), *name;
    const uint64_t places = hub_member_uint(left, "places"), files = hub_member_uint(left, "files");
    char bytes[HUB_SIZE_CHARS];
    size_t i;
    hub_number_size(hub_member_uint(left, "bytes"), bytes);
    *out = '\0';
    if (!places)
        return;
    int n = files ? snprintf(out, size, "%" PRIu64 " file%s (%s)", files, files == 1 ? "" : "s", bytes)
                  : snprintf(out, size, "%" PRIu64 " repositor%s", places, places == 1 ? "y" : "ies");
    n += snprintf(out + n, size - (size_t)n,
                  " left out, %s: ", only ? "not datasets of Minari" : "beside the datasets");
    json_array_foreach(names, i, name)
    {
        if ((size_t)n + 40 >= size)
            break;
        n += snprintf(out + n, size - (size_t)n, "%s%.80s", i ? ", " : "", json_string_value(name));
    }
    if ((size_t)n < size && i < places)
        snprintf(out + n, size - (size_t)n, ", ... (%" PRIu64 " places)", places);
}

enum hub_status hub_left_note(struct hub_mirror_work *w, const struct hub_remote_left *left,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = left->places ? hub_left_document(left) : NULL;
    HUB_CLEANUP(hub_freep) char *text = document ? json_dumps(document, JSON_COMPACT) : strdup("");
    char line[500];
    HUB_TRY(hub_allocated(text && (document || !left->places), err));
    if (document ? json_equal(document, w->rule.left_out) : !w->rule.left_out)
        return HUB_OK;
    HUB_TRY(hub_rule_left_out(w->mirrors->options.truth, w->rule.name, text, err));
    hub_left_text(document, hub_member_text(w->rule.spec, "only"), line, sizeof line);
    if (*line)
        hub_mirror_notify(w, HUB_MIRROR_LEFT, "", "%s", line);
    return HUB_OK;
}

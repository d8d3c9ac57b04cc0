/* Users of a proxy: see user.h. */
#include "server/http/user.h"

#include <stdio.h>

static enum hub_status check_name(const char *kind, struct hub_view name, struct hub_error *err)
{
    char who[HUB_WHO_CHARS];
    struct hub_who_parts parts;
    if (name.size > HUB_USER_NAME)
        return hub_fail(err, HUB_INVALID, "the proxy names a %s of more than %d bytes", kind, HUB_USER_NAME);
    const int size = snprintf(who, sizeof who, "%s:%.*s", kind, (int)name.size, name.data);
    return hub_who_read((struct hub_view){who, (size_t)size}, &parts, err);
}

/* A copy of the next group, terminated. */
static enum hub_status add_group(struct hub_request *request, struct hub_view name, size_t *used,
                                 struct hub_error *err)
{
    HUB_TRY(check_name("group", name, err));
    if (request->principal.group_count == HUB_MAX_GROUPS || name.size >= sizeof request->group_text - *used)
        return hub_fail(err, HUB_INVALID, "the proxy names more than %d groups, or %zu bytes of them",
                        HUB_MAX_GROUPS, sizeof request->group_text);
    char *text = request->group_text + *used;
    memcpy(text, name.data, name.size);
    text[name.size] = '\0';
    *used += name.size + 1;
    request->groups[request->principal.group_count++] = text;
    request->principal.groups = request->groups;
    return HUB_OK;
}

enum hub_status hub_request_name_user(struct hub_request *request, const char *user, const char *groups,
                                      struct hub_error *err)
{
    size_t used = 0;
    if (!user || !user[0])
        return HUB_OK;
    HUB_TRY(check_name("user", hub_view_of(user), err));
    while (groups && *groups) {
        const size_t size = strcspn(groups, ",");
        const struct hub_view name = hub_trimmed((struct hub_view){groups, size});
        if (name.size)
            HUB_TRY(add_group(request, name, &used, err));
        groups += size + (groups[size] == ',');
    }
    request->principal.user = user;
    return HUB_OK;
}

void hub_request_writer(const struct hub_request *request, char out[HUB_WRITER_CHARS])
{
    const struct hub_principal *principal = &request->principal;
    if (principal->token)
        snprintf(out, HUB_WRITER_CHARS, "token:%s", principal->token);
    else
        snprintf(out, HUB_WRITER_CHARS, "%s", request->local ? "local" : "anonymous");
}

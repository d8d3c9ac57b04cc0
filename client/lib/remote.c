/* Remotes as text: see minari/remote.h. */
#include "client/lib/internal.h"

#include <stdio.h>

/* "hub:8080", "127.0.0.1:8080", "hub.example.org": what people write when they mean a hub. */
static bool looks_like_a_host(const char *text)
{
    const struct hub_view rest = hub_view_of(text);
    return rest.size < 200 && strpbrk(text, ":.") && !strchr(text, '/') && hub_remote_hub.is_address(rest);
}

static enum hub_status parse(const char *text, struct minari_remote *out, struct hub_error *err)
{
    size_t size = strlen(text);
    while (size && text[size - 1] == '/')
        size--;
    struct hub_view rest;
    const struct hub_remote_row *row = hub_remote_find((struct hub_view){text, size}, &rest);
    const bool at = row && row->number == MINARI_REMOTE_HF; /* hf://ORG/REPO@REVISION */
    if (row && rest.size < 400 && strcspn(rest.data, " ?#\"<>\\^`{|}") >= rest.size &&
        (at || !memchr(rest.data, '@', rest.size)) && hub_utf8_printable(rest) &&
        (row->kind ? row->kind->is_address(rest) : rest.data[0] != '/')) {
        *out = (struct minari_remote){.kind = (enum minari_remote_kind)row->number};
        snprintf(out->text, sizeof out->text, "%s%.*s", row->scheme, (int)rest.size, rest.data);
        return HUB_OK;
    }
    if (row && row->number == MINARI_REMOTE_HUB && memchr(rest.data, '@', strcspn(rest.data, "/")))
        return hub_fail(err, HUB_INVALID, /* and does not show what may be a password */
                        "the address of a hub must not have a user or a password: http://HOST[:PORT], and "
                        "its token beside it");
    if (looks_like_a_host(text))
        return hub_fail(err, HUB_INVALID, "'%.200s' is not a remote: did you mean http://%.200s ?", text,
                        text);
    return hub_fail(err, HUB_INVALID,
                    "'%.200s' is not a remote: http://HOST[:PORT] or https://HOST[:PORT] (a hub), "
                    "gcp://BUCKET[/PREFIX], hf://ORG[/REPO[@REVISION]]",
                    text);
}

enum minari_status minari_remote_parse(const char *text, struct minari_remote *out, struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_remote own;
    return hub_client_report(parse(text ? text : "", out ? out : &own, &error), &error, err);
}

bool minari_remote_is_spoken(const struct minari_remote *remote)
{
    struct hub_view rest;
    const struct hub_remote_row *row = hub_remote_find(hub_view_of(remote->text), &rest);
    return row && row->kind;
}

static enum hub_status choose(const char *option, const char *hub_url, const char *minari_remote,
                              struct minari_remote *out, struct hub_error *err)
{
    const struct {
        const char *text, *origin;
    } candidates[] = {{option, "--remote"},
                      {hub_url, "MINARI_HUB_URL"},
                      {minari_remote, "MINARI_REMOTE"},
                      {"hf://farama-minari", "default"}};
    size_t i = 0;
    while (!candidates[i].text || !*candidates[i].text)
        i++;
    struct hub_error why = {0};
    if (parse(candidates[i].text, out, &why))
        return hub_fail(err, HUB_INVALID, "%s: %s", candidates[i].origin, why.detail);
    snprintf(out->origin, sizeof out->origin, "%s", candidates[i].origin);
    if (i == 2 && out->kind == MINARI_REMOTE_HUB)
        return hub_fail(err, HUB_INVALID,
                        "MINARI_REMOTE is '%.200s', but Python Minari, which reads it too, knows gcp:// "
                        "and hf:// only; a hub's URL belongs in MINARI_HUB_URL",
                        candidates[i].text);
    return HUB_OK;
}

enum minari_status minari_remote_choose(const char *option, const char *hub_url, const char *minari_remote,
                                        struct minari_remote *out, struct minari_error *err)
{
    struct hub_error error = {0};
    return hub_client_report(choose(option, hub_url, minari_remote, out, &error), &error, err);
}

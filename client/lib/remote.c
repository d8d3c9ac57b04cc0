/* Remotes as text: see minari/remote.h. */
#include "client/lib/internal.h"

#include <stdio.h>
#include <strings.h>

static const struct {
    const char *scheme;
    enum minari_remote_kind kind;
} schemes[] = {
    {"http://", MINARI_REMOTE_HUB},
    {"https://", MINARI_REMOTE_HUB},
    {"gcp://", MINARI_REMOTE_GCP},
    {"hf://", MINARI_REMOTE_HF},
};

static enum hub_status parse(const char *text, struct minari_remote *out, struct hub_error *err)
{
    size_t size = strlen(text);
    while (size && text[size - 1] == '/')
        size--;
    for (size_t i = 0; i < HUB_COUNT(schemes); i++) {
        const size_t head = strlen(schemes[i].scheme);
        if (size <= head || strncasecmp(text, schemes[i].scheme, head) != 0)
            continue;
        const struct hub_view rest = {text + head, size - head};
        if (rest.data[0] == '/' || rest.size >= 400 || strcspn(rest.data, " ?#\"<>\\^`{|}@") < rest.size ||
            !hub_utf8_printable(rest))
            break;
        *out = (struct minari_remote){.kind = schemes[i].kind};
        snprintf(out->text, sizeof out->text, "%s%.*s", schemes[i].scheme, (int)rest.size, rest.data);
        return HUB_OK;
    }
    return hub_fail(err, HUB_INVALID,
                    "'%.200s' is not a remote: http://HOST[:PORT] or https://HOST[:PORT] (a hub), "
                    "gcp://BUCKET[/PREFIX], hf://ORG[/REPO]",
                    text);
}

enum minari_status minari_remote_parse(const char *text, struct minari_remote *out, struct minari_error *err)
{
    struct hub_error error = {0};
    return hub_client_report(parse(text ? text : "", out, &error), &error, err);
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

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

/* HOST[:PORT] or [IPV6][:PORT] before the first slash. */
static bool authority_is_good(struct hub_view rest)
{
    const char *end = memchr(rest.data, '/', rest.size);
    struct hub_view left = {rest.data, end ? (size_t)(end - rest.data) : rest.size};
    size_t host = 0;
    if (left.size && left.data[0] == '[') {
        const size_t inner = strspn(left.data + 1, "0123456789abcdefABCDEF:.%");
        host = inner && inner + 1 < left.size && left.data[inner + 1] == ']' ? inner + 2 : 0;
    } else {
        while (host < left.size && !strchr(":[]", left.data[host]))
            host++;
    }
    if (!host || host == left.size)
        return host;
    const struct hub_view digits = {left.data + host + 1, left.size - host - 1};
    unsigned port = 0;
    for (size_t i = 0; i < digits.size && port <= 65535; i++)
        port = digits.data[i] >= '0' && digits.data[i] <= '9' ? port * 10 + (unsigned)(digits.data[i] - '0')
                                                              : 65536;
    return left.data[host] == ':' && port > 0 && port <= 65535;
}

/* "hub:8080", "127.0.0.1:8080", "hub.example.org": what people write when they mean a hub. */
static bool looks_like_a_host(const char *text)
{
    const struct hub_view rest = hub_view_of(text);
    return rest.size < 200 && strpbrk(text, ":.") && !strchr(text, '/') && authority_is_good(rest);
}

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
            !hub_utf8_printable(rest) || (schemes[i].kind == MINARI_REMOTE_HUB && !authority_is_good(rest)))
            break;
        *out = (struct minari_remote){.kind = schemes[i].kind};
        snprintf(out->text, sizeof out->text, "%s%.*s", schemes[i].scheme, (int)rest.size, rest.data);
        return HUB_OK;
    }
    if (looks_like_a_host(text))
        return hub_fail(err, HUB_INVALID, "'%.200s' is not a remote: did you mean http://%.200s ?", text,
                        text);
    return hub_fail(err, HUB_INVALID,
                    "'%.200s' is not a remote: http://HOST[:PORT] or https://HOST[:PORT] (a hub), "
                    "gcp://BUCKET[/PREFIX], hf://ORG[/REPO]",
                    text);
}

enum minari_status minari_remote_parse(const char *text, struct minari_remote *out, struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_remote own;
    return hub_client_report(parse(text ? text : "", out ? out : &own, &error), &error, err);
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

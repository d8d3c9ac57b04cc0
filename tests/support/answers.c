/* A transport without a network: see answers.h. */
#include "tests/support/answers.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHOWN = 64, ROWS = 64 };

struct hub_transport {
    struct hub_fetch *first;
};

static const struct answer *rows;
static bool used[ROWS];
static struct request {
    char url[1024], form[4096];
} requests[SHOWN];
static unsigned count;
static struct hub_transport_options options;
static char token[4096];

void answers_set(const struct answer *table)
{
    rows = table;
    memset(used, 0, sizeof used);
    count = 0;
}

unsigned answers_count(void)
{
    return count;
}

unsigned answers_count_of(const char *url)
{
    unsigned n = 0;
    for (unsigned i = 0; i < HUB_MIN(count, (unsigned)SHOWN); i++)
        n += strcmp(requests[i].url, url) == 0;
    return n;
}

const char *answers_url(unsigned number)
{
    return number < HUB_MIN(count, (unsigned)SHOWN) ? requests[number].url : "";
}

const char *answers_form(unsigned number)
{
    return number < HUB_MIN(count, (unsigned)SHOWN) ? requests[number].form : "";
}

const struct hub_transport_options *answers_options(void)
{
    return &options;
}

const char *answers_token(void)
{
    return token;
}

static const struct answer *find(const char *url)
{
    const struct answer *last = NULL;
    for (unsigned i = 0; rows && rows[i].url; i++) {
        if (strcmp(rows[i].url, url) != 0)
            continue;
        last = &rows[i];
        if (i < ROWS && !used[i]) {
            used[i] = true;
            break;
        }
    }
    return last;
}

static void note(const struct hub_fetch *fetch)
{
    if (count < SHOWN) {
        struct request *request = &requests[count];
        snprintf(request->url, sizeof request->url, "%s", fetch->url);
        snprintf(request->form, sizeof request->form, "%s", fetch->form ? fetch->form : "");
    }
    count++;
}

/* In two parts, as a body may come from a socket. */
static enum hub_status deliver(struct hub_fetch *fetch, struct hub_view text, struct hub_error *err)
{
    const size_t half = text.size / 2;
    const struct hub_view parts[] = {{text.data, half}, {text.data + half, text.size - half}};
    fetch->done = 0;
    if (fetch->head)
        HUB_TRY(fetch->head(fetch, &fetch->answer, err));
    if (fetch->limit && text.size > fetch->limit)
        return hub_fail(err, HUB_TOO_BIG, "more than %llu bytes", (unsigned long long)fetch->limit);
    for (size_t i = 0; i < HUB_COUNT(parts) && fetch->body; i++) {
        if (!parts[i].size)
            continue;
        HUB_TRY(fetch->body(fetch, parts[i], err));
        fetch->done += parts[i].size;
    }
    return HUB_OK;
}

static enum hub_status answer(struct hub_fetch *fetch, struct hub_error *err)
{
    const struct answer *row = find(fetch->url);
    note(fetch);
    fetch->answer = (struct hub_answer){0};
    if (!row)
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_NONE, "the test has no answer for %s", fetch->url);
    snprintf(fetch->answer.code, sizeof fetch->answer.code, "%s", row->code ? row->code : "");
    snprintf(fetch->answer.next, sizeof fetch->answer.next, "%s", row->next ? row->next : "");
    if (row->status)
        return hub_fail_as(err, row->status, row->problem, "%s", row->body ? row->body : "");
    return deliver(fetch, hub_view_of(row->body ? row->body : ""), err);
}

/* ---- what transport.h declares ---- */

enum hub_status hub_transport_new(const struct hub_transport_options *o, struct hub_transport **out,
                                  struct hub_error *err)
{
    options = *o;
    snprintf(token, sizeof token, "%s", o->token ? o->token : "");
    return hub_new(out, 1, sizeof **out, err);
}

void hub_transport_free(struct hub_transport *transport)
{
    free(transport);
}

enum hub_status hub_transport_set_token(struct hub_transport *transport, const char *text,
                                        struct hub_error *err)
{
    (void)transport, (void)err;
    snprintf(token, sizeof token, "%s", text ? text : "");
    return HUB_OK;
}

void hub_transport_submit(struct hub_transport *transport, struct hub_fetch *fetch)
{
    struct hub_fetch **last = &transport->first;
    while (*last)
        last = &(*last)->behind;
    fetch->behind = NULL;
    *last = fetch;
}

void hub_transport_drop(struct hub_transport *transport)
{
    transport->first = NULL;
}

enum hub_status hub_transport_drive(struct hub_transport *transport, const struct hub_drive *drive,
                                    struct hub_error *err)
{
    (void)drive;
    while (transport->first) {
        struct hub_fetch *fetch = transport->first;
        transport->first = fetch->behind;
        enum hub_status st = answer(fetch, err);
        if (fetch->finished)
            st = fetch->finished(fetch, st, err);
        if (st) {
            transport->first = NULL;
            return st;
        }
    }
    return HUB_OK;
}

enum hub_status hub_transport_get(struct hub_transport *transport, struct hub_fetch *fetch,
                                  struct hub_error *err)
{
    (void)transport;
    return answer(fetch, err);
}

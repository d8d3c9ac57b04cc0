/* Sessions of browsers in hub.db, and the key of links. */
#include "storage/truth/sessions.h"

#include "storage/text/time.h"
#include "storage/truth/hubdb.h"
#include "storage/truth/tokens.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static char state[64];
static struct hub_truth *truth;
static const struct hub_access_actor actor = {.who = "token:ann"};
static const struct hub_address nowhere = {0};

static void begin(void)
{
    const struct hub_truth_options options = {.state = state};
    snprintf(state, sizeof state, "/tmp/hub-sessions-XXXXXX");
    cr_assert(mkdtemp(state));
    DRAFT_OK(hub_truth_open(&options, &truth, err));
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(sessions, .init = begin, .fini = end);

static int64_t now(void)
{
    return hub_time_now_ns() / 1000000;
}

/* What a text is; a copy of its token. */
static enum hub_token_verdict find(const char *text, int64_t now_ms, struct hub_token *out)
{
    struct hub_access_table *table = NULL;
    const struct hub_token *token = NULL;
    DRAFT_OK(hub_truth_access_load(truth, NULL, &table, err));
    const enum hub_token_verdict verdict =
        hub_access_find_token(table, hub_view_of(text), &nowhere, now_ms, &token);
    if (token)
        *out = *token;
    hub_access_put(table);
    return verdict;
}

static struct hub_token add(const char *name, int64_t expires_ms)
{
    char text[HUB_TOKEN_TEXT + 1];
    struct hub_token token = {0};
    const struct hub_token_draft draft = {.name = name, .expires_ms = expires_ms};
    DRAFT_OK(hub_token_add(truth, &draft, &actor, text, err));
    cr_assert_eq(find(text, now(), &token), HUB_TOKEN_OK);
    return token;
}

Test(sessions, have_the_name_of_their_token)
{
    char text[HUB_TOKEN_TEXT + 1];
    struct hub_token session = {0};
    const struct hub_token token = add("ann", 0);
    DRAFT_OK(hub_session_begin(truth, &token, &actor, text, err));
    cr_assert_eq(find(text, now(), &session), HUB_TOKEN_OK);
    cr_expect_str_eq(session.name, "ann");
    cr_expect_str_eq(session.session_of, token.id);
    cr_expect_eq(find(text, now() + HUB_SESSION_MS + 1000, &session), HUB_TOKEN_EXPIRED);
    DRAFT_OK(hub_session_end(truth, &session, &actor, err));
    cr_expect_eq(find(text, now(), &session), HUB_TOKEN_UNKNOWN);
    DRAFT_OK(hub_session_end(truth, &session, &actor, err));
}

Test(sessions, end_with_their_token)
{
    char text[HUB_TOKEN_TEXT + 1], secret[HUB_TOKEN_TEXT + 1];
    struct hub_token session = {0};
    const struct hub_token ann = add("ann", 0), bob = add("bob", now() + 60000);
    DRAFT_OK(hub_session_begin(truth, &ann, &actor, text, err));
    DRAFT_OK(hub_token_revoke(truth, "ann", &actor, err));
    cr_expect_eq(find(text, now(), &session), HUB_TOKEN_UNKNOWN);
    DRAFT_OK(hub_session_begin(truth, &bob, &actor, text, err));
    cr_expect_eq(find(text, now(), &session), HUB_TOKEN_OK);
    cr_expect_eq(find(text, now() + 61000, &session), HUB_TOKEN_EXPIRED, "the token has expired by then");
    DRAFT_OK(hub_token_rotate(truth, "bob", 1000, &actor, secret, err));
    cr_expect_eq(find(text, now(), &session), HUB_TOKEN_OK, "as long as the token before");
    cr_expect_neq(find(text, now() + 1500, &session), HUB_TOKEN_OK);
}

Test(sessions, are_not_too_many)
{
    static char texts[HUB_SESSIONS_OF_A_TOKEN + 3][HUB_TOKEN_TEXT + 1];
    struct hub_token session = {0};
    const struct hub_token token = add("ann", 0), other = add("bob", 0);
    unsigned good = 0;
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        DRAFT_OK(hub_session_begin(truth, &token, &actor, texts[i], err));
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        good += find(texts[i], now(), &session) == HUB_TOKEN_OK;
    cr_expect_eq(good, HUB_SESSIONS_OF_A_TOKEN);
    DRAFT_OK(hub_session_begin(truth, &other, &actor, texts[0], err));
    cr_expect_eq(find(texts[0], now(), &session), HUB_TOKEN_OK, "those of others do not count");
}

Test(sessions, the_key_of_links_is_made_once)
{
    uint8_t first[HUB_LINK_KEY], second[HUB_LINK_KEY];
    uint8_t *keys[] = {first, second};
    struct hub_access_table *table = NULL;
    DRAFT_OK(hub_truth_access_load(truth, NULL, &table, err));
    cr_expect_null(hub_access_link_key(table));
    hub_access_put(table);
    for (size_t i = 0; i < HUB_COUNT(keys); i++) {
        DRAFT_OK(hub_truth_make_link_key(truth, err));
        DRAFT_OK(hub_truth_access_load(truth, NULL, &table, err));
        cr_assert_not_null(hub_access_link_key(table));
        memcpy(keys[i], hub_access_link_key(table), HUB_LINK_KEY);
        hub_access_put(table);
    }
    cr_expect_arr_eq(first, second, HUB_LINK_KEY);
}

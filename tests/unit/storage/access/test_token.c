/* storage/access/token.c: made, checked, found. */
#include "storage/access/access.h"
#include "storage/access/token.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct hub_address here = {.known = false};

static struct hub_view view(const char *text)
{
    return (struct hub_view){text, HUB_TOKEN_TEXT};
}

Test(token, have_their_form)
{
    char text[HUB_TOKEN_TEXT + 1], other[HUB_TOKEN_TEXT + 1];
    cr_assert_eq(hub_token_make(text, NULL), HUB_OK);
    cr_assert_eq(hub_token_make(other, NULL), HUB_OK);
    cr_expect_eq(strlen(text), 51);
    cr_expect(strncmp(text, "mh_", 3) == 0);
    cr_expect_eq(strspn(text + 3, "abcdefghijklmnopqrstuvwxyz234567"), 48);
    cr_expect_str_neq(text, other);
    cr_expect(hub_token_well_formed(hub_view_of(text)));
    cr_expect(hub_token_claims(HUB_VIEW("mh_")) && !hub_token_claims(HUB_VIEW("hf_abc")) &&
              !hub_token_claims(HUB_VIEW("MH_abc")));
}

/* One character that is another makes it none, wherever it stands. */
Test(token, are_whole_or_none)
{
    char text[HUB_TOKEN_TEXT + 2];
    cr_assert_eq(hub_token_make(text, NULL), HUB_OK);
    for (size_t i = 0; i < HUB_TOKEN_TEXT; i++)
        for (int c = 0; c < 256; c++) {
            const char was = text[i];
            text[i] = (char)c;
            cr_assert_eq(hub_token_well_formed(view(text)), (char)c == was, "byte %zu as %d", i, c);
            text[i] = was;
        }
    for (size_t size = 0; size < HUB_TOKEN_TEXT; size++)
        cr_expect_not(hub_token_well_formed((struct hub_view){text, size}));
    text[HUB_TOKEN_TEXT] = 'a';
    cr_expect_not(hub_token_well_formed((struct hub_view){text, HUB_TOKEN_TEXT + 1}));
    cr_expect_not(hub_token_well_formed((struct hub_view){NULL, 0}));
}

static struct hub_token known(const char *text, const char *name, int64_t expires_ms)
{
    struct hub_token token = {.expires_ms = expires_ms};
    cr_assert_eq(hub_token_digest(view(text), &token, NULL), HUB_OK);
    strcpy(token.name, name);
    return token;
}

Test(token, are_found)
{
    enum { MANY = 1000 };
    static char texts[MANY][HUB_TOKEN_TEXT + 1];
    static struct hub_token tokens[MANY];
    struct hub_access_table *table = NULL;
    const struct hub_token *found = NULL;
    char name[16], forged[HUB_TOKEN_TEXT + 1];
    for (int i = 0; i < MANY; i++) {
        cr_assert_eq(hub_token_make(texts[i], NULL), HUB_OK);
        snprintf(name, sizeof name, "t%d", i);
        tokens[i] = known(texts[i], name, i % 2 ? 1000 : 0);
    }
    cr_assert_eq(hub_access_new(NULL, 0, tokens, MANY, &table, NULL), HUB_OK);
    for (int i = 0; i < MANY; i++) {
        cr_assert_eq(hub_access_find_token(table, view(texts[i]), &here, 999, &found), HUB_TOKEN_OK);
        cr_expect_str_eq(found->name, tokens[i].name);
        cr_expect_eq(hub_access_find_token(table, view(texts[i]), &here, 1000, &found),
                     i % 2 ? HUB_TOKEN_EXPIRED : HUB_TOKEN_OK);
    }
    cr_assert_eq(hub_token_make(forged, NULL), HUB_OK);
    cr_expect_eq(hub_access_find_token(table, view(forged), &here, 0, &found), HUB_TOKEN_UNKNOWN);
    cr_expect_eq(hub_access_find_token(table, HUB_VIEW("mh_x"), &here, 0, &found), HUB_TOKEN_MALFORMED);
    cr_expect_eq(hub_access_find_token(table, HUB_VIEW(""), &here, 0, &found), HUB_TOKEN_MALFORMED);
    hub_access_put(table);
}

/* Another secret with the id of a token, and a check that is right. */
Test(token, need_the_whole_secret)
{
    char text[HUB_TOKEN_TEXT + 1], other[HUB_TOKEN_TEXT + 1];
    struct hub_access_table *table = NULL;
    const struct hub_token *found = NULL;
    cr_assert_eq(hub_token_make(text, NULL), HUB_OK);
    cr_assert_eq(hub_token_make(other, NULL), HUB_OK);
    struct hub_token token = known(text, "ann", 0);
    struct hub_token forged = known(other, "ann", 0);
    memcpy(forged.sha256, token.sha256, sizeof forged.sha256); /* its id is another */
    cr_assert_eq(hub_access_new(NULL, 0, &forged, 1, &table, NULL), HUB_OK);
    cr_expect_eq(hub_access_find_token(table, view(other), &here, 0, &found), HUB_TOKEN_UNKNOWN);
    cr_expect_eq(hub_access_find_token(table, view(text), &here, 0, &found), HUB_TOKEN_UNKNOWN);
    hub_access_put(table);
}

Test(token, are_good_in_their_networks)
{
    char text[HUB_TOKEN_TEXT + 1];
    struct hub_access_table *table = NULL;
    const struct hub_token *found = NULL;
    static const struct {
        const char *address;
        enum hub_token_verdict verdict;
    } cases[] = {{"10.1.2.3", HUB_TOKEN_OK},
                 {"::ffff:10.1.2.3", HUB_TOKEN_OK},
                 {"11.1.2.3", HUB_TOKEN_WRONG_NETWORK},
                 {"fd12::9", HUB_TOKEN_OK},
                 {"fe80::9", HUB_TOKEN_WRONG_NETWORK}};
    cr_assert_eq(hub_token_make(text, NULL), HUB_OK);
    struct hub_token token = known(text, "ann", 0);
    cr_assert_eq(hub_cidr_read(HUB_VIEW("10.0.0.0/8"), &token.networks[0], NULL), HUB_OK);
    cr_assert_eq(hub_cidr_read(HUB_VIEW("fd00::/8"), &token.networks[1], NULL), HUB_OK);
    token.network_count = 2;
    cr_assert_eq(hub_access_new(NULL, 0, &token, 1, &table, NULL), HUB_OK);
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_address address;
        cr_assert(hub_address_read(hub_view_of(cases[i].address), &address));
        cr_expect_eq(hub_access_find_token(table, view(text), &address, 0, &found), cases[i].verdict, "%s",
                     cases[i].address);
    }
    cr_expect_eq(hub_access_find_token(table, view(text), &here, 0, &found), HUB_TOKEN_WRONG_NETWORK);
    hub_access_put(table);
}

/* RFC 9110 13.2.2, cell by cell: If-Match, else If-Unmodified-Since; then If-None-Match, else
 * If-Modified-Since. */
#include "server/http/http.h"

#include <criterion/criterion.h>

#define SAME "Sun, 06 Nov 1994 08:49:37 GMT"
#define OLDER "Sun, 06 Nov 1994 08:49:36 GMT"
#define NEWER "Sun, 06 Nov 1994 08:49:38 GMT"

static enum hub_condition ask(enum hub_method method, const char *match, const char *unmodified,
                              const char *none, const char *modified)
{
    struct hub_param headers[4];
    unsigned n = 0;
    const char *const names[] = {"If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since"};
    const char *const values[] = {match, unmodified, none, modified};
    for (size_t i = 0; i < 4; i++)
        if (values[i])
            headers[n++] = (struct hub_param){hub_view_of(names[i]), hub_view_of(values[i])};
    const struct hub_request request = {.method = method, .headers = headers, .header_count = n};
    const struct hub_validators validators = {"\"e\"", 784111777};
    return hub_conditions(&request, &validators);
}

/* What each field alone says about a representation with the tag "e" of 08:49:37; `ignored`: malformed,
 * counts as absent. */
enum verdict { ABSENT, HOLDS, FAILS, IGNORED };

struct value {
    const char *text;
    enum verdict verdict;
};

static const struct value matches[] = {
    {NULL, ABSENT},   {"*", HOLDS},       {"\"e\"", HOLDS}, {"\"a\", \"e\"", HOLDS},
    {"\"a\"", FAILS}, {"W/\"e\"", FAILS}, {"e", HOLDS},     {"\"a\",W/\"e\" , \"b,c\"", FAILS},
    {"\"e", FAILS},   {"e\"", FAILS},     {"a, e", HOLDS},  {"W/e", FAILS},
    {"ee", FAILS}};
static const struct value unmodifieds[] = {
    {NULL, ABSENT}, {SAME, HOLDS}, {NEWER, HOLDS}, {OLDER, FAILS}, {"never", IGNORED}};
/* of If-None-Match and If-Modified-Since, FAILS means: the client has it already */
static const struct value nones[] = {{NULL, ABSENT},     {"*", FAILS},     {"\"e\"", FAILS},
                                     {"W/\"e\"", FAILS}, {"\"a\"", HOLDS}, {"\"a\",\"e\"", FAILS},
                                     {"e", FAILS},       {"ee", HOLDS},    {"a,e", FAILS}};
static const struct value modifieds[] = {
    {NULL, ABSENT}, {SAME, FAILS}, {NEWER, FAILS}, {OLDER, HOLDS}, {"never", IGNORED}};

static enum hub_condition expected(bool reads, enum verdict match, enum verdict unmodified, enum verdict none,
                                   enum verdict modified)
{
    if (match == FAILS || (match == ABSENT && unmodified == FAILS))
        return HUB_PRECONDITION_FAILED;
    if (none == FAILS)
        return reads ? HUB_NOT_MODIFIED : HUB_PRECONDITION_FAILED;
    if (none == ABSENT && reads && modified == FAILS)
        return HUB_NOT_MODIFIED;
    return HUB_SERVE;
}

Test(conditional, every_cell)
{
    static const enum hub_method methods[] = {HUB_GET, HUB_HEAD, HUB_PUT, HUB_POST, HUB_DELETE};
    for (size_t m = 0; m < HUB_COUNT(methods); m++)
        for (size_t a = 0; a < HUB_COUNT(matches); a++)
            for (size_t b = 0; b < HUB_COUNT(unmodifieds); b++)
                for (size_t c = 0; c < HUB_COUNT(nones); c++)
                    for (size_t d = 0; d < HUB_COUNT(modifieds); d++) {
                        bool reads = methods[m] == HUB_GET || methods[m] == HUB_HEAD;
                        enum hub_condition want = expected(reads, matches[a].verdict, unmodifieds[b].verdict,
                                                           nones[c].verdict, modifieds[d].verdict);
                        enum hub_condition got = ask(methods[m], matches[a].text, unmodifieds[b].text,
                                                     nones[c].text, modifieds[d].text);
                        cr_assert_eq(got, want, "method %d, %s | %s | %s | %s: %d, not %d", methods[m],
                                     matches[a].text, unmodifieds[b].text, nones[c].text, modifieds[d].text,
                                     got, want);
                    }
}

Test(conditional, list_on_several_lines)
{
    const struct hub_param headers[] = {{HUB_VIEW("If-None-Match"), HUB_VIEW("\"a\"")},
                                        {HUB_VIEW("if-none-match"), HUB_VIEW("\"e\"")}};
    const struct hub_request request = {.method = HUB_GET, .headers = headers, .header_count = 2};
    const struct hub_validators validators = {"\"e\"", -1};
    cr_assert_eq(hub_conditions(&request, &validators), HUB_NOT_MODIFIED);
}

Test(conditional, without_validators)
{
    const struct hub_param headers[] = {{HUB_VIEW("If-None-Match"), HUB_VIEW("\"e\"")},
                                        {HUB_VIEW("If-Modified-Since"), HUB_VIEW(NEWER)}};
    const struct hub_request request = {.method = HUB_GET, .headers = headers, .header_count = 2};
    const struct hub_validators validators = {NULL, -1};
    cr_assert_eq(hub_conditions(&request, &validators), HUB_SERVE);
}

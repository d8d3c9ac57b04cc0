/* Names of repos, and of their one commit. */
#include "server/facade/hf.h"
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(hf_repo, .init = wire_open, .fini = wire_close, .timeout = 60);

/* huggingface_hub's validate_repo_id */
Test(hf_repo, names)
{
    static const struct {
        const char *name;
        bool can_be;
    } cases[] = {
        {"door", true},        {"Door_2.1-b", true}, {"_x_", true},  {"0", true},      {"a.-b", true},
        {"", false},           {"-a", false},        {"a-", false},  {".a", false},    {"a.", false},
        {"a--b", false},       {"a..b", false},      {"..", false},  {"x.git", false}, {"x.gitt", true},
        {"git", true},         {"a b", false},       {"a/b", false}, {"a\\b", false},  {"a%b", false},
        {"t\xC3\xBCr", false},
    };
    char longest[98];
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_eq(hub_hf_can_be_named(hub_view_of(cases[i].name)), cases[i].can_be, "%s", cases[i].name);
    memset(longest, 'a', 97);
    cr_expect(hub_hf_can_be_named((struct hub_view){longest, 96}));
    cr_expect_not(hub_hf_can_be_named((struct hub_view){longest, 97}));
}

static void expect_revision(const char *revision, bool known)
{
    char target[256];
    snprintf(target, sizeof target, "/api/datasets/lab/arm/revision/%s", revision);
    const struct wire_answer answer = wire_ask(&(struct wire_case){target});
    cr_expect_eq(answer.status, known ? 200 : 404, "%s: %u", revision, answer.status);
    const char *code = wire_header("X-Error-Code");
    cr_expect(known ? !code : code && strcmp(code, "RevisionNotFound") == 0, "%s: %s", revision,
              code ? code : "none");
}

Test(hf_repo, revisions)
{
    static const struct {
        const char *name;
        bool known;
    } cases[] = {
        {"main", true},
        {"HEAD", true},
        {"refs%2Fheads%2Fmain", true},
        {"v2.1", true},
        {"refs%2Ftags%2Fv2.1", true},
        {"2.1", false},
        {"v2.0", false},
        {"Main", false},
        {"refs%2Fconvert%2Fparquet", false},
        {"refs%2Fheads%2Fv2.1", false},
        {"refs%2Ftags%2Fmain", false},
        {"0123456789012345678901234567890123456789", false},
        {"%3Cb%3E", false},
    };
    char sha[64], longer[64];
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        expect_revision(cases[i].name, cases[i].known);
    (void)wire_body("/api/datasets/lab/arm");
    snprintf(sha, sizeof sha, "%s", wire_between("\"sha\":\"", "\""));
    cr_expect_eq(strlen(sha), 40);
    cr_expect_eq(strspn(sha, "0123456789abcdef"), 40); /* so clients take it for a commit */
    expect_revision(sha, true);
    snprintf(longer, sizeof longer, "%s0", sha);
    expect_revision(longer, false);
    sha[7] = '\0';
    expect_revision(sha, true); /* as much as git takes for one */
    sha[6] = '\0';
    expect_revision(sha, false);
    /* the tag is that of LeRobot's format: no other repo has one */
    const struct wire_case others[] = {
        {"/api/datasets/lab/odd/revision/v2.1", 404, "{\"error\":\"Invalid rev id: v2.1;"}};
    wire_expect(others, HUB_COUNT(others));
}

Test(hf_repo, which)
{
    static const struct wire_case cases[] = {
        {"/api/datasets/lab/arm", 200, "\"id\":\"lab/arm\",\"author\":\"lab\""},
        {"/api/datasets/farama-minari/D4RL", 200,
         "\"id\":\"farama-minari/D4RL\""},                        /* a namespace of Minari */
        {"/api/datasets/D4RL/door", 200, "\"id\":\"D4RL/door\""}, /* any folder of two segments */
        {"/api/datasets/lab/none", 404, "{\"error\":\"Repository not found: lab/none\"}",
         "X-Error-Code: RepoNotFound"},
        {"/api/datasets/lab/ar", 404, NULL, "X-Error-Code: RepoNotFound"}, /* no prefix of a name */
        {"/api/datasets/lab/arm.git", 404, NULL, "X-Error-Code: RepoNotFound"},
        {"/api/datasets/none", 404, NULL, "X-Error-Code: RepoNotFound"},
        {"/api/datasets/lab/a%20b", 404, NULL, "X-Error-Code: RepoNotFound"},
        {"/api/datasets/%3Cb%3E/x", 404, "{\"error\":\"Repository not found: <b>/x\"}",
         "Content-Type: application/json; charset=utf-8"},
        {"/api/models/lab/arm", 404, NULL, "X-Error-Code: RepoNotFound"},
        {"/api/datasets/lab/arm/xet-read-token/main", 404, "{\"error\":\"",
         "!X-Error-Code"}, /* the repo is there */
        {"/api/repos/none", 403, "{\"error\":\"This hub does not take api/repos/none", NULL, NULL, HUB_POST,
         "{\"name\":\"x\"}"},
        {"/api/datasets/lab/arm/super-squash/main", 403, "{\"error\":\"", NULL, NULL, HUB_POST, "{}"},
        {"/api/datasets/lab/arm/refs", 405, "{\"error\":\"", NULL, NULL, HUB_DELETE},
        {"/api/telemetry/x", 404, "{\"error\":\"", NULL, NULL, HUB_HEAD},
    };
    wire_expect(cases, HUB_COUNT(cases) - 1);
    cr_expect_eq(wire_ask(&cases[HUB_COUNT(cases) - 1]).status, 404);
}

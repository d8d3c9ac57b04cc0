/* Lists of repos, what is said of one, refs and commits. */
#include "storage/text/json.h"
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(hf_info, .init = wire_open, .fini = wire_close, .timeout = 60);

/* Ids of all pages, a space behind each. */
static void read_ids(const char *query, char out[512])
{
    char target[2048];
    snprintf(target, sizeof target, "/api/datasets?%s", query);
    *out = '\0';
    for (unsigned pages = 0; pages < 10; pages++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
        const json_t *repo;
        size_t i;
        cr_assert_eq(hub_json_parse(wire_body(target), MIB, &page, NULL), HUB_OK, "%s", target);
        json_array_foreach(page, i, repo)
        {
            strncat(out, json_string_value(json_object_get(repo, "id")), 500 - strlen(out));
            strcat(out, " ");
        }
        const char *link = wire_header("Link");
        if (!link)
            return;
        cr_assert(strncmp(link, "<http://hub/", 12) == 0, "%s", link); /* an address that is whole */
        cr_assert(strstr(link, ">; rel=\"next\""), "%s", link);
        snprintf(target, sizeof target, "%.*s", (int)(strchr(link, '>') - link - 11), link + 11);
    }
    cr_expect(false, "%s: the pages do not end", query);
}

/* door-human-v0 is of no repo: Python Minari gives up at one that is called as its author. */
Test(hf_info, lists)
{
    static const struct {
        const char *query, *ids;
    } cases[] = {
        {"", "farama-minari/D4RL lab/arm lab/odd "},
        {"author=lab", "lab/arm lab/odd "},
        {"author=la", ""}, /* exactly */
        {"author=farama-minari&limit=1000&full=True", "farama-minari/D4RL "},
        {"search=ARM", "lab/arm "}, /* any case; "farama" holds it not */
        {"search=a&search=odd", "lab/odd "},
        {"search=nothing", ""},
        {"filter=LeRobot", "lab/arm "},
        {"filter=LeRobot&filter=other", ""},
        {"gated=False", "farama-minari/D4RL lab/arm lab/odd "},
        {"gated=true", ""},
        {"author=lab&expand=sha", "lab/arm lab/odd "},
        {"sort=lastModified&author=lab", "lab/odd lab/arm "}, /* the newest first; the loose files are new */
        {"sort=lastModified&direction=-1&author=lab", "lab/odd lab/arm "},
        {"sort=last_modified&direction=1&author=lab", "lab/arm lab/odd "},
        {"sort=downloads&author=lab", "lab/arm lab/odd "}, /* nobody counts them */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        static const char *const limits[] = {"", "&limit=1", "&limit=2"};
        for (size_t k = 0; k < HUB_COUNT(limits); k++) {
            char query[256], ids[512];
            snprintf(query, sizeof query, "%s%s", cases[i].query,
                     strstr(cases[i].query, "limit=") ? "" : limits[k]);
            read_ids(query, ids);
            cr_expect_str_eq(ids, cases[i].ids, "%s: %s", query, ids);
        }
    }
}

Test(hf_info, shapes)
{
    static const struct wire_case cases[] = {
        {"/api/datasets?search=nothing", 200, "[]", "Content-Type: application/json; charset=utf-8"},
        {"/api/datasets?limit=many", 400, "{\"error\":\""},
        {"/api/datasets?cursor=x", 400, "{\"error\":\""},
        {"/api/datasets", 405, "{\"error\":\"", NULL, NULL, HUB_PUT},
        {"/api/datasets?search=arm", 200,
         "\"private\":false,\"gated\":false,\"disabled\":false,\"downloads\":0,\"likes\":0,"
         "\"tags\":[\"LeRobot\"]"},
        {"/api/datasets/lab/odd", 200,
         "\"siblings\":[{\"rfilename\":\"<b onload='x'>&\\\"q\\\".txt\"},"
         "{\"rfilename\":\"a b+c%.txt\"},{\"rfilename\":\"empty.bin\"}]"},
        {"/api/datasets/lab/odd?blobs=True", 200, "{\"rfilename\":\"empty.bin\",\"size\":0,\"blobId\":\""},
        {"/api/datasets/lab/arm?expand=xetEnabled", 200, "\"rfilename\":\"meta/info.json\""},
        {"/api/datasets/lab/arm/refs", 200,
         "\"branches\":[{\"name\":\"main\",\"ref\":\"refs/heads/main\",\"targetCommit\":\""},
        {"/api/datasets/lab/arm/refs?include_prs=1", 200,
         "\"tags\":[{\"name\":\"v2.1\",\"ref\":\"refs/tags/v2.1\","},
        {"/api/datasets/lab/odd/refs", 200,
         "\"tags\":[],\"converts\":[],\"pullRequests\":[]}"}, /* all are required */
        {"/api/datasets/lab/none/refs", 404, NULL, "X-Error-Code: RepoNotFound"},
        {"/api/datasets/lab/arm/commits/main", 200, "\"message\":\"\",\"authors\":[]}]", "X-Total-Count: 1"},
        {"/api/datasets/lab/arm/commits/x", 404, NULL, "X-Error-Code: RevisionNotFound"},
        {"/api/whoami-v2", 200, "\"orgs\":[],\"auth\":{\"type\":\"access_token\",\"accessToken\":{"},
        {"/api/datasets/lab/arm/auth-check", 200, "{}"},
        {"/api/datasets/lab/none/auth-check", 404, NULL, "X-Error-Code: RepoNotFound"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* sha, targetCommit, X-Repo-Commit are one, as clients mix them; times end in Z and have milliseconds. */
Test(hf_info, one_commit)
{
    char sha[64], time[64];
    const struct hub_view body = wire_body("/api/datasets/lab/arm");
    cr_assert(body.size);
    snprintf(sha, sizeof sha, "%s", wire_between("\"sha\":\"", "\""));
    cr_expect_str_eq(wire_header("X-Repo-Commit"), sha);
    snprintf(time, sizeof time, "%s", wire_between("\"lastModified\":\"", "\""));
    cr_expect(strlen(time) == 24 && time[10] == 'T' && time[19] == '.' && time[23] == 'Z', "%s", time);
    cr_expect_eq(wire_count(wire_body("/api/datasets/lab/arm/refs"), sha), 2); /* branch and tag */
    cr_expect_eq(wire_count(wire_body("/api/datasets?search=arm"), sha), 1);
    cr_expect_eq(wire_count(wire_body("/api/datasets/lab/arm/commits/main"), sha), 1);
    (void)wire_body("/datasets/lab/arm/resolve/main/meta/info.json");
    cr_expect_str_eq(wire_header("X-Repo-Commit"), sha);
}

/* Namespaces in hub.db, each change with its row of the audit. */
#include "storage/truth/namespaces.h"

#include "storage/truth/audit.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static char state[64];
static struct hub_truth *truth;
static struct hub_roots roots;

static void begin(void)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    snprintf(state, sizeof state, "/tmp/hub-spaces-XXXXXX");
    cr_assert(mkdtemp(state));
    cr_assert_eq(hub_roots_add(&roots, "/data", NULL, NULL), HUB_OK);
    cr_assert_eq(hub_roots_add(&roots, "/more", "more", NULL), HUB_OK);
    DRAFT_OK(hub_truth_open(&options, &truth, err));
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(namespaces, .init = begin, .fini = end);

static enum hub_status add(void *user, const struct hub_namespace_row *row, struct hub_error *err)
{
    return hub_buf_addf(user, err, "%s %u %s; ", row->name, row->root, row->who);
}

static enum hub_status add_audit(void *user, const struct hub_audit *audit, struct hub_error *err)
{
    return hub_buf_addf(user, err, "%s %s %s; ", audit->who, audit->action, audit->object);
}

static void set(const char *name, uint32_t root, const char *who, bool made)
{
    const struct hub_namespace_row row = {.name = name, .who = who, .root = root};
    DRAFT_OK(hub_namespace_set(truth, &row, made, err));
}

Test(namespaces, are_set_listed_and_forgotten)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rows = HUB_BUF_INIT(64 * KIB), audit = HUB_BUF_INIT(64 * KIB);
    const struct hub_audit_query all = {0};
    uint32_t root = 7;
    set("more/arms", 1, "local", true);
    set("lab", 0, "token:ann", true);
    set("lab", 0, "token:bob", false);
    DRAFT_OK(hub_namespaces_each(truth, add, &rows, err));
    cr_expect_str_eq(rows.data, "lab 0 token:bob; more/arms 1 local; ");
    DRAFT_OK(hub_namespace_root(truth, "more/arms", &root, err));
    cr_expect_eq(root, 1);
    DRAFT_OK(hub_namespace_root(truth, "none", &root, err));
    cr_expect_eq(root, UINT32_MAX);
    DRAFT_OK(hub_namespace_forget(truth, "lab", "local", err));
    DRAFT_OK(hub_namespace_root(truth, "lab", &root, err));
    cr_expect_eq(root, UINT32_MAX);
    DRAFT_OK(hub_audit_each(truth, &all, add_audit, &audit, err));
    cr_expect_str_eq(audit.data, "local namespace-add more/arms; token:ann namespace-add lab; token:bob "
                                 "namespace-set lab; local namespace-delete lab; ");
}

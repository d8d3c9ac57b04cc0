/** Datasets of this machine, as minari-inspect tells of them: its drivers run in its sandbox, not here. */
#ifndef HUB_CLI_LOCAL_H
#define HUB_CLI_LOCAL_H

#include "client/cli/cli.h"
#include "storage/text/json.h"

struct local_dataset {
    struct minari_summary summary;
    json_t *object; /* what minari-inspect says, with the id; borrowed from the listing */
    char *ns, *name;
};

struct local_list {
    json_t *document;
    struct local_dataset *items; /* sorted as Minari sorts: namespace, name, version */
    size_t count;
};

/** Which program to run: what the variable names, else the one beside this one, else by its name from the
 * PATH. Borrowed until the next call. */
const char *local_program(const char *variable, const char *name);
/** Inspect ROOT/below ("" for all). CLI_NOT_FOUND without a message when nothing is there. An exit code. */
int local_inspect(const char *root, const char *below, struct local_list *out);
void local_dispose(struct local_list *list);

#endif

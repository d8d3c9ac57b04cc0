/* An editor changes the mode of a file of the hub first: it is a file like any other since, and is hashed
 * as it is. See edited.h. */
#include "server/mirror/edited.h"

#include "storage/base/digest.h"
#include "storage/base/order.h"
#include "storage/io/roots.h"
#include "storage/transfer/record.h"
#include "storage/truth/commits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum hub_status hub_edited_put(struct hub_truth *truth, const struct hub_hash_result *file,
                               const char *commit, const struct hub_file_facts *of,
                               char why[HUB_EDITED_BYTES], struct hub_error *err)
{
    char was[2 * HUB_SHA256_BYTES + 1];
    hub_hex(of->sha256, HUB_SHA256_BYTES, was);
    snprintf(why, HUB_EDITED_BYTES,
             "somebody changed it in place: it has %" PRIu64
             " bytes and the SHA-256 %.16s..., commit %.7s has "
             "%" PRIu64 " and %.16s...: `minari-hub check --deep --from DIR` says where that can come from, "
             "`minari-hub adopt` makes a commit of what is there",
             file->stamp.size, file->sha256, commit, of->size, was);
    const struct hub_damage damage = {.root = file->root,
                                      .path = file->path,
                                      .dataset = file->folder,
                                      .stamp = file->stamp,
                                      .served = true,
                                      .why = why};
    return hub_damage_put(truth, &damage, err);
}

/* Of the dataset that lies there. */
static bool read_head(struct hub_truth *truth, const struct hub_roots *roots,
                      const struct hub_hash_result *file, struct hub_record *record, struct hub_commit *head)
{
    if (hub_commit_head(truth, file->dataset, head, NULL) || head->kind == HUB_COMMIT_DELETE ||
        head->root != file->root || strcmp(head->path, file->folder) != 0)
        return false;
    HUB_CLEANUP(hub_freep) char *folder = hub_path_join(roots->roots[file->root].path, file->folder);
    return folder && !hub_record_read(folder, record, NULL) && strcmp(record->commit, head->id) == 0;
}

void hub_edited_look(struct hub_truth *truth, const struct hub_roots *roots,
                     const struct hub_hash_result *file)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    char want[2 * HUB_SHA256_BYTES + 1], why[HUB_EDITED_BYTES];
    if (!read_head(truth, roots, file, &record, &head))
        return;
    const char *name = file->path + strlen(file->folder) + (*file->folder != '\0');
    const struct hub_file_facts *of =
        record.count ? bsearch(&name, record.files, record.count, sizeof *of, hub_by_text) : NULL;
    if (!of || !of->has_sha256)
        return;
    hub_hex(of->sha256, HUB_SHA256_BYTES, want);
    if (strcmp(want, file->sha256) != 0)
        (void)!hub_edited_put(truth, file, head.id, of, why, NULL); /* the next check finds it as well */
}

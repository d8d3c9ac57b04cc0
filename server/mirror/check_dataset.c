/* One dataset of a check: see check_run.h. */
#include "server/mirror/check_run.h"

#include "storage/base/order.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

/* What a mirror or a download left of what it is. */
static void look_for_origin(struct hub_check_run *c)
{
    const struct hub_mirrors_options *o = &c->w->mirrors->options;
    HUB_CLEANUP(hub_freep)
    char *directory = hub_path_join(o->roots->roots[c->summary->root].path, c->summary->path);
    if (!hub_upstream_around(o->truth, c->summary->root, c->summary->path, true, &c->up, &c->below, NULL)) {
        const size_t size = strlen(c->summary->path) - c->below.size;
        c->copy = strndup(c->summary->path, c->below.size ? size - 1 : size);
        if (!c->copy)
            hub_upstream_dispose(&c->up);
        return;
    }
    if (!directory || hub_record_read(directory, &c->record, NULL))
        return;
    c->downloaded_ns = c->record.downloaded_s * 1000000000 + 999999999;
}

static void forget_origin(struct hub_check_run *c)
{
    hub_check_close_remote(c);
    hub_upstream_dispose(&c->up);
    hub_record_dispose(&c->record);
    free(c->copy);
    c->copy = NULL;
    c->below = HUB_VIEW("");
}

/* Look at the record of the commit that it should be of: files that are gone are found. False: its record is
 * gone. */
static bool begin_commit(struct hub_check_run *c, const struct hub_dataset *dataset)
{
    const struct hub_record *record = &c->record;
    if (!record->files || (*record->commit && strcmp(record->commit, c->commit) != 0)) {
        hub_check_note(c, HUB_RECORD_FILE, "missing", "its folder has no record of its commit");
        return false;
    }
    for (size_t i = 0; i < record->count; i++) {
        const struct hub_file_facts *file = &record->files[i];
        if (!bsearch(&file->path, dataset->files, dataset->file_count, sizeof *dataset->files, hub_by_text))
            hub_check_note_of(c, file, file->path, "missing",
                              "its commit has it, and it does not exist any more");
    }
    return true;
}

enum hub_status hub_check_dataset(struct hub_check_run *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    struct hub_error why = {0};
    if (hub_dataset_get(c->w->mirrors->options.catalog, c->summary, true, &dataset, &why)) {
        hub_check_note(c, "", "missing", why.detail);
        return HUB_OK;
    }
    hub_check_count(c, "datasets", 1);
    look_for_origin(c);
    if (c->commit && !begin_commit(c, dataset))
        c->commit = NULL;
    enum hub_status st = HUB_OK;
    c->root = c->summary->root;
    for (uint32_t i = 0; i < dataset->file_count && !st; i++)
        st = hub_check_file(c, &dataset->files[i], err);
    if (!st)
        st = hub_check_flush(c, err);
    forget_origin(c);
    if (c->mended && c->w->mirrors->options.scanner)
        hub_scanner_look(c->w->mirrors->options.scanner, c->summary->root, c->summary->path);
    c->mended = false;
    return st;
}

bool hub_check_is_requested(const json_t *ids, const char *id)
{
    const json_t *pattern;
    size_t i;
    json_array_foreach(ids, i, pattern)
    {
        const char *text = json_string_value(pattern);
        if (strcmp(text, id) == 0 || fnmatch(text, id, 0) == 0)
            return true;
    }
    return !ids;
}

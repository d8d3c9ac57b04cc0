/* Claims of directories that no plan stands by. A bid is made by names and first bytes; the plan looks
 * closer, and may decline. The files of such a directory are offered to the drivers one by one, like those
 * of any other. That it was declined is remembered, and under what the files looked like: when they change,
 * the plan is asked again before anything else is done, so that the datasets in it do not come and go. */
#include "storage/discover/claim.h"

#include <fcntl.h>
#include <stdlib.h>

static uint64_t signature_of(const struct hub_discovery *d, const struct hub_found_dataset *claim)
{
    uint64_t h = hub_hash(HUB_HASH_START, d->drivers, strlen(d->drivers) + 1);
    for (uint32_t i = 0; i < claim->format_count; i++)
        h = hub_hash(h, claim->formats[i], strlen(claim->formats[i]) + 1);
    for (uint32_t i = 0; i < claim->files->count; i++) {
        const struct hub_dataset_file *f = &claim->files->files[i];
        h = hub_hash(h, f->path, strlen(f->path) + 1);
        h = hub_hash(h, &f->stamp, sizeof f->stamp);
    }
    return h;
}

/* ---- the plan ---- */

struct claim_check {
    const struct hub_discovery *discovery;
    const struct hub_found_dataset *claim;
};

static enum hub_status open_file(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    const struct claim_check *a = user;
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(a->claim->path, a->claim->files->files[number].path);
    HUB_TRY(hub_allocated(path, err));
    return hub_roots_open(a->discovery->walk->roots, a->claim->root, path, O_RDONLY, fd, err);
}

static enum hub_status ask_plan(const struct hub_discovery *d, const struct hub_found_dataset *claim,
                                struct hub_error *err)
{
    const struct hub_fileset *files = claim->files;
    HUB_CLEANUP(hub_freep)
    struct hub_job_file *job_files = calloc(files->count + (size_t)1, sizeof *job_files);
    struct claim_check asking = {d, claim};
    struct hub_findings found = {0};
    const char *format;
    HUB_CLEANUP(hub_freep)
    char *place = hub_path_join(d->walk->roots->roots[claim->root].path, claim->path);
    HUB_TRY(hub_allocated(job_files && place, err));
    for (uint32_t i = 0; i < files->count; i++)
        job_files[i] = (struct hub_job_file){files->files[i].path, files->files[i].stamp.size, false};
    const struct hub_job job = {.files = job_files,
                                .file_count = files->count,
                                .hint = place,
                                .open_file = open_file,
                                .user = &asking,
                                .cancel = d->cancel};
    const enum hub_status st =
        hub_inspector_plan(d->inspector, job, claim->formats, claim->format_count, &format, &found, err);
    if (!st)
        hub_findings_dispose(&found);
    return st;
}

/* ---- remembering ---- */

/* What says nothing about the files: what was known of them stays. */
static bool is_trouble(enum hub_status st)
{
    return st == HUB_CHANGED || st == HUB_BUSY || st == HUB_AGAIN || st == HUB_TIMEOUT || st == HUB_IO ||
           st == HUB_NO_SPACE;
}

static enum hub_status ask(const struct hub_discovery *d, const struct hub_found_dataset *claim, bool known,
                           bool *declined, struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = ask_plan(d, claim, &why);
    *declined = st == HUB_NOT_ACCEPTABLE || (known && is_trouble(st));
    return st == HUB_CANCELLED || st == HUB_NO_MEMORY ? hub_fail(err, st, "%s", why.detail) : HUB_OK;
}

enum hub_status hub_claim_declined(const struct hub_discovery *d, const struct hub_found_dataset *claim,
                                   bool *declined, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(64 * KIB), note = HUB_BUF_INIT(64);
    uint64_t known;
    *declined = false;
    if (!d->recall)
        return ask(d, claim, false, declined, err);
    HUB_TRY(hub_claim_key(d->walk->roots, claim->root, claim->path, HUB_CLAIM_DECLINED, &key, err));
    if (d->recall(d->user, key.data, &note, NULL) || note.size != sizeof known)
        return HUB_OK;
    memcpy(&known, note.data, sizeof known);
    const uint64_t now = signature_of(d, claim);
    *declined = known == now;
    if (*declined)
        return HUB_OK;
    HUB_TRY(ask(d, claim, true, declined, err));
    const struct hub_view value = {(const char *)&now, *declined ? sizeof now : 0};
    (void)!d->remember(d->user, key.data, value, NULL); /* else it is asked again the next time */
    return HUB_OK;
}

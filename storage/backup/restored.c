/* See restored.h. */
#include "storage/backup/restored.h"

#include <stdlib.h>

static void dispose_repo(struct hub_restored_repo *repo)
{
    for (uint32_t i = 0; i < repo->missing_count; i++)
        free(repo->missing[i].source);
    free(repo->missing);
    free(repo->id);
    free(repo->why);
    free(repo->refs);
}

void hub_restore_report_dispose(struct hub_restore_report *report)
{
    hub_backup_dispose(&report->backup);
    for (uint32_t i = 0; i < report->repo_count; i++)
        dispose_repo(&report->repos[i]);
    free(report->repos);
    free(report->results);
    *report = (struct hub_restore_report){0};
}

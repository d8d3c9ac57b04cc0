/** Names of files that still come; for draft.c and upload.c. */
#ifndef HUB_DRAFTS_PART_H
#define HUB_DRAFTS_PART_H

enum { HUB_DRAFT_PART = 33 };
/** Of the file with this path; terminated. No two paths share one. */
void hub_draft_part_name(const char *path, char out[HUB_DRAFT_PART]);

#endif

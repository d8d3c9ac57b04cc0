/** Names of files that still come; for draft.c and upload.c. They are of one start of the machine: what came
 * before that is not known to be on the disk, and is not gone on with. */
#ifndef HUB_DRAFTS_PART_H
#define HUB_DRAFTS_PART_H

enum { HUB_PART_BOOT = 16, HUB_DRAFT_PART = HUB_PART_BOOT + 33 };
/** Of the file with this path; terminated. No two paths share one. */
void hub_draft_part_name(const char *path, char out[HUB_DRAFT_PART]);

#endif

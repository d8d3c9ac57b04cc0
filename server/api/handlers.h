/** The handlers that routes.c lists, each in the file of its resource. */
#ifndef HUB_API_HANDLERS_H
#define HUB_API_HANDLERS_H

#include "server/http/http.h"

struct hub_truth;

/* namespaces.c */
hub_handler hub_namespaces_list, hub_namespace_show;
/* datasets.c */
hub_handler hub_datasets_list, hub_datasets_columns, hub_dataset_show;
/* episodes.c: an episode's attributes and fields */
hub_handler hub_episodes_list, hub_episodes_columns, hub_episode_show;
/* field.c: rows of a field or a group of them, under its path; of several, named by ?fields=, and then
 * aligned by steps when start, stop, step or final is given */
hub_handler hub_field_data, hub_fields_data;
/* buckets.c, runs.c: curves of one field or several instead of rows; runs of equal values */
hub_handler hub_curves_data, hub_fields_curves_data, hub_runs_data;
/* sample.c, batch.c: windows drawn at random, and windows that are named */
hub_handler hub_sample_show, hub_batch_post;
/* files.c: whatever the status of the dataset */
hub_handler hub_files_list, hub_files_of_episodes, hub_files_page, hub_file_data;
/* archive.c: all of them as a tar */
hub_handler hub_archive_data;
/* resolve.c: no resource, but perhaps the folder of a dataset */
hub_handler hub_resolve_nowhere;
/* dataset_rows.c: rows of all episodes that are meant */
hub_handler hub_rows_data;
/* media.c: what the cameras saw of an episode, and one of them as an mp4 */
hub_handler hub_media_list, hub_media_data;
/* statistics.c, findings.c: what the numbers of a dataset come to; its odd episodes */
hub_handler hub_statistics_show, hub_findings_show;
hub_handler hub_poster_show;   /* poster.c: where a picture of a dataset is */
hub_handler hub_kerchunk_show; /* kerchunk.c: arrays where they lie */
/* spaces.c: the stored text of a dataset's spaces */
hub_handler hub_space_data;
/* status.c, jobs.c, problems.c: what the hub is doing, for its admin and for scripts; and a look through the
 * directories now, which is local, because it costs a walk of all roots */
hub_handler hub_status_show, hub_jobs_list, hub_job_show, hub_problems_list, hub_sweep_post;
/* jobs of programs beside the hub: local */
hub_handler hub_job_post, hub_job_do;
/* a check of files: local */
hub_handler hub_check_post;
hub_handler hub_adopt_post;
/* mirrors.c: rules; making and changing them is local */
hub_handler hub_mirrors_list, hub_mirror_show, hub_mirror_post, hub_mirror_do;
HUB_MUST_USE enum hub_status hub_mirror_metrics(struct hub_truth *truth, struct hub_buf *out,
                                                struct hub_error *err);
/* access/: tokens, access rules and the audit, for the admin */
hub_handler hub_tokens_list, hub_token_post, hub_token_do, hub_token_delete;
hub_handler hub_access_list, hub_access_show, hub_access_post, hub_access_delete, hub_audit_list;
hub_handler hub_link_post; /* links.c */

/* drafts/: datasets that are pushed, namespaces that are written */
hub_handler hub_namespace_put, hub_namespace_delete;
hub_handler hub_drafts_list, hub_drafts_post, hub_draft_show, hub_drafts_delete, hub_draft_files_list,
    hub_draft_file_show, hub_draft_file_put_done, hub_draft_file_delete, hub_draft_archive_done,
    hub_draft_commit;
hub_body_opener hub_draft_file_open, hub_draft_archive_open;
hub_handler hub_revisions_list, hub_dataset_delete, hub_dataset_patch;
/* health.c: liveness, readiness, metrics, the contract and a first page */
hub_handler hub_healthz_show, hub_readyz_show, hub_metrics_show, hub_openapi_show, hub_front_show;

#endif

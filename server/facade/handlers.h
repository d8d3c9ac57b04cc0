/** What other protocols ask of the hub; their rows are in server/service/routes.c. */
#ifndef HUB_FACADE_HANDLERS_H
#define HUB_FACADE_HANDLERS_H

#include "server/http/http.h"

/* Google Cloud Storage */
extern const struct hub_problem_shape hub_gcs_shape, hub_gcs_xml_shape;
hub_handler hub_gcs_buckets, hub_gcs_bucket; /* gcs_bucket.c */
hub_handler hub_gcs_nothing;                 /* gcs_bucket.c: where others take many requests at once */
hub_handler hub_gcs_list, hub_gcs_list_xml;  /* gcs_list.c */
hub_handler hub_gcs_top;                     /* gcs_folder.c: a bucket as a path, without a slash behind it */
hub_handler hub_gcs_folder, hub_gcs_path;    /* gcs_folder.c: a page, and an object or the way to one */
hub_handler hub_gcs_object, hub_gcs_media;   /* gcs_object.c: what is known of an object, and its bytes */

/* Hugging Face */
extern const struct hub_problem_shape hub_hf_shape;
hub_handler hub_hf_repos;                                                                    /* hf_list.c */
hub_handler hub_hf_repo_show, hub_hf_refs, hub_hf_commits, hub_hf_whoami, hub_hf_auth_check; /* hf_info.c */
hub_handler hub_hf_tree, hub_hf_paths;                                                       /* hf_tree.c */
hub_handler hub_hf_resolve;                                               /* hf_resolve.c */
hub_handler hub_hf_create, hub_hf_delete, hub_hf_move, hub_hf_check_card; /* hf_repos.c */
hub_handler hub_hf_preupload;                                             /* hf_preupload.c */
hub_handler hub_hf_xet_token;                                             /* hf_xet.c */
hub_handler hub_hf_lfs_batch, hub_hf_lfs_verify, hub_hf_lfs_done;         /* hf_lfs.c */
hub_handler hub_hf_commit_done;                                           /* hf_commit.c */
hub_handler hub_hf_lfs_part_done, hub_hf_lfs_join;                        /* hf_lfs_parts.c */
hub_body_opener hub_hf_lfs_open, hub_hf_lfs_part_open, hub_hf_commit_open;
hub_handler hub_hf_branch_add, hub_hf_branch_remove, hub_hf_tag_add, hub_hf_tag_remove; /* hf_refs.c */
/* hf_upstream.c: unknown repositories, other addresses of known ones, uploads */
hub_handler hub_hf_others, hub_hf_repo_others, hub_hf_uploads;
/** The refusal of a POST before its body comes, of what is not offered, or is of no repo here. */
HUB_MUST_USE enum hub_status hub_hf_refuse(const struct hub_request *request, struct hub_error *err);
/** The `not_allowed` of this protocol: 403, which its clients show, where Google's and ours know 405. */
enum hub_status hub_hf_refuse_method(const struct hub_request *request, const char *allow,
                                     struct hub_error *err);

#endif

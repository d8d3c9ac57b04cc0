/** The pages that routes.c lists, each in the file of its view. */
#ifndef HUB_PAGE_HANDLERS_H
#define HUB_PAGE_HANDLERS_H

#include "server/http/http.h"

/** How a page that cannot be made says so. */
extern const struct hub_problem_shape hub_page_shape;

hub_handler hub_page_front; /* catalogue.c: "/", as JSON unless a browser asks */
hub_handler hub_page_dataset, hub_page_episodes, hub_page_episode, hub_page_files, hub_page_statistics,
    hub_page_findings, hub_page_compare, hub_page_use, hub_page_operations;
hub_handler hub_page_revisions;                  /* revisions.c */
hub_handler hub_page_drafts, hub_page_draft;     /* drafts.c: for those who may write */
hub_handler hub_page_guide, hub_page_guide_page; /* guide.c: the list or a search, and a page */
hub_handler hub_page_login, hub_page_login_post, hub_page_logout; /* login.c */
hub_handler hub_page_asset;                                       /* assets.c */
hub_handler hub_page_report;                                      /* report.c: what browsers refuse */

#endif

/** Pages of the listing of files. */
#ifndef HUB_API_FILES_FILES_PAGE_H
#define HUB_API_FILES_FILES_PAGE_H

#include "server/http/http.h"

/** A page of the listing. */
HUB_MUST_USE enum hub_status hub_files_page(struct hub_request *request, struct hub_response *response,
                                            struct hub_error *err);

#endif

/** Which paths of a repo a request asks for, as Python and JavaScript write them. */
#ifndef HUB_FACADE_HF_PATHS_H
#define HUB_FACADE_HF_PATHS_H

#include "server/http/http.h"

/** Without the slash that the name of a folder may end with. */
struct hub_view hub_hf_without_slash(struct hub_view path);
/** As Python and JavaScript spell it. */
bool hub_hf_is_true(struct hub_view value);

/** `path` is terminated. */
typedef enum hub_status hub_hf_path_each(void *user, struct hub_view path, struct hub_error *err);
/** Each path of the body, a form or JSON, in its order; `expand` is set before the first. */
HUB_MUST_USE enum hub_status hub_hf_paths_read(const struct hub_request *request, bool *expand,
                                               hub_hf_path_each *each, void *user, struct hub_error *err);

#endif

/** Members of JSON documents that several resources have. */
#ifndef HUB_API_PUT_H
#define HUB_API_PUT_H

#include "storage/text/json.h"

/** A member with a time: RFC 3339 UTC. */
void hub_put_time(struct hub_json *json, const char *key, int64_t unix_ns);
/** A member with a text, left out when it is NULL or empty. */
void hub_put_if_set(struct hub_json *json, const char *key, const char *text);
/** A member that is JSON, proven when it was stored; left out when empty. */
void hub_put_json(struct hub_json *json, const char *key, struct hub_view text);
/** A member with a file's path, spelled so that it is text and can be asked for. */
void hub_put_path(struct hub_json *json, const char *key, const char *path);

#endif

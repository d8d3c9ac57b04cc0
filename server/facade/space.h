/**
 * namespace_metadata.json as the protocols show it: what lies in the namespace's folder, if anything, and the
 * ids of all datasets and namespaces in it, by which Python Minari finds them.
 */
#ifndef HUB_FACADE_SPACE_H
#define HUB_FACADE_SPACE_H

#include "server/facade/objects.h"

/** Append the text of the object of a namespace ("D4RL/door/namespace_metadata.json"). Blocking. */
HUB_MUST_USE enum hub_status hub_space_text(const struct hub_objects *objects,
                                            const struct hub_object *object, struct hub_buf *out,
                                            int64_t *modified_ns, struct hub_error *err);

/** Answer with such a text, by condition and range; takes `text`. `tag` NULL: its hash is the ETag. */
HUB_MUST_USE enum hub_status hub_space_send(struct hub_request *request, struct hub_buf *text,
                                            int64_t modified_ns, const char *tag,
                                            struct hub_response *response, struct hub_error *err);

#endif

/** Namespaces of a hub, for the push of a dataset: what they say of themselves comes along. */
#ifndef HUB_CLIENT_NAMESPACES_H
#define HUB_CLIENT_NAMESPACES_H

#include "client/lib/internal.h"

/** Write one on a hub: HUB_EXISTS where it is there and must not be, HUB_NOT_FOUND where it must and is
 * not. */
HUB_MUST_USE enum hub_status hub_namespace_send(struct minari_client *client, const char *name,
                                                const char *metadata, enum hub_sends_over over,
                                                struct hub_error *err);

/** Gets one line for a person. */
typedef void (*hub_namespace_note)(void *user, const char *line);
/**
 * Send what the namespaces of a dataset that is pushed say of themselves: the files of the folders above its
 * own, where these are called as the levels of its id are. One that the hub has stays. A note says what was
 * sent, and what could not be, which is no error.
 * @param path  of the dataset's folder
 */
void hub_namespaces_carry(struct minari_client *client, const char *path, const char *id,
                          hub_namespace_note note, void *user);

#endif

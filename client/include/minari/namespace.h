/**
 * Namespaces: the folders that datasets lie in, and what they say of themselves in namespace_metadata.json,
 * as Python Minari reads and writes it. A namespace exists when its folder has that file.
 *
 * Each function takes a client and a root. With a client it is about a hub, and the root is not looked at;
 * where the client is NULL, about the datasets of this machine below `root`. Other remotes than hubs are
 * MINARI_UNSUPPORTED. A client is used by one thread at a time. Texts that a callback gets are borrowed until
 * it returns.
 *
 * A name is what ids begin with, "lab/arms": letters, digits, "-" and "_", two of them at least, with "/"
 * between its parts; another one is MINARI_INVALID. Changes of a hub want the right to write below the name:
 * MINARI_DENIED without it.
 */
#ifndef MINARI_NAMESPACE_H
#define MINARI_NAMESPACE_H

#include <minari/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct minari_namespace {
    const char *name;
    const char *metadata;    /* a JSON object; NULL: its file cannot be read */
    const char *description; /* of it; NULL: it has none */
    const char *problem;     /* why its file cannot be read; NULL: it can */
};

typedef int (*minari_namespace_fn)(const struct minari_namespace *space, void *user);

/** Call `fn` once a namespace, by their names; non-zero stops with MINARI_CANCELLED. A root that is not there
 * has none. */
MINARI_API enum minari_status minari_namespace_each(struct minari_client *client, const char *root,
                                                    minari_namespace_fn fn, void *user,
                                                    struct minari_error *err);

/**
 * Create one, with its folder. Namespaces that it lies in become "{}" where they are not there.
 * @param metadata  a JSON object of at most 1 MiB; NULL: "{}"
 * @return MINARI_EXISTS: it is there, or a dataset is in its place; MINARI_INVALID for other JSON
 */
MINARI_API enum minari_status minari_namespace_create(struct minari_client *client, const char *root,
                                                      const char *name, const char *metadata,
                                                      struct minari_error *err);
/** Say something else of one that is there: `metadata` takes the place of all that it said. MINARI_NOT_FOUND:
 * it is not there. */
MINARI_API enum minari_status minari_namespace_update(struct minari_client *client, const char *root,
                                                      const char *name, const char *metadata,
                                                      struct minari_error *err);
/** Delete one with its folder. MINARI_NOT_FOUND: it is not there. MINARI_EXISTS: it is not empty, and the
 * detail names what is in it. */
MINARI_API enum minari_status minari_namespace_delete(struct minari_client *client, const char *root,
                                                      const char *name, struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif

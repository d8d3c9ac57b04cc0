/** Where datasets come from, as people write it: a hub's URL, gcp://bucket[/prefix], hf://org[/repo]. */
#ifndef MINARI_REMOTE_H
#define MINARI_REMOTE_H

#include <minari/error.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum minari_remote_kind { MINARI_REMOTE_HUB, MINARI_REMOTE_GCP, MINARI_REMOTE_HF };

struct minari_remote {
    enum minari_remote_kind kind;
    char text[512];  /* without a trailing slash; of a hub: its base URL */
    char origin[32]; /* its source: "--remote", "MINARI_HUB_URL", "MINARI_REMOTE", "default" */
};

/** MINARI_INVALID with what is accepted, for anything else. */
MINARI_API enum minari_status minari_remote_parse(const char *text, struct minari_remote *out,
                                                  struct minari_error *err);

/** Whether this version can talk to such a remote; others are known by name only. */
MINARI_API bool minari_remote_is_spoken(const struct minari_remote *remote);

/**
 * The remote to use: the option, then MINARI_HUB_URL, then MINARI_REMOTE (gcp and hf only, as Python Minari
 * reads it), then hf://farama-minari. Empty texts count as not given.
 *
 * @param option, hub, minari  the values, or NULL
 */
MINARI_API enum minari_status minari_remote_choose(const char *option, const char *hub, const char *minari,
                                                   struct minari_remote *out, struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif

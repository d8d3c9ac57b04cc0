/**
 * What tests of mirrors need: a state directory with a catalogue, two roots, and mirrors without threads.
 * kit.c takes the place of the scanner, and counts the sweeps that it is asked for.
 */
#ifndef HUB_TEST_MIRROR_KIT_H
#define HUB_TEST_MIRROR_KIT_H

#include "server/mirror/work.h"

/** `mirrors` works below `folder`: "state", and the roots "root" and "named", which is called so. */
struct kit {
    char folder[48];
    struct hub_roots roots;
    struct hub_catalog *catalog;
    struct hub_truth *truth;
    struct hub_mirrors mirrors;
};
extern struct kit kit;
extern unsigned kit_looks;     /* that were asked for */
extern char kit_told[16][256]; /* "kind id detail" of each event */
extern unsigned kit_told_count;

void kit_begin(void);
void kit_end(void);

/** A path below the folder, until the eighth call after this one. */
const char *kit_path(const char *path);
void kit_write(const char *path, const char *text);
bool kit_is_there(const char *path);

/** JSON in which ' stands for ". */
json_t *kit_json(const char *text);
/** A rule of this spec, due now. */
void kit_put_rule(const char *name, const char *spec);
/** "kind target payload;" of each job that waits. */
const char *kit_jobs(const char *kind);

#endif

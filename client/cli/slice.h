/** "10:20", "::-2", "-1": rows as Python writes them. */
#ifndef HUB_CLI_SLICE_H
#define HUB_CLI_SLICE_H

#include <minari/dataset.h>

/** False for anything else; a step of 0 is none. */
bool slice_parse(const char *text, struct minari_slice *out);

#endif

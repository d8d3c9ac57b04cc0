/* Which store this program reads from. In a file of its own: a test program brings another. */
#include "storage/read/read.h"

const struct hub_store_kind *const hub_store_kind = &hub_store_local;

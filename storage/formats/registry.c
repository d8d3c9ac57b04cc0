/* The formats the inspector knows. Order breaks ties between equal bids. */
#include "storage/formats/format.h"

const struct hub_format *const hub_formats[] = {
    NULL,
};

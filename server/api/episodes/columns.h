/** What is known of all episodes of a dataset, as a table. */
#ifndef HUB_API_EPISODES_COLUMNS_H
#define HUB_API_EPISODES_COLUMNS_H

#include "server/http/http.h"

/** GET …/episodes?columns= */
hub_handler hub_episodes_columns;

#endif

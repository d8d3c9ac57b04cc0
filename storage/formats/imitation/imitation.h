/* Shared by the files of the driver: trajectories in an archive (imitation.c), and in a table that was
 * pushed to a hub (pushed.c). */
#ifndef HUB_FORMATS_IMITATION_H
#define HUB_FORMATS_IMITATION_H

#include "storage/formats/kit/kit.h"

/** Of the files of a dataset: are they those of a table? */
bool imitation_is_pushed(const struct hub_files *files);
int imitation_claim_pushed(struct hub_files *listing);
HUB_MUST_USE enum hub_status imitation_plan_pushed(struct hub_files *files, struct hub_sink *sink,
                                                   struct hub_error *err);
HUB_MUST_USE enum hub_status imitation_inspect_pushed(struct hub_files *files, const struct hub_part *part,
                                                      struct hub_sink *sink, struct hub_error *err);

#endif

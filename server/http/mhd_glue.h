/** What libmicrohttpd calls for connections and requests; for mhd_daemon.c alone. */
#ifndef HUB_HTTP_MHD_GLUE_H
#define HUB_HTTP_MHD_GLUE_H

#include "server/http/mhd_answer.h"

enum MHD_Result hub_mhd_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *upload_data,
                                   size_t *upload_size, void **con_cls);
void *hub_mhd_on_target(void *cls, const char *target, struct MHD_Connection *connection);
void hub_mhd_on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                          enum MHD_RequestTerminationCode why);
void hub_mhd_on_connection(void *cls, struct MHD_Connection *connection, void **context,
                           enum MHD_ConnectionNotificationCode what);
size_t hub_mhd_leave_escaped(void *cls, struct MHD_Connection *connection, char *text);

#endif

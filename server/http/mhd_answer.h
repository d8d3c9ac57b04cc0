/** Answers of exchanges, given to libmicrohttpd. Only mhd_daemon.c, mhd_glue.c, mhd_header.c and mhd_answer.c
 * know the library. */
#ifndef HUB_HTTP_MHD_ANSWER_H
#define HUB_HTTP_MHD_ANSWER_H

#include "server/http/exchange.h"

#include <microhttpd.h>

/** What the library may use for a connection: the header of a request, its parts once more, and the header of
 * the answer. It is zeroed for every request. */
#define HUB_MHD_BYTES (16 * KIB)

/** Queue the exchange's response: a buffer, a file or a stream. On an event thread. */
HUB_MUST_USE enum MHD_Result hub_mhd_queue(struct hub_exchange *x);

/** Say on the socket itself what the library closes the connection for without a word. Nothing of an answer
 * is on its way. */
void hub_mhd_refuse_header(const struct hub_exchange *x, const char *detail);

/** Send the problem of x->response now, past the library, which answers only behind a body. */
void hub_mhd_answer_early(const struct hub_exchange *x);

/** The connection rests until hub_mhd_resume, on any thread. */
void hub_mhd_suspend(struct hub_exchange *x);
/** x is the event thread's again. */
void hub_mhd_resume(struct hub_exchange *x);

#endif

/**
 * A transport without a network: linked into a test it takes the place of storage/net/transport.c, and
 * answers from a table of the test. A URL that has no row is HUB_INVALID, so that a wrong one fails the test.
 */
#ifndef HUB_TESTS_ANSWERS_H
#define HUB_TESTS_ANSWERS_H

#include "storage/net/transport.h"

struct answer {
    const char *url;
    const char *body;              /* NULL: "" */
    const char *next;              /* URL of the Link header, or NULL */
    enum hub_status status;        /* HUB_OK: `body` is delivered */
    enum hub_problem_code problem; /* of a failure */
    const char *code;              /* its X-Error-Code, or NULL */
};

/** The last row has no URL. Of several rows of one URL the first that was not used yet answers, then the last
 * of them. */
void answers_set(const struct answer *rows);
/** How many requests there were, of all and of one URL. */
unsigned answers_count(void);
unsigned answers_count_of(const char *url);
/** The URL, and the form, of the nth request since answers_set; "" beyond 64 of them. */
const char *answers_url(unsigned number);
const char *answers_form(unsigned number);
/** The options of the transport that was opened last, and its token by now, or "". */
const struct hub_transport_options *answers_options(void);
const char *answers_token(void);

#endif

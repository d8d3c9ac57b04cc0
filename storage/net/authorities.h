/** The authorities whose certificates a connection trusts. */
#ifndef HUB_NET_AUTHORITIES_H
#define HUB_NET_AUTHORITIES_H

#include <curl/curl.h>
#include <stdlib.h>

/** Trust those in the file that SSL_CERT_FILE names, as OpenSSL and the program curl do, in the place of the
 * system's; without it libcurl takes these. */
static inline void hub_set_authorities(CURL *easy)
{
    const char *file = getenv("SSL_CERT_FILE");
    if (file && *file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, file);
}

#endif

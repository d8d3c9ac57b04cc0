/* See versions.h. The libraries of floors that keep their headers to themselves are asked through those
 * floors. */
#include "server/versions.h"
#include "server/api/app.h"
#include "server/http/server.h"

#include <jansson.h>
#include <openssl/crypto.h>

void hub_versions_print(FILE *out)
{
    fprintf(out, "minari-hub %s\n", HUB_VERSION);
    fprintf(out, "libmicrohttpd %s\n", hub_http_library());
    fprintf(out, "SQLite %s\n", hub_catalog_library());
    fprintf(out, "%s\n", OpenSSL_version(OPENSSL_VERSION));
    fprintf(out, "jansson %s\n", jansson_version_str());
}

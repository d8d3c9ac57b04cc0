/* Facts of files: see file_facts.h. */
#include "storage/model/file_facts.h"

#include "storage/text/json.h"

#include <stdlib.h>

void hub_file_facts_dispose(struct hub_file_facts *facts)
{
    free((char *)facts->path);
    free((char *)facts->etag);
    free((char *)facts->pieces.data);
    json_decref(facts->custom);
}

const char *hub_file_digest_name(const struct hub_file_facts *facts)
{
    static const char *const names[] = {
        [HUB_NO_DIGEST] = "no digest",
        [HUB_GIT_SHA1] = "git SHA-1",
        [HUB_BY_CRC32C] = "CRC-32C",
        [HUB_BY_MD5] = "MD5",
    };
    return facts->has_sha256 ? "SHA-256" : names[facts->other];
}

bool hub_file_same(const struct hub_file_facts *then, const struct hub_file_facts *now)
{
    if (then->size != now->size)
        return false;
    if (now->has_sha256)
        return then->has_sha256 && memcmp(then->sha256, now->sha256, HUB_SHA256_BYTES) == 0;
    if (now->other)
        return then->other == now->other && memcmp(then->sum, now->sum, HUB_SHA1_BYTES) == 0;
    return now->generation && then->generation == now->generation;
}

/* Reserved words of paths: see reserved.h. */
#include "server/api/reserved.h"

static const struct {
    const char *word, *use;
} words[] = {
    {"oauth", "signing in"},
    {"oauth2", "signing in"},
    {"xet", "the storage protocol of Hugging Face"},
    {"upload", "uploads of Google Cloud Storage"},
    {"resumable", "uploads of Google Cloud Storage"},
};

static const char *use_of(struct hub_view word)
{
    for (size_t i = 0; i < HUB_COUNT(words); i++)
        if (hub_view_is(word, words[i].word))
            return words[i].use;
    return "clients of other servers";
}

enum hub_status hub_refuse_reserved(const struct hub_request *request, const char *allow,
                                    struct hub_error *err)
{
    const struct hub_view word = request->segments[0];
    (void)allow;
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROUTE_NOT_FOUND,
                       "no resource at %.200s: /%s is reserved for %s; a bucket or folder of that name is at "
                       "/storage/v1/b/%s/o",
                       request->target, word.data, use_of(word), word.data);
}

enum hub_status hub_reserved(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    (void)response;
    return hub_refuse_reserved(request, "", err);
}

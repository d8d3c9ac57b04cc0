/** One object: its facts, and its bytes as an answer. */
#ifndef HUB_FACADE_OBJECT_H
#define HUB_FACADE_OBJECT_H

#include "server/facade/objects.h"

/** The state of a file as a number above 0: another size or another time is another one. */
int64_t hub_object_generation(uint64_t size, int64_t modified_ns);

/** What is said of an object. */
struct hub_object_facts {
    uint64_t size;
    int64_t modified_ns, generation;
    struct hub_file_digests digests; /* empty ones are not known by now */
    struct hub_buf text;             /* of a namespace's file */
    char etag[32];                   /* under which it is sent, if the protocol has its own; else "" */
};
void hub_object_facts_dispose(struct hub_object_facts *facts);
/** Of the file of a namespace. Blocking. */
HUB_MUST_USE enum hub_status hub_object_facts_of_space(const struct hub_objects *objects,
                                                       const struct hub_object *object,
                                                       struct hub_object_facts *out, struct hub_error *err);
/** HUB_AGAIN where that may take a while and `may_block` is false. */
HUB_MUST_USE enum hub_status hub_object_facts(const struct hub_request *request,
                                              const struct hub_object *object, bool may_block,
                                              struct hub_object_facts *out, struct hub_error *err);

/** Where its digests are not known yet, they are made next and waited for, a second and a half at most; on a
 * worker, HUB_AGAIN before. */
HUB_MUST_USE enum hub_status hub_object_await(struct hub_request *request, const struct hub_object *object,
                                              struct hub_object_facts *facts, struct hub_error *err);

/** Answer with its bytes, or with a part of them: conditions, range. What an upstream has is fetched because
 * of that, but for the metadata of Minari, which is read to know what there is. `facts` are taken. */
HUB_MUST_USE enum hub_status hub_object_send(struct hub_request *request, const struct hub_target *target,
                                             const struct hub_object *object, struct hub_object_facts *facts,
                                             struct hub_response *response, struct hub_error *err);

#endif

/* Memory a thread keeps: see scratch.h. */
#include "storage/read/scratch.h"

#include <pthread.h>
#include <stdlib.h>

#define SCRATCH_KEEP (2 * MIB)

struct scratch_slots {
    struct {
        void *data;
        size_t size;
    } slot[HUB_SCRATCH_SLOTS];
};

static _Thread_local struct scratch_slots *own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_slots(void *pointer)
{
    struct scratch_slots *slots = pointer;
    for (unsigned i = 0; i < HUB_SCRATCH_SLOTS; i++)
        free(slots->slot[i].data);
    free(slots);
}

static void make_key(void)
{
    (void)pthread_key_create(&key, free_slots);
}

void *hub_scratch(enum hub_scratch_slot slot, size_t size)
{
    if (!own) {
        pthread_once(&once, make_key);
        own = calloc(1, sizeof *own);
        if (!own)
            return NULL;
        (void)pthread_setspecific(key, own);
    }
    if (own->slot[slot].size < size || !own->slot[slot].data) {
        const size_t rounded = (HUB_MAX(size, 1) + 65535) & ~(size_t)65535;
        free(own->slot[slot].data);
        own->slot[slot].data = malloc(rounded);
        own->slot[slot].size = own->slot[slot].data ? rounded : 0;
    }
    return own->slot[slot].data;
}

void hub_scratch_trim(void)
{
    for (unsigned i = 0; own && i < HUB_SCRATCH_SLOTS; i++)
        if (own->slot[i].size > SCRATCH_KEEP) {
            free(own->slot[i].data);
            own->slot[i].data = NULL;
            own->slot[i].size = 0;
        }
}

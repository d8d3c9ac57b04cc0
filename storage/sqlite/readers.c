/* Read-only connections by thread: see readers.h. */
#include "storage/sqlite/readers.h"

#include <pthread.h>
#include <stdlib.h>

/* What one thread has. */
struct reader {
    struct hub_db_readers *readers;
    struct reader *next, **link;
    struct hub_db *db; /* NULL: not opened yet */
};

struct hub_db_readers {
    char *path;
    void (*closing)(void *user, const struct hub_db *db);
    void *user;
    pthread_key_t key;
    bool has_key;
    pthread_mutex_t lock; /* of the list; held briefly */
    struct reader *first;
};

static void reader_free(struct reader *reader)
{
    const struct hub_db_readers *readers = reader->readers;
    if (reader->db && readers->closing)
        readers->closing(readers->user, reader->db);
    hub_db_close(reader->db);
    free(reader);
}

static void thread_ended(void *arg)
{
    struct reader *reader = arg;
    pthread_mutex_lock(&reader->readers->lock);
    *reader->link = reader->next;
    if (reader->next)
        reader->next->link = reader->link;
    pthread_mutex_unlock(&reader->readers->lock);
    reader_free(reader);
}

enum hub_status hub_db_readers_new(const char *path, void (*closing)(void *user, const struct hub_db *db),
                                   void *user, struct hub_db_readers **out, struct hub_error *err)
{
    struct hub_db_readers *readers = calloc(1, sizeof *readers);
    HUB_TRY(hub_allocated(readers, err));
    pthread_mutex_init(&readers->lock, NULL);
    readers->closing = closing;
    readers->user = user;
    enum hub_status st = hub_dup(&readers->path, path, err);
    readers->has_key = !st && pthread_key_create(&readers->key, thread_ended) == 0;
    if (!st && !readers->has_key)
        st = hub_fail(err, HUB_NO_MEMORY, "no thread keys left");
    if (st)
        hub_db_readers_free(readers);
    else
        *out = readers;
    return st;
}

void hub_db_readers_free(struct hub_db_readers *readers)
{
    if (!readers)
        return;
    if (readers->has_key)
        pthread_key_delete(readers->key);
    for (struct reader *reader = readers->first, *next; reader; reader = next) {
        next = reader->next;
        reader_free(reader);
    }
    pthread_mutex_destroy(&readers->lock);
    free(readers->path);
    free(readers);
}

static struct reader *reader_of(struct hub_db_readers *readers)
{
    struct reader *reader = pthread_getspecific(readers->key);
    if (reader || !(reader = calloc(1, sizeof *reader)))
        return reader;
    reader->readers = readers;
    if (pthread_setspecific(readers->key, reader)) {
        free(reader);
        return NULL;
    }
    pthread_mutex_lock(&readers->lock);
    reader->next = readers->first;
    reader->link = &readers->first;
    if (reader->next)
        reader->next->link = &reader->next;
    readers->first = reader;
    pthread_mutex_unlock(&readers->lock);
    return reader;
}

enum hub_status hub_db_readers_get(struct hub_db_readers *readers, struct hub_db **out, struct hub_error *err)
{
    struct reader *reader = reader_of(readers);
    HUB_TRY(hub_allocated(reader, err));
    if (!reader->db)
        HUB_TRY(hub_db_open(readers->path, HUB_DB_READ, &reader->db, err));
    *out = reader->db;
    return HUB_OK;
}

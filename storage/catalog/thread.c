/* What each thread keeps of an open catalogue, its read-only connections, and the flags in the state
 * directory: the ground that the other files stand on. */
#include "storage/catalog/internal.h"
#include "storage/catalog/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void hub_catalog_path(const struct hub_catalog *catalog, const char *name, char out[4096])
{
    snprintf(out, 4096, "%s/%s", catalog->state, name);
}

enum hub_status hub_catalog_put_flag(const struct hub_catalog *catalog, const char *name,
                                     struct hub_error *err)
{
    char path[4096];
    hub_catalog_path(catalog, name, path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0)
        return hub_fail_errno(err, errno, "writing %s", path);
    close(fd);
    return HUB_OK;
}

void hub_catalog_close_index(const struct hub_catalog *catalog, struct hub_db *db)
{
    if (db && hub_db_is_damaged(db))
        (void)!hub_catalog_put_flag(catalog, "damaged", NULL);
    hub_db_close(db);
}

void hub_catalog_thread_free(struct hub_catalog_thread *thread)
{
    hub_catalog_close_index(thread->catalog, thread->index);
    hub_db_close(thread->hub);
    free(thread);
}

void hub_catalog_thread_ended(void *arg)
{
    struct hub_catalog_thread *thread = arg;
    pthread_mutex_lock(&thread->catalog->lock);
    *thread->link = thread->next;
    if (thread->next)
        thread->next->link = thread->link;
    pthread_mutex_unlock(&thread->catalog->lock);
    hub_catalog_thread_free(thread);
}

static struct hub_catalog_thread *thread_of(struct hub_catalog *catalog)
{
    struct hub_catalog_thread *thread = pthread_getspecific(catalog->thread_key);
    if (thread)
        return thread;
    thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->catalog = catalog;
    if (pthread_setspecific(catalog->thread_key, thread)) {
        free(thread);
        return NULL;
    }
    pthread_mutex_lock(&catalog->lock);
    thread->next = catalog->threads;
    thread->link = &catalog->threads;
    if (thread->next)
        thread->next->link = &thread->next;
    catalog->threads = thread;
    pthread_mutex_unlock(&catalog->lock);
    return thread;
}

static enum hub_status reader(struct hub_catalog *catalog, bool truth, struct hub_db **out,
                              struct hub_error *err)
{
    char path[4096];
    struct hub_catalog_thread *thread = thread_of(catalog);
    HUB_TRY(hub_allocated(thread, err));
    struct hub_db **slot = truth ? &thread->hub : &thread->index;
    hub_catalog_path(catalog, truth ? "hub.db" : hub_index_name, path);
    if (!*slot)
        HUB_TRY(hub_db_open(path, HUB_DB_READ, slot, err));
    *out = *slot;
    return HUB_OK;
}

enum hub_status hub_catalog_reader(struct hub_catalog *catalog, struct hub_db **out, struct hub_error *err)
{
    return reader(catalog, false, out, err);
}

enum hub_status hub_catalog_hub_reader(struct hub_catalog *catalog, struct hub_db **out,
                                       struct hub_error *err)
{
    return reader(catalog, true, out, err);
}

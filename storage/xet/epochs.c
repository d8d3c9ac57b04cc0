/* Epochs of xorbs: see epochs.h. */
#include "storage/xet/epochs.h"

#include "storage/base/digest.h"
#include "storage/io/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { MOST_EPOCHS = 100 * 1000 };
static const char ended[] = "ended-"; /* begins the name of one whose files are being removed */

/* ---- names ---- */

static bool is_name(struct hub_view name)
{
    uint8_t number[HUB_EPOCH_KEY / 2];
    return name.size == HUB_EPOCH_NAME && name.data[HUB_EPOCH_KEY] == '-' &&
           hub_unhex((struct hub_view){name.data, HUB_EPOCH_KEY}, number, sizeof number) &&
           hub_unhex((struct hub_view){name.data + HUB_EPOCH_KEY + 1, 16}, number, sizeof number);
}

enum hub_status hub_epoch_key(const char *who, const char *repo, char out[HUB_EPOCH_KEY + 1],
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(8 * KIB);
    uint8_t sha256[HUB_DIGEST_MAX];
    HUB_TRY(hub_buf_addf(&text, err, "%s\n%s", who, repo));
    HUB_TRY(hub_digest_of(HUB_SHA256, hub_buf_view(&text), sha256, err));
    hub_hex(sha256, HUB_EPOCH_KEY / 2, out);
    return HUB_OK;
}

static enum hub_status make_name(const char *key, char out[HUB_EPOCH_NAME + 1], struct hub_error *err)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return hub_fail_errno(err, errno, "no random number can be had");
    (void)snprintf(out, HUB_EPOCH_NAME + 1, "%.*s-%016llx", HUB_EPOCH_KEY, key, (unsigned long long)number);
    return HUB_OK;
}

/* ---- one ---- */

static int64_t used_s(int xorbs, const char *name)
{
    struct stat st;
    return fstatat(xorbs, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (int64_t)st.st_mtim.tv_sec : -1;
}

/* The one of the key that was used last, or none. */
static enum hub_status find_last(int xorbs, const char *key, char out[HUB_EPOCH_NAME + 1],
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    int64_t last = -1;
    out[0] = '\0';
    HUB_TRY(hub_fs_list(xorbs, ".", MOST_EPOCHS, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i].text;
        if (!is_name(hub_view_of(name)) || memcmp(name, key, HUB_EPOCH_KEY) != 0)
            continue;
        const int64_t at = used_s(xorbs, name);
        if (at >= last)
            memcpy(out, name, HUB_EPOCH_NAME + 1);
        last = HUB_MAX(at, last);
    }
    return HUB_OK;
}

enum hub_status hub_epoch_find(int xorbs, const char *key, char out[HUB_EPOCH_NAME + 1],
                               struct hub_error *err)
{
    HUB_TRY(find_last(xorbs, key, out, err));
    if (out[0] && utimensat(xorbs, out, NULL, AT_SYMLINK_NOFOLLOW) == 0)
        return HUB_OK;
    HUB_TRY(make_name(key, out, err));
    return mkdirat(xorbs, out, 0700) ? hub_fail_errno(err, errno, "no folder for xorbs can be made") : HUB_OK;
}

enum hub_status hub_epoch_open(int xorbs, struct hub_view name, int *fd, struct hub_error *err)
{
    char text[HUB_EPOCH_NAME + 1] = "";
    if (!is_name(name))
        return hub_fail(err, HUB_NOT_FOUND, "there is no such upload");
    memcpy(text, name.data, HUB_EPOCH_NAME);
    *fd = openat(xorbs, text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd >= 0)
        return HUB_OK;
    return errno == ENOENT ? hub_fail(err, HUB_NOT_FOUND, "the upload was dropped: run the push again")
                           : hub_fail_errno(err, errno, "the upload cannot be opened");
}

/* Renamed first: nothing reads it any more, and what is left when the hub is killed is found. */
void hub_epoch_end(int xorbs, const char *name)
{
    char gone[sizeof ended + HUB_EPOCH_NAME];
    (void)snprintf(gone, sizeof gone, "%s%s", ended, name);
    if (renameat(xorbs, name, xorbs, gone) == 0)
        (void)!hub_fs_remove(xorbs, gone, NULL);
}

/* ---- all ---- */

struct epoch {
    const char *name;
    int64_t used_s;
    uint64_t bytes;
};

/* What its files take on the disk, so that many small ones count, too. */
static uint64_t measure(int xorbs, const char *name)
{
    const int fd = openat(xorbs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    uint64_t bytes = 0;
    struct stat st;
    if (!directory) {
        hub_closep(&fd);
        return 0;
    }
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_type != DT_DIR && fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            bytes += (uint64_t)st.st_blocks * 512;
    closedir(directory);
    return bytes;
}

static int by_use(const void *a, const void *b)
{
    const struct epoch *x = a, *y = b;
    return (x->used_s > y->used_s) - (x->used_s < y->used_s);
}

/* All that are there, the one that was not used for longest first; what is left of ended ones goes. */
static enum hub_status list(int xorbs, const struct hub_names *names, struct epoch **out, size_t *count,
                            struct hub_error *err)
{
    HUB_TRY(hub_new(out, names->count, sizeof **out, err));
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->items[i].text;
        if (is_name(hub_view_of(name)))
            (*out)[(*count)++] = (struct epoch){name, used_s(xorbs, name), measure(xorbs, name)};
        else if (hub_view_starts(hub_view_of(name), ended))
            (void)!hub_fs_remove(xorbs, name, NULL);
    }
    qsort(*out, *count, sizeof **out, by_use);
    return HUB_OK;
}

enum hub_status hub_epochs_fit(int xorbs, uint64_t budget, const char *keep, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_freep) struct epoch *epochs = NULL;
    const int64_t oldest_s = (int64_t)time(NULL) - (int64_t)HUB_EPOCH_DAYS * 86400;
    size_t count = 0;
    uint64_t all = 0;
    HUB_TRY(hub_fs_list(xorbs, ".", MOST_EPOCHS, &names, err));
    HUB_TRY(list(xorbs, &names, &epochs, &count, err));
    for (size_t i = 0; i < count; i++)
        all += epochs[i].bytes;
    for (size_t i = 0; i < count; i++) {
        if ((keep && strcmp(epochs[i].name, keep) == 0) || (all <= budget && epochs[i].used_s >= oldest_s))
            continue;
        hub_epoch_end(xorbs, epochs[i].name);
        all -= epochs[i].bytes;
    }
    if (all <= budget)
        return HUB_OK;
    return hub_fail_as(
        err, HUB_NO_SPACE, HUB_PROBLEM_NO_SPACE,
        "the upload has more than %llu bytes on their way (--upload-cache): run the push again, "
        "it goes on behind the files that are committed",
        (unsigned long long)budget);
}

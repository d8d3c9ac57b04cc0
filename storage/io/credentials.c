/* Logins of huggingface_hub: see credentials.h. */
#include "storage/io/credentials.h"

#include "storage/io/fs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 4096 };

static const char beside[] = "hub"; /* the folder of the cache */
static const char token[] = "hf_";  /* what each token begins with */

bool hub_credentials_named(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strcmp(name, "token") == 0 || strcmp(name, "stored_tokens") == 0;
}

/* `token` is the token alone; `stored_tokens` has it behind the name it was stored under. */
static bool holds_token(int fd)
{
    char text[MOST_BYTES + 1];
    const ssize_t size = hub_fs_pread(fd, text, sizeof text, 0);
    return size > 0 && size <= MOST_BYTES && memmem(text, (size_t)size, token, strlen(token));
}

bool hub_credentials_in(int directory, const char *name)
{
    struct stat st;
    if (!hub_credentials_named(name))
        return false;
    if (fstatat(directory, beside, &st, 0) == 0 && S_ISDIR(st.st_mode))
        return true;
    HUB_CLEANUP(hub_closep) const int fd = openat(directory, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && holds_token(fd);
}

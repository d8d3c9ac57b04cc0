/* A configuration file. Whatever is accepted must print, and be accepted again as printed. */
#include "server/config/config.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static enum hub_status read_file(int fd, struct hub_config *config)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    char *argv[] = {"--config", path, NULL};
    HUB_TRY(hub_config_init(config, NULL));
    return hub_config_read(config, argv, NULL);
}

static void check(const struct hub_config *config)
{
    struct hub_config again = {0};
    const int fd = memfd_create("printed", MFD_CLOEXEC);
    FILE *out = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
    if (!out)
        abort();
    hub_config_print(config, out);
    fclose(out);
    if (read_file(fd, &again) || again.memory != config->memory || again.queue != config->queue ||
        again.root_texts.count != config->root_texts.count)
        abort();
    hub_config_dispose(&again);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_config config = {0};
    const int fd = memfd_create("settings", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (!read_file(fd, &config) && !memchr(data, ';', size)) /* inih has no way to write "; " in a value */
        check(&config);
    hub_config_dispose(&config);
    close(fd);
    return 0;
}

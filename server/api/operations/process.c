/* Memory, files and processor time of this process: see process.h. */
#include "server/api/operations/process.h"

#include "storage/io/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* "size resident ...", in pages. */
static void read_memory(struct hub_process *out)
{
    char text[128];
    HUB_CLEANUP(hub_closep) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    unsigned long long size = 0, resident = 0;
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%llu %llu", &size, &resident) != 2)
        return;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    out->virtual_bytes = size * page;
    out->resident_bytes = resident * page;
}

void hub_process_read(struct hub_process *out)
{
    struct rusage usage;
    struct rlimit files;
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    *out = (struct hub_process){0};
    read_memory(out);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        out->cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        out->max_files = files.rlim_cur;
    if (hub_fs_list(AT_FDCWD, "/proc/self/fd", 1024 * 1024, &names, NULL) == HUB_OK && names.count)
        out->open_files = names.count - 1; /* one is the listing's own */
}

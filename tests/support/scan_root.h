/** Roots for the tests of the scanner and of drivers: a fresh directory with copies of fixtures in it, and an
 * inspector. */
#ifndef HUB_TESTS_SCAN_ROOT_H
#define HUB_TESTS_SCAN_ROOT_H

#include "storage/inspect/inspect.h"
#include "storage/io/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static inline char *scan_directory(void)
{
    char name[] = "/tmp/hub-scan-XXXXXX";
    if (!mkdtemp(name))
        abort();
    return strdup(name);
}

/** Run a program and wait for it. */
static inline void scan_run(const char *const *arguments)
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        abort();
}

/** Copy what is in a fixture folder into a directory, times kept. */
static inline void scan_copy(const char *fixture, const char *directory)
{
    char from[4096];
    snprintf(from, sizeof from, "%s/%s/.", HUB_FIXTURES, fixture);
    if (mkdir(directory, 0755) && errno != EEXIST)
        abort();
    scan_run((const char *const[]){"cp", "-rp", from, directory, NULL});
}

static inline void scan_write_bytes(const char *directory, const char *path, const void *data, size_t size)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", directory, path);
    for (char *slash = strchr(full + strlen(directory) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(full, 0755) && errno != EEXIST)
            abort();
        *slash = '/';
    }
    const int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

static inline void scan_write(const char *directory, const char *path, const char *text)
{
    scan_write_bytes(directory, path, text, strlen(text));
}

static inline void scan_remove(char *directory)
{
    if (hub_fs_remove(AT_FDCWD, directory, NULL))
        abort();
    free(directory);
}

#ifdef HUB_INSPECT
static inline struct hub_inspector *scan_inspector(void)
{
    struct hub_inspector_options options = HUB_INSPECTOR_OPTIONS_INIT;
    struct hub_inspector *inspector = NULL;
    struct hub_error err = {0};
    options.program = HUB_INSPECT;
    if (hub_inspector_new(&options, &inspector, &err)) {
        fprintf(stderr, "%s\n", err.detail);
        abort();
    }
    return inspector;
}

static inline pid_t scan_parent_of_inspector(const char *pid)
{
    char path[300];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%*d (minari-inspect) %*c %d", &parent) != 1)
        parent = 0;
    if (f)
        fclose(f);
    return parent;
}

/** To the inspector of this process. */
static inline void scan_signal_inspector(int number)
{
    unsigned found = 0;
    DIR *dir = opendir("/proc");
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (scan_parent_of_inspector(entry->d_name) == getpid())
            found += kill(atoi(entry->d_name), number) == 0;
    closedir(dir);
    if (found != 1)
        abort();
}
#endif

#endif

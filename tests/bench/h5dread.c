/* The library's own speed: one thread reading whole image episodes with H5Dread. h5dread FILE EPISODES LOOPS
 * -> CPU and wall ms an episode. What the hub's answer for the same episode is compared with. */
#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static size_t read_episode(hid_t file, int episode, unsigned char **buffer)
{
    char path[64];
    snprintf(path, sizeof path, "episode_%d/observations", episode);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset);
    const size_t size = (size_t)H5Sget_simple_extent_npoints(space);
    if (!*buffer)
        *buffer = malloc(size);
    if (H5Dread(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, *buffer) < 0)
        exit(1);
    H5Sclose(space);
    H5Dclose(dataset);
    return size;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const int episodes = atoi(argv[2]), loops = atoi(argv[3]);
    const hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
    unsigned char *buffer = NULL;
    size_t size = 0;
    for (int i = 0; i < episodes; i++) /* warm */
        size = read_episode(file, i, &buffer);
    const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < loops; i++)
        read_episode(file, i % episodes, &buffer);
    printf("wall_ms %.3f cpu_ms %.3f bytes %zu\n", (now(CLOCK_MONOTONIC) - wall) / loops,
           (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / loops, size);
    H5Fclose(file);
    free(buffer);
    return 0;
}

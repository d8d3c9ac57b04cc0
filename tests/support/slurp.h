/** The bytes of a fixture, for tests that parse memory. */
#ifndef HUB_TESTS_SUPPORT_SLURP_H
#define HUB_TESTS_SUPPORT_SLURP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** The whole file (free it); ends the test program when there is none. `path` is below tests/fixtures. */
static inline uint8_t *slurp(const char *path, size_t *size)
{
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", HUB_FIXTURES, path);
    FILE *file = fopen(full, "rb");
    if (!file) {
        perror(full);
        abort();
    }
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    rewind(file);
    uint8_t *data = malloc((size_t)length + 1);
    *size = data ? fread(data, 1, (size_t)length, file) : 0;
    fclose(file);
    return data;
}

#endif

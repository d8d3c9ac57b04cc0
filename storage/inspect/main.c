/* minari-inspect: the hub's worker. */
#include "storage/inspect/worker.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return hub_worker_main();
    fprintf(stderr, "usage: minari-inspect --worker\n");
    return 2;
}

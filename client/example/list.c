/* What a hub has, and the first rewards of its first dataset:
 * cc list.c $(pkg-config --cflags --libs minari) */
#include <minari/minari.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct minari_client_options options = MINARI_CLIENT_OPTIONS_INIT;
    struct minari_client *client = NULL;
    struct minari_dataset_list *list = NULL;
    struct minari_error err;
    options.base_url = argc > 1 ? argv[1] : "http://127.0.0.1:8080";
    if (minari_client_new(&options, &client, &err) || minari_dataset_list_get(client, NULL, &list, &err)) {
        fprintf(stderr, "%s: %s\n", minari_status_name(err.status), err.detail);
        minari_client_free(client);
        return 1;
    }
    for (size_t i = 0; i < minari_dataset_list_count(list); i++)
        printf("%s\n", minari_dataset_list_at(list, i)->id);
    char *rewards = NULL;
    size_t size = 0;
    const struct minari_slice five = {.has_stop = true, .stop = 5};
    if (minari_dataset_list_count(list) &&
        !minari_rows_read(client, minari_dataset_list_at(list, 0)->id, 0, "rewards", &five, "json", 1000,
                          &rewards, &size, NULL, &err))
        printf("rewards: %s\n", rewards);
    free(rewards);
    minari_dataset_list_free(list);
    minari_client_free(client);
    return 0;
}

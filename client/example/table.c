/* The best episodes of a dataset, as columns in one buffer:
 * cc table.c $(pkg-config --cflags --libs minari); ./a.out http://hub:8080 D4RL/door/human-v2 */
#include <minari/minari.h>
#include <stdio.h>
#include <string.h>

static char buffer[1 << 20]; /* one for any number of tables */

/* Arrays of an npz are not aligned: copy the value. Steps are integers, or doubles if one is missing. */
static double value_at(const struct minari_array *column, int64_t row)
{
    int64_t whole;
    double real;
    if (strcmp(column->dtype, "<f8") == 0) {
        memcpy(&real, (const char *)column->data + row * 8, 8);
        return real;
    }
    memcpy(&whole, (const char *)column->data + row * 8, 8);
    return (double)whole;
}

static int print_best(struct minari_client *client, const char *id, struct minari_error *err)
{
    const struct minari_table_query query = {
        .size = sizeof query, .columns = "number,steps,return", .sort = "-return", .limit = 10};
    struct minari_array number, steps, total;
    size_t size;
    if (minari_episode_table_read(client, id, &query, buffer, sizeof buffer, &size, err) ||
        minari_npz_find(buffer, size, "number", &number, err) ||
        minari_npz_find(buffer, size, "steps", &steps, err) ||
        minari_npz_find(buffer, size, "return", &total, err))
        return 1;
    for (int64_t i = 0; i < number.shape[0]; i++)
        printf("%.0f %.0f %.6g\n", value_at(&number, i), value_at(&steps, i), value_at(&total, i));
    return 0;
}

int main(int argc, char **argv)
{
    struct minari_client_options options = MINARI_CLIENT_OPTIONS_INIT;
    struct minari_client *client = NULL;
    struct minari_error err;
    if (argc != 3) {
        fprintf(stderr, "usage: table HUB ID\n");
        return 2;
    }
    options.base_url = argv[1];
    const int failed = minari_client_new(&options, &client, &err) || print_best(client, argv[2], &err);
    if (failed)
        fprintf(stderr, "%s: %s\n", minari_status_name(err.status), err.detail);
    minari_client_free(client);
    return failed;
}

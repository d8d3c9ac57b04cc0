/* Push a folder, as a new dataset or in the place of the one that is there, and list what there is then:
 * cc upload.c $(pkg-config --cflags --libs minari)
 * MINARI_HUB_TOKEN=... ./a.out http://hub:8080 recorded lab/arm-v0 */
#include <minari/minari.h>
#include <stdio.h>
#include <stdlib.h>

static int on_progress(const struct minari_progress *p, void *user)
{
    (void)user;
    fprintf(stderr, "\r%llu of %llu bytes", (unsigned long long)p->bytes_done,
            (unsigned long long)p->bytes_total);
    return 0; /* 1 would end it, and the next call goes on */
}

static void on_problem(const struct minari_problem *p, void *user)
{
    (void)user;
    fprintf(stderr, "\n%s: %s: %s", p->code, p->path ? p->path : "", p->detail);
}

static void on_done(const struct minari_upload *u, void *user)
{
    (void)user;
    printf("%s: commit %s\n", u->id, u->commit);
}

static int on_revision(const struct minari_revision *r, void *user)
{
    (void)user;
    printf("%.10s %s %s %s\n", r->commit, r->state, r->at, r->message ? r->message : "");
    return 0;
}

int main(int argc, char **argv)
{
    struct minari_client_options options = MINARI_CLIENT_OPTIONS_INIT;
    struct minari_upload_options push = MINARI_UPLOAD_OPTIONS_INIT;
    struct minari_client *client = NULL;
    struct minari_error err;
    if (argc != 4)
        return 2;
    options.base_url = argv[1];
    options.token = getenv("MINARI_HUB_TOKEN");
    push.path = argv[2];
    push.id = argv[3];
    push.message = "pushed by an example";
    push.base = "current"; /* without it a dataset that is there is not replaced */
    push.progress = on_progress;
    push.problem = on_problem;
    push.done = on_done;
    const int failed = minari_client_new(&options, &client, &err) ||
                       minari_dataset_upload(client, &push, &err) ||
                       minari_revision_each(client, push.id, on_revision, NULL, &err);
    fputc('\n', stderr);
    if (failed)
        fprintf(stderr, "%s: %s\n", minari_status_name(err.status), err.detail);
    minari_client_free(client);
    return failed;
}

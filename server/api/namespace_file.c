/* The file of a namespace: see namespace_file.h. */
#include "server/api/namespace_file.h"

#include "storage/ids/spell.h"
#include "storage/io/fs.h"
#include "storage/text/json.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_METADATA = 1024 * 1024 };

const char hub_namespace_file_name[] = "namespace_metadata.json";

enum hub_status hub_namespace_file(const struct hub_roots *roots, uint32_t root, struct hub_view folder,
                                   struct hub_buf *out, int64_t *modified_ns, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf text = HUB_BUF_INIT(MAX_METADATA + 2), path = HUB_BUF_INIT(PATH_MAX);
    struct stat st;
    HUB_TRY(hub_buf_add_view(&path, folder, err));
    HUB_TRY(hub_buf_add_text(&path, folder.size ? "/" : "", err));
    HUB_TRY(hub_buf_add_text(&path, hub_namespace_file_name, err));
    HUB_TRY(hub_roots_open(roots, root, path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK, &fd, err));
    HUB_TRY(hub_buf_reserve(&text, MAX_METADATA + 1, err));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return hub_fail(err, HUB_IO, "%s is not a file", path.data);
    const ssize_t got = pread(fd, text.data, MAX_METADATA + 1, 0);
    if (got < 0 || got > MAX_METADATA)
        return hub_fail(err, got > MAX_METADATA ? HUB_TOO_BIG : HUB_IO, "%s cannot be read, or is over 1 MiB",
                        path.data);
    if (modified_ns)
        *modified_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
    const struct hub_view bytes = {text.data, (size_t)got};
    if (hub_json_valid(bytes, HUB_JSON_OBJECT))
        return hub_buf_add_view(out, bytes, err);
    const size_t before = out->size;
    HUB_TRY(hub_json_strict(bytes, out, err));
    return hub_json_valid((struct hub_view){out->data + before, out->size - before}, HUB_JSON_OBJECT)
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "%s is not a JSON object", path.data);
}

enum hub_status hub_namespace_of(const struct hub_roots *roots, uint32_t root, struct hub_view name,
                                 struct hub_buf *out, int64_t *modified_ns, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(PATH_MAX);
    if (root >= roots->count)
        return hub_fail(err, HUB_NOT_FOUND, "there is no such root");
    const char *of_root = roots->roots[root].name;
    const size_t skip = of_root ? HUB_MIN(name.size, strlen(of_root) + 1) : 0;
    HUB_TRY(hub_unspell_id((struct hub_view){name.data + skip, name.size - skip}, &folder, err));
    return hub_namespace_file(roots, root, hub_buf_view(&folder), out, modified_ns, err);
}

/* What lies in the folder of a LeRobot dataset and is no part of it: a download takes it along. */
#include "storage/formats/lerobot/lerobot.h"
#include "storage/text/number.h"

/* Folders that training and its tools write. */
static bool is_of_a_tool(struct hub_view path)
{
    static const char *const folders[] = {"checkpoints/", "wandb/", "outputs/", "__pycache__/"};
    for (size_t i = 0; i < HUB_COUNT(folders); i++)
        if (hub_view_starts(path, folders[i]))
            return true;
    return false;
}

/* Weights and archives, where no file of the dataset lies. */
static bool is_other_data(struct hub_view path)
{
    static const char *const own[] = {"data/", "videos/", "meta/"};
    static const char *const endings[] = {".safetensors", ".ckpt", ".pth", ".pt", ".zip",
                                          ".tar",         ".tgz",  ".gz",  ".7z", NULL};
    for (size_t i = 0; i < HUB_COUNT(own); i++)
        if (hub_view_starts(path, own[i]))
            return false;
    return hub_ending_of(path, endings) != NULL;
}

enum hub_status hub_lerobot_check_others(const struct hub_files *files, struct hub_sink *sink,
                                         struct hub_error *err)
{
    char size[HUB_SIZE_CHARS];
    uint64_t bytes = 0;
    uint32_t count = 0, first = HUB_NONE;
    for (uint32_t i = 0; i < files->count; i++) {
        const struct hub_file_entry *entry = &files->entries[i];
        if (entry->directory || (!is_of_a_tool(entry->path) && !is_other_data(entry->path)))
            continue;
        first = count++ ? first : i;
        bytes += entry->size;
    }
    if (!count)
        return HUB_OK;
    hub_number_size(bytes, size);
    return hub_sink_problem(
        sink, "other-files", files->entries[first].path, err,
        "%u file%s of %s that LeRobot does not read: a download includes them, --exclude leaves them out",
        count, hub_plural(count), size);
}

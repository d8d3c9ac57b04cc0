/* What is remembered of datasets between two runs: which state was inspected, or what kept it from being. */
#include "storage/scan/state.h"

enum hub_status hub_tracked_key(const struct hub_scanner *s, uint32_t root, const char *id,
                                struct hub_buf *key)
{
    return hub_buf_addf(key, NULL, "seen:%s:%s", hub_root_key(&s->walk.roots->roots[root]), id);
}

void hub_scan_remember(struct hub_scanner *s, uint32_t root, const char *id, uint64_t signature)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(16 * KIB);
    const struct hub_view value = {(const char *)&signature, signature ? sizeof signature : 0};
    if (hub_tracked_key(s, root, id, &key) || hub_catalog_note_put(s->catalog, key.data, value, NULL))
        return; /* it is inspected once more after a restart */
}

void hub_scan_remember_trouble(struct hub_scanner *s, uint32_t root, const char *id, uint64_t signature,
                               unsigned troubles)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(16 * KIB);
    const uint64_t note[] = {signature, troubles};
    if (hub_tracked_key(s, root, id, &key) ||
        hub_catalog_note_put(s->catalog, key.data, (struct hub_view){(const char *)note, sizeof note}, NULL))
        return; /* after a restart it is tried as often again */
}

void hub_scan_recall(const struct hub_scanner *s, struct hub_tracked_dataset *tracked, uint64_t signature)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(16 * KIB), value = HUB_BUF_INIT(64);
    uint64_t note[2] = {0};
    if (hub_tracked_key(s, tracked->root, tracked->id, &key) ||
        hub_catalog_note_get(s->catalog, key.data, &value, NULL) ||
        (value.size != sizeof note[0] && value.size != sizeof note))
        return;
    memcpy(note, value.data, value.size);
    if (value.size == sizeof note)
        tracked->troubles = note[0] == signature ? (unsigned)note[1] : 0;
    else
        tracked->published = note[0] == hub_scan_limited(s, signature) ? signature : note[0];
}

/* Objects out of shards and xorbs: see making.h. */
#include "server/api/xet/making.h"

#include "storage/text/time.h"

enum { STEP_MS = 200 };

enum hub_status hub_xet_making_init(struct hub_xet_making *making, struct hub_app *app,
                                    struct hub_xet_place *place, struct hub_shard *shard,
                                    struct hub_error *err)
{
    *making =
        (struct hub_xet_making){.app = app, .place = *place, .shard = *shard, .deposit = HUB_DEPOSIT_INIT};
    *place = HUB_XET_PLACE_INIT;
    *shard = (struct hub_shard){0};
    hub_xorbs_init(&making->xorbs, making->place.folder);
    return hub_rebuild_init(&making->rebuild, &making->shard, &making->xorbs, err);
}

void hub_xet_making_dispose(struct hub_xet_making *making)
{
    if (making->begun)
        hub_deposit_abandon(&making->deposit);
    hub_rebuild_dispose(&making->rebuild);
    hub_xorbs_dispose(&making->xorbs);
    hub_shard_dispose(&making->shard);
    hub_xet_place_close(&making->place);
}

static const struct hub_shard_file *file_of(const struct hub_xet_making *making)
{
    return &making->shard.files[making->file];
}

/* The same principal sent it before: by this shard, whose answer was lost, or by another one. */
static bool is_there(const struct hub_xet_making *making)
{
    struct hub_deposit_row row = {
        .root = making->place.root, .who = making->place.who, .size = file_of(making)->size};
    memcpy(row.sha256, file_of(making)->sha256, sizeof row.sha256);
    return hub_deposit_has(making->app->deposits, &row, NULL) == HUB_OK && row.size == file_of(making)->size;
}

static enum hub_status begin_file(struct hub_xet_making *making, struct hub_error *err)
{
    if (is_there(making)) {
        making->file++;
        return HUB_OK;
    }
    HUB_TRY(hub_rebuild_begin(&making->rebuild, making->file, err));
    const struct hub_deposit_order order = {
        .root = making->place.root, .who = making->place.who, .size = file_of(making)->size};
    HUB_TRY(hub_deposit_begin(making->app->deposits, &order, &making->deposit, err));
    making->begun = true;
    return HUB_OK;
}

static enum hub_status add_block(struct hub_xet_making *making, struct hub_error *err)
{
    struct hub_view bytes;
    HUB_TRY(hub_rebuild_next(&making->rebuild, &bytes, err));
    if (bytes.size)
        return hub_deposit_write(&making->deposit, bytes, err);
    HUB_TRY(hub_deposit_finish(&making->deposit, file_of(making)->sha256, NULL, err));
    making->begun = false;
    making->file++;
    return HUB_OK;
}

enum hub_status hub_xet_making_step(struct hub_xet_making *making, struct hub_error *err)
{
    const int64_t end_ms = hub_time_mono_ms() + STEP_MS;
    enum hub_status st = HUB_OK;
    while (!st && !hub_xet_making_is_done(making) && hub_time_mono_ms() < end_ms)
        st = making->begun ? add_block(making, err) : begin_file(making, err);
    if (st && making->begun) { /* nothing of it is kept when the answer says why */
        hub_deposit_abandon(&making->deposit);
        making->begun = false;
    }
    if (st == HUB_NOT_FOUND || st == HUB_CORRUPT)
        hub_epoch_end(making->place.xorbs, making->place.epoch);
    return st;
}

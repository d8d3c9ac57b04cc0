/* Tar archives that come block by block: see tar_feed.h. Headers are collected until hub_tar_next has what it
 * asks for; it is called again from the first of them when more is there. */
#include "storage/io/tar_feed.h"

/* Of one member: a pax header of the largest size that is read, with what else stands before its own. */
enum { MAX_HEADERS = 3 * 1024 * 1024 };

static enum hub_status read_headers(void *user, uint64_t offset, void *out, size_t size, size_t *got,
                                    struct hub_error *err)
{
    const struct hub_tar_feed *feed = user;
    const uint64_t begins = feed->at - feed->headers.size;
    (void)err;
    if (offset < begins || offset - begins > feed->headers.size ||
        size > feed->headers.size - (size_t)(offset - begins))
        return HUB_AGAIN;
    memcpy(out, feed->headers.data + (offset - begins), size);
    *got = size;
    return HUB_OK;
}

void hub_tar_feed_begin(struct hub_tar_feed *feed, const struct hub_tar_taker *taker, void *user)
{
    *feed = (struct hub_tar_feed){.taker = taker, .user = user, .headers = HUB_BUF_INIT(MAX_HEADERS)};
    hub_tar_begin(&feed->tar, read_headers, feed, UINT64_MAX);
}

void hub_tar_feed_dispose(struct hub_tar_feed *feed)
{
    hub_buf_dispose(&feed->headers);
    hub_tar_dispose(&feed->tar);
}

/* Of `bytes` the first ones, which are now behind us. */
static struct hub_view pass(struct hub_tar_feed *feed, struct hub_view *bytes, uint64_t most)
{
    const struct hub_view passed = {bytes->data, (size_t)HUB_MIN(most, bytes->size)};
    feed->at += passed.size;
    bytes->data += passed.size;
    bytes->size -= passed.size;
    return passed;
}

static enum hub_status end_member(struct hub_tar_feed *feed, struct hub_error *err)
{
    feed->in_member = false;
    return feed->taker->end(feed->user, err);
}

/* Up to the end of the next block; then perhaps the member is known. */
static enum hub_status add_header(struct hub_tar_feed *feed, struct hub_view *bytes, struct hub_error *err)
{
    const uint64_t before = feed->tar.at;
    struct hub_tar_member member;
    bool end = false;
    const uint64_t block_left = HUB_TAR_BLOCK - feed->at % HUB_TAR_BLOCK;
    const struct hub_view passed = pass(feed, bytes, block_left);
    if (passed.size > feed->headers.limit - feed->headers.size)
        return hub_fail(err, HUB_TOO_BIG, "the headers of a member have more than %d bytes", MAX_HEADERS);
    HUB_TRY(hub_buf_add_view(&feed->headers, passed, err));
    if (passed.size < block_left)
        return HUB_OK;
    const enum hub_status st = hub_tar_next(&feed->tar, &member, &end, err);
    if (st == HUB_AGAIN) {
        feed->tar.at = before;
        return HUB_OK;
    }
    HUB_TRY(st);
    feed->headers.size = 0;
    feed->ended = end;
    if (end)
        return HUB_OK;
    feed->in_member = true;
    feed->left = member.size;
    HUB_TRY(feed->taker->begin(feed->user, &member, err));
    return feed->left ? HUB_OK : end_member(feed, err);
}

static enum hub_status add_bytes(struct hub_tar_feed *feed, struct hub_view *bytes, struct hub_error *err)
{
    const struct hub_view passed = pass(feed, bytes, feed->left);
    feed->left -= passed.size;
    HUB_TRY(feed->taker->bytes(feed->user, passed, err));
    return feed->left ? HUB_OK : end_member(feed, err);
}

/* What fills the last record. */
static enum hub_status add_trailer(struct hub_tar_feed *feed, struct hub_view *bytes, struct hub_error *err)
{
    const struct hub_view passed = pass(feed, bytes, bytes->size);
    for (size_t i = 0; i < passed.size; i++)
        if (passed.data[i])
            return hub_fail(err, HUB_CORRUPT, "bytes follow the end of the archive: is it several archives?");
    return HUB_OK;
}

enum hub_status hub_tar_feed_add(struct hub_tar_feed *feed, struct hub_view bytes, struct hub_error *err)
{
    while (bytes.size) {
        if (feed->ended)
            HUB_TRY(add_trailer(feed, &bytes, err));
        else if (feed->in_member)
            HUB_TRY(add_bytes(feed, &bytes, err));
        else if (!feed->headers.size && feed->at < feed->tar.at)
            (void)pass(feed, &bytes, feed->tar.at - feed->at);
        else
            HUB_TRY(add_header(feed, &bytes, err));
    }
    return HUB_OK;
}

enum hub_status hub_tar_feed_end(const struct hub_tar_feed *feed, struct hub_error *err)
{
    if (feed->ended)
        return HUB_OK;
    return feed->in_member
               ? hub_fail(err, HUB_CORRUPT, "the archive was cut short: %llu bytes of a member are missing",
                          (unsigned long long)feed->left)
               : hub_fail(err, HUB_CORRUPT, "the archive was cut short: its end is missing");
}

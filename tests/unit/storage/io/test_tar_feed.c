/* A tar that comes block by block, against what was put into it. */
#include "storage/io/tar_feed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* "name=bytes;" for each member; of one that is no file "name/type;". */
struct seen {
    struct hub_buf text;
    const char *refuses; /* this name */
};

static enum hub_status begin(void *user, const struct hub_tar_member *m, struct hub_error *err)
{
    struct seen *seen = user;
    if (seen->refuses && hub_view_is(m->name, seen->refuses))
        return hub_fail(err, HUB_DENIED, "not this one");
    HUB_TRY(hub_buf_add_view(&seen->text, m->name, err));
    return m->regular ? hub_buf_add_text(&seen->text, "=", err)
                      : hub_buf_addf(&seen->text, err, "/%c", m->type);
}

static enum hub_status bytes(void *user, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add_view(&((struct seen *)user)->text, bytes, err);
}

static enum hub_status end(void *user, struct hub_error *err)
{
    return hub_buf_add_text(&((struct seen *)user)->text, ";", err);
}

static const struct hub_tar_taker taker = {begin, bytes, end};

static enum hub_status feed(struct hub_view tar, size_t step, struct seen *seen, struct hub_error *err)
{
    struct hub_tar_feed f;
    enum hub_status st = HUB_OK;
    hub_tar_feed_begin(&f, &taker, seen);
    for (size_t at = 0; at < tar.size && !st; at += step)
        st = hub_tar_feed_add(&f, (struct hub_view){tar.data + at, HUB_MIN(step, tar.size - at)}, err);
    if (!st)
        st = hub_tar_feed_end(&f, err);
    hub_tar_feed_dispose(&f);
    return st;
}

static void add(struct hub_buf *tar, const char *name, const char *text)
{
    const struct hub_tar_file file = {.name = name, .size = strlen(text), .mtime_ns = 1000000000};
    cr_assert_eq(hub_tar_header(&file, tar, NULL), HUB_OK);
    cr_assert_eq(hub_buf_add_text(tar, text, NULL), HUB_OK);
    cr_assert_eq(hub_tar_pad(file.size, tar, NULL), HUB_OK);
}

/* A header by hand, such as GNU's tar and others write. */
static void add_header(struct hub_buf *tar, const char *name, size_t size, char type)
{
    char block[513] = "";
    unsigned sum = 0;
    snprintf(block, 100, "%s", name);
    snprintf(block + 124, 12, "%011zo", size);
    block[156] = type;
    memcpy(block + 257, "ustar  ", 8);
    memset(block + 148, ' ', 8);
    for (size_t i = 0; i < 512; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    cr_assert_eq(hub_buf_add(tar, block, 512, NULL), HUB_OK);
}

static void expect(const struct hub_buf *tar, const char *expected)
{
    static const size_t steps[] = {1, 7, 511, 512, 513, 1536, 10000, SIZE_MAX / 2};
    for (size_t i = 0; i < HUB_COUNT(steps); i++) {
        struct seen seen = {.text = HUB_BUF_INIT(MIB)};
        struct hub_error err = {0};
        cr_assert_eq(feed(hub_buf_view(tar), steps[i], &seen, &err), HUB_OK, "%zu: %s", steps[i], err.detail);
        cr_expect_str_eq(seen.text.data, expected, "in steps of %zu", steps[i]);
        hub_buf_dispose(&seen.text);
    }
}

Test(tar_feed, members)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf tar = HUB_BUF_INIT(MIB), expected = HUB_BUF_INIT(MIB);
    char name[300], text[1025];
    memset(name, 'n', sizeof name - 1);
    memset(text, 't', sizeof text - 1);
    name[150] = '/';
    name[sizeof name - 1] = text[sizeof text - 1] = '\0';
    add(&tar, "empty", "");
    add(&tar, "caf\u00e9", "a"); /* pax */
    add(&tar, name, text);
    text[512] = '\0';
    add(&tar, "block", text);
    add_header(&tar, "folder/", 0, '5');
    cr_assert_eq(hub_tar_end(&tar, NULL), HUB_OK);
    memset(text, 't', sizeof text - 1);
    cr_assert_eq(
        hub_buf_addf(&expected, NULL, "empty=;caf\u00e9=a;%s=%s;block=%.512s;folder//5;", name, text, text),
        HUB_OK);
    expect(&tar, expected.data);
}

/* GNU's long names, a header for all of the archive with bytes, and links. */
Test(tar_feed, dialects)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf tar = HUB_BUF_INIT(MIB);
    add_header(&tar, "pax_global_header", 600, 'g');
    for (int i = 0; i < 2; i++)
        add_header(&tar, "comment", 0, '0'); /* bytes of the header above, which look like one */
    add_header(&tar, "././@LongLink", 5, 'L');
    cr_assert_eq(hub_buf_add_text(&tar, "long", NULL), HUB_OK);
    cr_assert_eq(hub_tar_pad(4, &tar, NULL), HUB_OK);
    add_header(&tar, "short", 3, '0');
    cr_assert_eq(hub_buf_add_text(&tar, "abc", NULL), HUB_OK);
    cr_assert_eq(hub_tar_pad(3, &tar, NULL), HUB_OK);
    add_header(&tar, "hard", 77, '1');
    add_header(&tar, "soft", 0, '2');
    cr_assert_eq(hub_tar_end(&tar, NULL), HUB_OK);
    expect(&tar, "long=abc;hard/1;soft/2;");
}

static enum hub_status feed_wrong(const struct hub_buf *tar, size_t size, const char *expected,
                                  struct hub_error *err)
{
    struct seen seen = {.text = HUB_BUF_INIT(MIB), .refuses = "secret"};
    *err = (struct hub_error){0};
    const enum hub_status st = feed((struct hub_view){tar->data, size}, 100, &seen, err);
    cr_expect_str_eq(seen.text.data ? seen.text.data : "", expected);
    hub_buf_dispose(&seen.text);
    return st;
}

Test(tar_feed, what_is_wrong)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf tar = HUB_BUF_INIT(MIB);
    struct hub_error err;
    add(&tar, "a", "one");
    add(&tar, "b", "two");
    const size_t ends = tar.size;
    cr_expect_eq(feed_wrong(&tar, ends, "a=one;b=two;", &err), HUB_CORRUPT);
    cr_expect(strstr(err.detail, "its end is missing"), "%s", err.detail);
    cr_expect_eq(feed_wrong(&tar, ends - 511, "a=one;b=t", &err), HUB_CORRUPT);
    cr_expect(strstr(err.detail, "2 bytes of a member are missing"), "%s", err.detail);
    cr_expect_eq(feed_wrong(&tar, 1100, "a=one;", &err), HUB_CORRUPT);
    tar.data[1024]++;
    cr_expect_eq(feed_wrong(&tar, ends, "a=one;", &err), HUB_CORRUPT);
    cr_expect(strstr(err.detail, "no valid header at 1024"), "%s", err.detail);
    tar.data[1024]--;
    cr_assert_eq(hub_tar_end(&tar, NULL), HUB_OK);
    add(&tar, "c", "another archive");
    cr_expect_eq(feed_wrong(&tar, tar.size, "a=one;b=two;", &err), HUB_CORRUPT);
    tar.size = 1024;
    add(&tar, "secret", "three");
    cr_expect_eq(feed_wrong(&tar, tar.size, "a=one;", &err), HUB_DENIED);
    tar.size = 1024;
    add_header(&tar, "sparse", 0, 'S');
    cr_expect_eq(feed_wrong(&tar, tar.size, "a=one;", &err), HUB_UNSUPPORTED);
    tar.size = 0;
    add_header(&tar, "much", 5 << 20, 'x');
    cr_expect_eq(feed_wrong(&tar, tar.size, "", &err), HUB_TOO_BIG);
    cr_expect_eq(feed_wrong(&tar, 0, "", &err), HUB_CORRUPT, "nothing is no archive");
}

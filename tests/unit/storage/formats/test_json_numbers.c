/* Numbers inside one row of JSON. */
#include "storage/formats/kit/json_numbers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

/* "path:kind[dims]=items " of each value. */
static enum hub_status note(void *user, const struct hub_json_value *v, struct hub_error *err)
{
    static const char kinds[] = "-bif";
    struct hub_buf *out = user;
    HUB_TRY(hub_buf_addf(out, err, "%.*s:%c", (int)v->path.size, v->path.data, kinds[v->kind]));
    for (uint32_t i = 0; v->kind && i < v->rank; i++)
        HUB_TRY(hub_buf_addf(out, err, "%s%u", i ? "x" : "", v->dims[i]));
    for (uint32_t i = 0; v->kind && i < v->count; i++)
        HUB_TRY(v->kind == HUB_JSON_FLOATS
                    ? hub_buf_addf(out, err, "%c%.17g", i ? ',' : '=', v->items[i].real)
                    : hub_buf_addf(out, err, "%c%lld", i ? ',' : '=', (long long)v->items[i].integer));
    return hub_buf_add_text(out, " ", err);
}

static void expect(const char *json, const char *wanted)
{
    static struct hub_json_value value;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(MIB), out = HUB_BUF_INIT(MIB);
    struct hub_error err = {0};
    cr_assert_eq(hub_json_strict(hub_view_of(json), &strict, &err), HUB_OK, "%s: %s", json, err.detail);
    cr_assert_eq(hub_json_numbers(hub_view_of(json), &value, note, &out, &err), HUB_OK);
    cr_expect_str_eq(out.data ? out.data : "", wanted, "%s: %s", json, out.data);
}

Test(json_numbers, of_every_kind)
{
    expect("{\"a\":1,\"b\":-2.5e1,\"c\":true}", "a:i=1 b:f=-25 c:b=1 ");
    expect(" { \"a\" : [ 1 , 2 ] , \"b\" : { \"c\" : [[1],[2]] } } ", "a:i2=1,2 b/c:i2x1=1,2 ");
    expect("{\"a\":[1,2.5,3],\"b\":[0.5,7]}", "a:f3=1,2.5,3 b:f2=0.5,7 ");
    expect("{\"a\":[NaN,null,-Infinity,Infinity,1e999]}", "a:f5=nan,nan,-inf,inf,inf ");
    expect("{\"a\":9223372036854775807,\"b\":9223372036854775808,\"c\":-9223372036854775808}",
           "a:i=9223372036854775807 b:f=9.2233720368547758e+18 c:i=-9223372036854775808 ");
    expect("{\"a\":[true,false],\"b\":[[[[[[[[1]]]]]]]]}", "a:b2=1,0 b:i1x1x1x1x1x1x1x1=1 ");
}

Test(json_numbers, what_has_none)
{
    static const char *const texts[] = {"{}", "[1,2]", "3", "\"a\"", "null", "{\"a\":null}", "{\"a\":{}}"};
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        expect(texts[i], "");
    expect("{\"a\":\"}]\\\"\",\"b\":[],\"c\":[[],[]],\"d\":[1,\"x\"],\"e\":[{\"f\":1}],\"g\":1}",
           "a:- b:- c:- d:- e:- g:i=1 ");
    expect("{\"a\":[[1],[2,3]],\"b\":[1,[2]],\"c\":[[1],2],\"d\":[[],1],\"e\":[true,1],\"f\":[true,null]}",
           "a:- b:- c:- d:- e:- f:- ");
    expect("{\"a\":[[[[[[[[[1]]]]]]]]],\"b\":2}", "a:- b:i=2 "); /* more dimensions than a row has */
}

/* A key is a part of a path; one that cannot be is passed over with all below it. */
Test(json_numbers, keys)
{
    expect("{\"a/b\":1,\"gr\\u00f6\\u00dfe\":2,\"\\\"\":3}", "a/b:i=1 gr\xc3\xb6\xc3\x9f"
                                                             "e:i=2 \":i=3 ");
    expect("{\"\":1,\".\":2,\"..\":{\"a\":3},\"/a\":4,\"a/\":5,\"a//b\":6,\"z\":8}", "z:i=8 ");
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    cr_assert_eq(hub_buf_add_text(&text, "{\"", NULL), HUB_OK);
    for (unsigned i = 0; i < 1100; i++)
        cr_assert_eq(hub_buf_add_text(&text, "k", NULL), HUB_OK);
    cr_assert_eq(hub_buf_add_text(&text, "\":{\"a\":1},\"b\":2}", NULL), HUB_OK);
    expect(text.data, "b:i=2 ");
}

/* n times `open`, `middle`, n times `close`. */
static void expect_deep(const char *open, unsigned n, const char *middle, const char *close,
                        const char *wanted)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    for (unsigned i = 0; i < n; i++)
        cr_assert_eq(hub_buf_add_text(&text, open, NULL), HUB_OK);
    cr_assert_eq(hub_buf_add_text(&text, middle, NULL), HUB_OK);
    for (unsigned i = 0; i < n; i++)
        cr_assert_eq(hub_buf_add_text(&text, close, NULL), HUB_OK);
    expect(text.data, wanted);
}

Test(json_numbers, ceilings)
{
    expect_deep("{\"a\":", 8, "1", "}", "a/a/a/a/a/a/a/a:i=1 ");
    expect_deep("{\"a\":", 9, "1", "}", "");
    expect_deep("{\"a\":", 60, "[1,[2,[3]]]", "}", "");
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    cr_assert_eq(hub_buf_add_text(&text, "{\"a\":[0", NULL), HUB_OK);
    for (unsigned i = 0; i < HUB_JSON_NUMBERS_ITEMS; i++)
        cr_assert_eq(hub_buf_add_text(&text, ",0", NULL), HUB_OK);
    cr_assert_eq(hub_buf_add_text(&text, "],\"b\":2}", NULL), HUB_OK);
    expect(text.data, "a:- b:i=2 ");
}

/* A text that breaks off is refused before; the walk ends with it all the same. */
Test(json_numbers, every_beginning_of_a_text)
{
    static struct hub_json_value value;
    static const char whole[] =
        "{\"a\":[[1,2.5],[true,null]],\"b\\u00f6\":{\"c\":\"x\\\"\",\"d\":[{\"e\":1}]},\"f\":-1}";
    for (size_t size = 0; size < sizeof whole; size++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
        char *copy = hub_view_dup((struct hub_view){whole, size});
        cr_assert(copy);
        cr_expect_eq(hub_json_numbers((struct hub_view){copy, size}, &value, note, &out, NULL), HUB_OK);
        free(copy);
    }
}

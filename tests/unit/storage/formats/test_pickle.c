/* storage/formats/pickle.c: what Python wrote, and what nobody should have. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <unistd.h>

#include "storage/formats/pickle/pickle.h"

#include "tests/support/slurp.h"

static enum hub_status read_bytes(struct hub_pickle *p, struct hub_byte_source *source, const void *data,
                                  size_t size, struct hub_error *err)
{
    hub_byte_source_memory(source, data, size);
    hub_pickle_init(p);
    return hub_pickle_read(p, source, 0, size, err);
}

struct json_case {
    char name[16];
    char json[260];
};

/* The corpus of fuzz_pickle, written by numpy 2 at protocols 2 to 5: the same value at each. */
ParameterizedTestParameters(pickle, values_at_every_protocol)
{
    static struct json_case cases[] = {
        {"array", "{\"dtype\":\"float32\",\"shape\":[2,3],\"values\":[0.0,1.0,2.0,3.0,4.0,5.0]}"},
        {"fortran", "{\"dtype\":\"float64\",\"shape\":[2,3],\"values\":[0.0,1.0,2.0,3.0,4.0,5.0]}"},
        {"scalar", "2.5"},
        {"bool", "true"},
        {"big", "{\"dtype\":\"int32\",\"shape\":[3],\"values\":[0,1,2]}"},
        {"zero", "7"},
        {"image", "{\"dtype\":\"uint8\",\"shape\":[4,8,8],\"value\":200}"},
        {"dict", "{\"a\":{\"dtype\":\"float64\",\"shape\":[4],\"values\":[0.0,1.0,2.0,3.0]},\"discount\":1.0,"
                 "\"n\":3,\"t\":\"text\",\"none\":null,"
                 "\"nested\":{\"x\":5}}"},
        {"ordered", "{\"a\":1,\"b\":[1,2,3]}"},
        {"objects", "{\"unreadable\":\"dtype O8\"}"},
        {"strings", "{\"unreadable\":\"dtype U2\"}"},
        {"ints", "[0,255,256,65536,-1,2147483648,null,null]"},
    };
    return cr_make_param_array(struct json_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct json_case *c, pickle, values_at_every_protocol)
{
    unsigned seen = 0;
    for (int protocol = 2; protocol <= 5; protocol++) {
        char path[100];
        size_t size;
        struct hub_pickle p;
        struct hub_byte_source source;
        struct hub_error err = {0};
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf json = HUB_BUF_INIT(MIB);
        snprintf(path, sizeof path, "../fuzz/corpus/pickle/%s-%d", c->name, protocol);
        char full[600];
        snprintf(full, sizeof full, "%s/%s", HUB_FIXTURES, path);
        if (access(full, F_OK) != 0)
            continue;
        seen++;
        uint8_t *data = slurp(path, &size);
        cr_assert_eq(read_bytes(&p, &source, data, size, &err), HUB_OK, "%s: %s", path, err.detail);
        cr_assert_eq(hub_pickle_json(&p, &source, p.root, &json, &err), HUB_OK, "%s: %s", path, err.detail);
        cr_assert_str_eq(json.data, c->json, "%s: %s", path, json.data);
        hub_pickle_dispose(&p);
        free(data);
    }
    cr_assert_gt(seen, 0);
}

Test(pickle, arrays_say_where_their_bytes_lie)
{
    size_t size;
    struct hub_pickle p;
    struct hub_byte_source source;
    struct hub_pickle_data row;
    uint8_t *data = slurp("../fuzz/corpus/pickle/image-4", &size);
    cr_assert_eq(read_bytes(&p, &source, data, size, NULL), HUB_OK);
    cr_assert_eq(hub_pickle_array(&p, p.root, &row, NULL), HUB_OK);
    cr_assert_eq(row.variant.rank, 3);
    cr_assert_eq(row.size, 256);
    cr_assert_not(row.fortran);
    for (size_t i = 0; i < 256; i++)
        cr_assert_eq(data[row.offset + i], 200);
    hub_pickle_dispose(&p);
    free(data);
}

struct bad_case {
    char what[40];
    size_t size;
    char bytes[80];
    enum hub_status st;
};

#define P "\x80\x04"
#define FRAME(size) "\x95" size "\0\0\0\0\0\0\0"
#define CASE(what, bytes, st)                                                                                \
    {                                                                                                        \
        what, sizeof(bytes) - 1, bytes, st                                                                   \
    }

ParameterizedTestParameters(pickle, hostile)
{
    static struct bad_case cases[] = {
        CASE("nothing", "", HUB_CORRUPT),
        CASE("no protocol", "I1\n.", HUB_UNSUPPORTED),
        CASE("a command", "cposix\nsystem\n(S'true'\ntR.", HUB_UNSUPPORTED),
        CASE("a command, protocol 4", P "\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.",
             HUB_OK), /* an opaque object */
        CASE("protocol 6", "\x80\x06N.", HUB_UNSUPPORTED),
        CASE("protocol 1", "\x80\x01N.", HUB_UNSUPPORTED),
        CASE("nothing to return", P ".", HUB_CORRUPT),
        CASE("a mark to return", P "(.", HUB_CORRUPT),
        CASE("no end", P "N", HUB_CORRUPT),
        CASE("persistent id", P "Px\n.", HUB_UNSUPPORTED),
        CASE("extension", P "\x82\x01.", HUB_UNSUPPORTED),
        CASE("INST", P "(ios\nsystem\n.", HUB_UNSUPPORTED),
        CASE("OBJ", P "(No.", HUB_UNSUPPORTED),
        CASE("set", P "\x8f.", HUB_UNSUPPORTED),
        CASE("out of band", P "\x97.", HUB_UNSUPPORTED),
        CASE("memo never set", P "h\x05.", HUB_CORRUPT),
        CASE("memo of 2^32-1", P "Nr\xff\xff\xff\xff.", HUB_TOO_BIG),
        CASE("memo of nothing", P "q\x01.", HUB_CORRUPT),
        CASE("pop of nothing", P "0.", HUB_CORRUPT),
        CASE("pop of a mark", P "(0.", HUB_CORRUPT),
        CASE("tuple without a mark", P "NNt.", HUB_CORRUPT),
        CASE("tuple3 of two", P "NN\x87.", HUB_CORRUPT),
        CASE("append to nothing", P "Na.", HUB_CORRUPT),
        CASE("append to a number", P "K\x01Na.", HUB_CORRUPT),
        CASE("appends without a list", P "(Ne.", HUB_CORRUPT),
        CASE("setitems of three", P "}(NNNu.", HUB_CORRUPT),
        CASE("string past the end", P "X\xff\xff\xff\xffx.", HUB_CORRUPT),
        CASE("bytes of 2^63", P "\x8e\xff\xff\xff\xff\xff\xff\xff\x7fx.", HUB_CORRUPT),
        CASE("reduce without arguments", P "cos\nsystem\nNR.", HUB_CORRUPT),
        CASE("reduce of a number", P "K\x01)R.", HUB_OK), /* an opaque object of no class */
        CASE("global without end", P "cos", HUB_CORRUPT),
        CASE("global of numbers", P "K\x01K\x02\x93.", HUB_CORRUPT),
        CASE("build of a number", P "K\x01Nb.", HUB_CORRUPT),
        CASE("build of an array with a number",
             P "cnumpy.core.multiarray\n_reconstruct\n)RK\x01"
               "b.",
             HUB_OK),
        CASE("long of 255 bytes", P "\x8a\xff.", HUB_CORRUPT),
        CASE("empty long", P "\x8a\x00.", HUB_OK),
        CASE("list in itself",
             P "]\x94h\x00"
               "a.",
             HUB_OK),
        CASE("newobj_ex", P "cos\nx\n)}\x92.", HUB_OK),
        CASE("a frame to the end", P FRAME("\2") "N.", HUB_OK),
        CASE("frames, and bytes between", P FRAME("\1") "]N" FRAME("\2") "a.", HUB_OK),
        CASE("a frame of more than there is", P FRAME("\3") "N.", HUB_CORRUPT),
        CASE("a frame of 2^63 bytes", P "\x95\0\0\0\0\0\0\0\x80N.", HUB_CORRUPT),
        CASE("text across the end of a frame", P FRAME("\4") "\x8c\3xyz.", HUB_CORRUPT),
        CASE("a name across the end of a frame", P FRAME("\3") "cos\nx\n.", HUB_CORRUPT),
        CASE("a frame that lacks a byte before another", P FRAME("\3") "]N" FRAME("\2") "a.", HUB_CORRUPT),
        CASE("a frame in a frame", P FRAME("\14") "N" FRAME("\2") "N.", HUB_CORRUPT),
    };
    return cr_make_param_array(struct bad_case, cases, HUB_COUNT(cases));
}

/* They are refused by name, or read as values that can be written down. */
ParameterizedTest(struct bad_case *c, pickle, hostile)
{
    struct hub_pickle p;
    struct hub_byte_source source;
    struct hub_error err = {0};
    struct hub_pickle_data row;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf json = HUB_BUF_INIT(64 * KIB);
    const enum hub_status st = read_bytes(&p, &source, c->bytes, c->size, &err);
    cr_assert_eq(st, c->st, "%s: %s: %s", c->what, hub_status_name(st), err.detail);
    if (!st) {
        cr_assert_eq(hub_pickle_json(&p, &source, p.root, &json, &err), HUB_OK, "%s: %s", c->what,
                     err.detail);
        cr_assert_neq(hub_pickle_array(&p, p.root, &row, NULL), HUB_OK);
    }
    hub_pickle_dispose(&p);
}

/* A list of ten references to a list of ten references to ...: read in a moment, and cut when written
 * down. */
Test(pickle, a_billion_laughs)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB), json = HUB_BUF_INIT(64 * KIB);
    struct hub_pickle p;
    struct hub_byte_source source;
    struct hub_error err = {0};
    cr_assert_eq(hub_buf_add(&text, P "]\x94", 4, NULL), HUB_OK);
    for (int level = 1; level < 10; level++) {
        cr_assert_eq(hub_buf_add_text(&text, "](", NULL), HUB_OK);
        for (int i = 0; i < 10; i++)
            cr_assert_eq(hub_buf_addf(&text, NULL, "h%c", level - 1 ? level - 1 : 0), HUB_OK);
        cr_assert_eq(hub_buf_add(&text, "e\x94", 2, NULL), HUB_OK);
    }
    cr_assert_eq(hub_buf_add_text(&text, ".", NULL), HUB_OK);
    cr_assert_eq(read_bytes(&p, &source, text.data, text.size, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_pickle_json(&p, &source, p.root, &json, &err), HUB_TOO_BIG);
    hub_pickle_dispose(&p);
}

/* The raw bytes must be as many as the shape asks for. */
Test(pickle, an_array_that_lies)
{
    size_t size;
    struct hub_pickle p;
    struct hub_byte_source source;
    struct hub_pickle_data row;
    uint8_t *data = slurp("../fuzz/corpus/pickle/array-3", &size);
    uint8_t *shape = NULL;
    for (size_t i = 0; i + 4 < size; i++)
        if (memcmp(data + i, "K\x02K\x03", 4) == 0)
            shape = data + i;
    cr_assert_not_null(shape);
    shape[3] = 200;
    cr_assert_eq(read_bytes(&p, &source, data, size, NULL), HUB_OK);
    cr_assert_eq(hub_pickle_array(&p, p.root, &row, NULL), HUB_CORRUPT);
    hub_pickle_dispose(&p);
    free(data);
}

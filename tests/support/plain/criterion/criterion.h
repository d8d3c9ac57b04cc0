/**
 * Criterion's words for a plain program: its tests run one after the other in this process, without
 * Criterion, which cannot run under ThreadSanitizer. Only what the tests of threads use. The files of a
 * program share main() and the list of tests, which are weak.
 */
#ifndef HUB_TESTS_PLAIN_CRITERION_H
#define HUB_TESTS_PLAIN_CRITERION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_suite {
    void (*init)(void);
    void (*fini)(void);
    double timeout;
};

struct plain_test {
    const char *suite, *name;
    void (*run)(void);
    const struct plain_suite *of_suite; /* NULL: none is declared */
    struct plain_test *next;
};

__attribute__((weak)) struct plain_test *plain_tests;
__attribute__((weak)) unsigned plain_failed;

__attribute__((format(printf, 4, 5))) static inline void plain_fail(bool fatal, int line, const char *what,
                                                                    const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "line %d: %s: ", line, what);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    plain_failed++;
    if (fatal)
        exit(1);
}

#define TestSuite(SUITE, ...) const struct plain_suite plain_suite_##SUITE = {__VA_ARGS__}
#define Test(SUITE, NAME, ...)                                                                               \
    static void SUITE##_##NAME(void);                                                                        \
    extern const struct plain_suite plain_suite_##SUITE __attribute__((weak));                               \
    __attribute__((constructor)) static void plain_add_##SUITE##_##NAME(void)                                \
    {                                                                                                        \
        static struct plain_test test = {#SUITE, #NAME, SUITE##_##NAME, NULL, NULL};                         \
        struct plain_test **last = &plain_tests;                                                             \
        test.of_suite = &plain_suite_##SUITE;                                                                \
        while (*last)                                                                                        \
            last = &(*last)->next;                                                                           \
        *last = &test;                                                                                       \
    }                                                                                                        \
    static void SUITE##_##NAME(void)

__attribute__((weak)) int main(void)
{
    unsigned count = 0;
    for (struct plain_test *t = plain_tests; t; t = t->next, count++) {
        fprintf(stderr, "%s: %s\n", t->suite, t->name);
        if (t->of_suite && t->of_suite->init)
            t->of_suite->init();
        t->run();
        if (t->of_suite && t->of_suite->fini)
            t->of_suite->fini();
    }
    fprintf(stderr, "%u tests, %u failed checks\n", count, plain_failed);
    return plain_failed > 0;
}

#define PLAIN(fatal, is, what, ...) ((is) ? (void)0 : plain_fail(fatal, __LINE__, what, "" __VA_ARGS__))
#define cr_log_info(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))
#define cr_log_error(...) cr_log_info(__VA_ARGS__)
#define cr_assert(is, ...) PLAIN(true, is, #is, __VA_ARGS__)
#define cr_assert_not(is, ...) PLAIN(true, !(is), #is, __VA_ARGS__)
#define cr_assert_null(p, ...) PLAIN(true, (p) == NULL, #p, __VA_ARGS__)
#define cr_assert_not_null(p, ...) PLAIN(true, (p) != NULL, #p, __VA_ARGS__)
#define cr_assert_eq(a, b, ...) PLAIN(true, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) PLAIN(true, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) PLAIN(true, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) PLAIN(true, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) PLAIN(true, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...) PLAIN(true, memcmp(a, b, n) == 0, #a " == " #b, __VA_ARGS__)
#define cr_expect(is, ...) PLAIN(false, is, #is, __VA_ARGS__)
#define cr_expect_not(is, ...) PLAIN(false, !(is), #is, __VA_ARGS__)
#define cr_expect_null(p, ...) PLAIN(false, (p) == NULL, #p, __VA_ARGS__)
#define cr_expect_not_null(p, ...) PLAIN(false, (p) != NULL, #p, __VA_ARGS__)
#define cr_expect_eq(a, b, ...) PLAIN(false, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...) PLAIN(false, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...) PLAIN(false, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...) PLAIN(false, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...) PLAIN(false, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...) PLAIN(false, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) PLAIN(false, strcmp(a, b) == 0, #a " == " #b, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...) PLAIN(false, strcmp(a, b) != 0, #a " != " #b, __VA_ARGS__)

#endif

/** Tests with cases for a plain program: see criterion.h. Each case has the suite's beginning and end. */
#ifndef HUB_TESTS_PLAIN_PARAMETERIZED_H
#define HUB_TESTS_PLAIN_PARAMETERIZED_H

#include <criterion/criterion.h>

struct plain_cases {
    void *first;
    size_t count, size;
};

#define ParameterizedTestParameters(SUITE, NAME) static struct plain_cases SUITE##_##NAME##_cases(void)
#define cr_make_param_array(TYPE, CASES, COUNT) ((struct plain_cases){CASES, COUNT, sizeof(TYPE)})
#define ParameterizedTest(PARAM, SUITE, NAME, ...)                                                           \
    static void SUITE##_##NAME##_case(PARAM);                                                                \
    Test(SUITE, NAME)                                                                                        \
    {                                                                                                        \
        const struct plain_cases cases = SUITE##_##NAME##_cases();                                           \
        for (size_t i = 0; i < cases.count; i++) {                                                           \
            if (i && &plain_suite_##SUITE && plain_suite_##SUITE.fini)                                       \
                plain_suite_##SUITE.fini();                                                                  \
            if (i && &plain_suite_##SUITE && plain_suite_##SUITE.init)                                       \
                plain_suite_##SUITE.init();                                                                  \
            SUITE##_##NAME##_case((void *)((char *)cases.first + i * cases.size));                           \
        }                                                                                                    \
    }                                                                                                        \
    static void SUITE##_##NAME##_case(PARAM)

#endif

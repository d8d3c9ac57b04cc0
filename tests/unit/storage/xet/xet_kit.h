/** What hf_xet sent, and the names of it: see tests/fixtures/xet. */
#ifndef HUB_TESTS_UNIT_STORAGE_XET_KIT_H
#define HUB_TESTS_UNIT_STORAGE_XET_KIT_H

#include "tests/support/slurp.h"

#include <criterion/criterion.h>

#define FIRST_XORB "99c6b9e0e4195b212dd19bce2e807caba38e6629b519470dd019b2bd0c0c2184"
#define SECOND_XORB "99a1ffbc0f92b23377bf9c0bad04701d3c51d264268f7113fed3db4368a7eca6"
#define FIRST_SHARD "xet/first.shard"
#define SECOND_SHARD "xet/second.shard"

#endif

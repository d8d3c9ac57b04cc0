/** Powers of ten for number.c: 10^k is (high * 2^64 + low) times a power of two, rounded up. Written by
 * number_table.py. */
#ifndef HUB_TEXT_NUMBER_TABLE_H
#define HUB_TEXT_NUMBER_TABLE_H

#include <stdint.h>

enum { HUB_POWER_LOWEST = -292, HUB_POWER_COUNT = 617 };

struct hub_power {
    uint64_t high, low;
};

extern const struct hub_power hub_powers_of_ten[HUB_POWER_COUNT];

#endif

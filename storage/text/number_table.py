#!/usr/bin/env python3
"""Writes number_table.c: for k in -292..324 the 128 leading bits of 10^k, rounded up (exact where they fit)."""

LOWEST, HIGHEST = -292, 324


def leading(k):
    """10^k scaled by a power of two into [2^127, 2^128), rounded up."""
    if k >= 0:
        value = 10**k
        shift = value.bit_length() - 128
        return value << -shift if shift <= 0 else -(-value >> shift)
    divisor = 10**-k
    shift = 127 + divisor.bit_length()
    value = -(-(1 << shift) // divisor)
    if value >> 128:
        value = -(-(1 << shift - 1) // divisor)
    return value


print('/* Written by number_table.py: the 128 leading bits of powers of ten, rounded up. */')
print('#include "storage/text/number_table.h"')
print()
print('const struct hub_power hub_powers_of_ten[HUB_POWER_COUNT] = {')
for k in range(LOWEST, HIGHEST + 1):
    bits = leading(k)
    assert bits >> 127 == 1
    print('    {0x%016XU, 0x%016XU}, /* %d */' % (bits >> 64, bits & (1 << 64) - 1, k))
print('};')

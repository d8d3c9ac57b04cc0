/** A hexadecimal digit of either case, as texts from outside write them. */
#ifndef HUB_BASE_HEX_H
#define HUB_BASE_HEX_H

/** Its value, or -1. */
static inline int hub_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif

/* Addresses and networks: see network.h. */
#include "storage/text/network.h"

#include "storage/text/number.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

_Static_assert(HUB_ADDRESS_CHARS == INET6_ADDRSTRLEN && HUB_CIDR_CHARS == INET6_ADDRSTRLEN + 4,
               "an address, a slash and three digits");

static void map_four(const struct in_addr *four, uint8_t out[16])
{
    memset(out, 0, 10);
    memset(out + 10, 0xFF, 2);
    memcpy(out + 12, four, sizeof *four);
}

struct hub_address hub_address_of(const struct sockaddr *peer)
{
    struct hub_address address = {.known = true};
    if (peer && peer->sa_family == AF_INET)
        map_four(&((const struct sockaddr_in *)(const void *)peer)->sin_addr, address.six);
    else if (peer && peer->sa_family == AF_INET6)
        memcpy(address.six, &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr,
               sizeof address.six);
    else
        address.known = false;
    return address;
}

/* @param[out] width  32 for IPv4, else 128 */
static bool read_address(struct hub_view text, uint8_t out[16], unsigned *width)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr four;
    if (text.size == 0 || text.size >= sizeof copy || memchr(text.data, '\0', text.size))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *width = 128;
    if (inet_pton(AF_INET6, copy, out) == 1)
        return true;
    if (inet_pton(AF_INET, copy, &four) != 1)
        return false;
    map_four(&four, out);
    *width = 32;
    return true;
}

bool hub_address_read(struct hub_view text, struct hub_address *out)
{
    unsigned width;
    *out = (struct hub_address){0};
    out->known = read_address(text, out->six, &width);
    return out->known;
}

bool hub_address_is_loopback(const struct hub_address *address)
{
    static const struct hub_cidr four = {{[10] = 0xFF, [11] = 0xFF, [12] = 127}, 104},
                                 six = {{[15] = 1}, 128};
    return hub_cidr_has(&four, address) || hub_cidr_has(&six, address);
}

/* The address with the bits that do not count cleared. */
static void mask(const uint8_t address[16], unsigned bits, uint8_t out[16])
{
    for (unsigned i = 0; i < 16; i++) {
        const unsigned kept = bits <= 8 * i ? 0 : HUB_MIN(bits - 8 * i, 8U);
        out[i] = address[i] & (uint8_t)(0xFF00U >> kept);
    }
}

static bool read_cidr(struct hub_view text, struct hub_cidr *out)
{
    const char *slash = text.size ? memchr(text.data, '/', text.size) : NULL;
    const size_t size = slash ? (size_t)(slash - text.data) : text.size;
    unsigned width = 0;
    uint64_t bits = 0;
    if (!read_address((struct hub_view){text.data, size}, out->address, &width))
        return false;
    bits = width;
    if (slash && !hub_number_read((struct hub_view){slash + 1, text.size - size - 1}, width, &bits))
        return false;
    out->bits = (unsigned)bits + 128 - width;
    return true;
}

bool hub_cidr_around(struct hub_view text, struct hub_cidr *out)
{
    struct hub_cidr given;
    if (!read_cidr(text, &given))
        return false;
    out->bits = given.bits;
    mask(given.address, given.bits, out->address);
    return true;
}

enum hub_status hub_cidr_read(struct hub_view text, struct hub_cidr *out, struct hub_error *err)
{
    struct hub_cidr whole;
    char meant[HUB_CIDR_CHARS];
    if (!read_cidr(text, out) || !hub_cidr_around(text, &whole))
        return hub_fail(err, HUB_INVALID, "\"%.*s\" is not a network: write it as 10.0.0.0/8 or fd00::/8",
                        (int)HUB_MIN(text.size, 60), text.data);
    if (memcmp(whole.address, out->address, sizeof whole.address) == 0)
        return HUB_OK;
    hub_cidr_write(&whole, meant);
    return hub_fail(err, HUB_INVALID, "\"%.*s\" has an address inside the network: write %s",
                    (int)HUB_MIN(text.size, 60), text.data, meant);
}

void hub_cidr_write(const struct hub_cidr *network, char out[HUB_CIDR_CHARS])
{
    struct in6_addr six;
    memcpy(&six, network->address, sizeof six);
    const bool four = IN6_IS_ADDR_V4MAPPED(&six) && network->bits >= 96;
    const void *from = four ? network->address + 12 : network->address;
    char text[INET6_ADDRSTRLEN] = "";
    (void)inet_ntop(four ? AF_INET : AF_INET6, from, text, sizeof text);
    snprintf(out, HUB_CIDR_CHARS, "%s/%u", text, four ? network->bits - 96 : network->bits);
}

void hub_address_write(const struct hub_address *address, char out[HUB_ADDRESS_CHARS])
{
    struct in6_addr six;
    memcpy(&six, address->six, sizeof six);
    const bool four = IN6_IS_ADDR_V4MAPPED(&six);
    out[0] = '\0';
    if (address->known)
        (void)inet_ntop(four ? AF_INET : AF_INET6, address->six + (four ? 12 : 0), out, HUB_ADDRESS_CHARS);
}

bool hub_cidr_has(const struct hub_cidr *network, const struct hub_address *address)
{
    if (!address->known)
        return false;
    uint8_t within[16];
    mask(address->six, network->bits, within);
    return memcmp(within, network->address, sizeof within) == 0;
}

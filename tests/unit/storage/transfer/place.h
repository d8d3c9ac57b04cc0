/** A fresh folder with the folder of our own in it. */
#ifndef HUB_TEST_PLACE_H
#define HUB_TEST_PLACE_H

#include "storage/transfer/private.h"

#include "folder.h"

static struct hub_private place;

static inline void set_up(void)
{
    make_folder();
    cr_assert_eq(hub_private_open(folder, true, &place, NULL), HUB_OK);
}

static inline void tear_down(void)
{
    hub_private_close(&place);
    remove_folder();
}

#endif

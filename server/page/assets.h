/** The files of web/assets, embedded in the program. */
#ifndef HUB_PAGE_ASSETS_H
#define HUB_PAGE_ASSETS_H

/** Names their state: part of their addresses, which therefore never change what they mean. Any thread. */
const char *hub_assets_build(void);

#endif

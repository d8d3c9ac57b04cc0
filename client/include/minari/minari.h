/** libminari: the client of minari-hub. This header includes all others. */
#ifndef MINARI_MINARI_H
#define MINARI_MINARI_H

#include <minari/client.h>
#include <minari/dataset.h>
#include <minari/error.h>
#include <minari/local.h>
#include <minari/namespace.h>
#include <minari/remote.h>
#include <minari/revisions.h>
#include <minari/sample.h>
#include <minari/tables.h>
#include <minari/upload.h>

#endif

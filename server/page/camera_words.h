/** What is said of cameras, and which fields are pictures: from documents of the API. */
#ifndef HUB_PAGE_CAMERA_WORDS_H
#define HUB_PAGE_CAMERA_WORDS_H

#include "server/page/ask.h"

/** "H.264" of "avc1.64001e"; what has no name here, as it is. */
struct hub_view page_codec(struct hub_view codecs);
/** Frames a second of a video, from a ratio: "30000/1001"; 0: unknown. */
double page_rate(const json_t *media);

/** Whether the rows of a field are shown as pictures. */
bool page_is_picture(const json_t *field);
/** Whether the dataset calls a field a camera whose pictures no browser shows. */
bool page_is_unshown(const json_t *dataset, const json_t *field);
/** Why the pictures of a field are not shown. */
struct hub_view page_picture_problem(const json_t *field);
/** Whether a field says how a camera stands: its matrices. */
bool page_is_camera_matrix(const json_t *field);
/** The shortest last part of a field's path that no other picture of the dataset has. */
struct hub_view page_picture_label(const json_t *dataset, struct hub_view path);
/** Bytes of the pixels of a row; 0: it is stored as a picture. */
uint64_t page_pixel_bytes(const json_t *field);

#endif

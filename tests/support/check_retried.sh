#!/bin/sh
# Each line of retried.txt names a test, a date and a reason; there are at most three.
set -eu
lines=$(grep -v '^#' tests/support/retried.txt || true)
[ -n "$lines" ] || exit 0
echo "$lines"
[ "$(echo "$lines" | wc -l)" -le 3 ]
! echo "$lines" | grep -vE '^[a-z0-9_]+ +20[0-9]{2}-[0-9]{2}-[0-9]{2} +.{20,}$'

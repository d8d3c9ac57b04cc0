#!/bin/sh
# check_links.sh PROGRAM...: none of them may load libhdf5, nor link it statically.
set -eu
status=0
for program in "$@"; do
    if ldd "$program" | grep -i hdf5 || nm -C "$program" 2>/dev/null | grep -q ' [TtU] H5[A-Z]*open'; then
        echo "$program links libhdf5"
        status=1
    fi
done
exit $status

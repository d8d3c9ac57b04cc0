#!/bin/sh
# The image is built from the packages that run.sh installs, no more and no fewer.
set -eu
words() { tr ' \\' '\n\n' | grep -E '^[a-z0-9][a-z0-9.+-]+$' | sort -u; }
sed -n 's/^PACKAGES_BUILD="\(.*\)"$/\1/p' server/run.sh | words >build/packages.run
sed -n '/^# build packages/,/^# end of build packages/p' docker/Dockerfile | grep -v '^#' | sed 's/^RUN.*recommends//; s/&&.*//' | words >build/packages.docker
[ -s build/packages.run ]
diff build/packages.run build/packages.docker

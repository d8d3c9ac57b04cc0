#!/bin/sh
# The clients that take long to install or to start: sh tests/conformance/slow.sh [--yes] [PYTEST OPTION...]
HUB_SUITE=slow exec sh "$(dirname "$0")/run.sh" "$@"

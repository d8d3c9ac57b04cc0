#!/bin/sh
# Every commit since FIRST: the subject has at most 72 characters, and after its "area: " it begins with a verb in the imperative (one of
# imperatives.txt: add the verb that is missing). One that adds more than 1,500 lines, besides fixtures, vendored files and moves, has a
# line in its body that begins with "One commit: " and says why it is not several.
set -eu
cd "$(dirname "$0")/../.."
FIRST=8b38837bbd48f0424ac53a9cae42c6e38ee6ef4f # commits up to this one are older than the rule
MOST=1500
if git cat-file -e "$FIRST^{commit}" 2>/dev/null; then
    range=$FIRST..HEAD
else
    echo "history: $FIRST is not here (a shallow clone?): only the newest commit is checked"
    range="-1 HEAD"
fi
status=0
fail() {
    echo "$1: $2"
    status=1
}
# shellcheck disable=SC2086
for commit in $(git rev-list --no-merges $range); do
    subject=$(git log -1 --format=%s "$commit")
    short=$(git log -1 --format='%h %s' "$commit")
    [ "$(printf %s "$subject" | wc -m)" -le 72 ] || fail "$short" "longer than 72 characters"
    verb=$(printf %s "$subject" | sed 's/^[a-z0-9_./, -]*: *//; s/[ ,].*//' | tr '[:upper:]' '[:lower:]')
    grep -qx -- "$verb" tests/support/imperatives.txt || fail "$short" "'$verb' is not in tests/support/imperatives.txt"
    lines=$(git show --numstat --format= -M "$commit" -- . ':!tests/fixtures' ':!tests/fuzz/corpus' ':!web/vendor' | awk '{n += $1} END {print n + 0}')
    [ "$lines" -le $MOST ] || git log -1 --format=%b "$commit" | grep -q '^One commit: ' || fail "$short" "adds $lines lines, and no line of its body begins with 'One commit: '"
done
exit $status

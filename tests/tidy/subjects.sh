#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# subjects.sh: the subjects of commits that follow the one which added this file are "layer: verb ...", at most 60
# letters long. subjects.sh --stdin checks lines instead ("layer: verb ..."). Without a history nothing is checked;
# neither are merges, nor commits of branches that began before this file.
set -euo pipefail
cd "$(dirname "$0")/../.."
letters_max=60
# An imperative begins with one of these. Another verb that says what a commit does may be added.
verbs='accept acknowledge add allow append apply ask avoid bind bless bound build call carry cast change check choose clear close convert
code collect compare compile compress compute copy count cover create cut deal decode delete derive describe destroy
detect divide document draw drive drop edit encode encrypt end enforce expect explain export fail feed find fix flush fold follow free
generate get give grant group guard handle hash hide hold ignore import include inline install join judge keep leave let limit
link list load lock log look lower make map mark measure mend merge mirror mix move name open order pack parse pass place play
prepare prevent print prove publish push put raise read record reduce refuse reject release reload remove rename reorder
repeat replace replay report require reserve reset resolve restore resume retry return reuse revert rewrite rotate round
run save say search seek select send separate serve set share shorten show shrink simplify skip sort speed split start
stop store stream support swap sync take tell test time track train treat trim try turn unify unpack update use validate
verify wait walk warn widen wrap write'

list_subjects() {
    local base
    [ "${1:-}" != --stdin ] || { cat; return; }
    base=$(git log -1 --format=%H --diff-filter=A -- tests/tidy/subjects.sh 2>/dev/null) || return 0
    [ -z "$base" ] || git log --no-merges --ancestry-path --format=%s "$base..HEAD"
}

list_subjects "${1:-}" | LC_ALL=C.UTF-8 awk -v max="$letters_max" -v verbs="$verbs" '
    BEGIN { count = split(verbs, list); for (i = 1; i <= count; i++) is_verb[list[i]] = 1 }
    function fault(text) { print text ": " $0; faults++ }
    {
        verb = $0
        sub(/^[^:]*: /, "", verb)
        sub(/[^a-z].*/, "", verb)
        if ($0 !~ /^[a-z][a-z_]*(, [a-z][a-z_]*)*: /) fault("no \"layer: \" in front")
        else if (!(verb in is_verb)) fault("begins with no imperative that tests/tidy/subjects.sh lists")
        if (length($0) > max) fault(length($0) " letters, at most " max)
    }
    END {
        if (faults) { print "subjects: " faults " faults: git commit --amend, or git rebase -i"; exit 1 }
        print "subjects: " NR " commits, no faults"
    }'

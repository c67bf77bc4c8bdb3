#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The commands of shoal-replay, on small logs of real bots that shoal-bench makes in virtual time.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

line=loss=5,delay=40,jitter=10,seed=3

# Builds with sanitizers have no benchmark; test_log_tools runs the same commands there.
has_bench() { [ -x "$bin/shoal-bench" ]; }

# make_log FILE [option...]: 10 s of breakout with three bots.
make_log() { # 604 ticks
    local file=$1
    shift
    SHOAL_MODULE_PATH=$games run_to 0 make shoal-bench --make-log breakout --clients 3 --hours 0.0028 \
        --net $line --output "$file" "$@"
}

# replay CODE COMMAND...: a command that ends with CODE; its output is in replay.out.
replay() { run_to "$1" replay shoal-replay "${@:2}"; }

scripts=$here/../../scripts
# tool CODE NAME ARGUMENT...: a script over the programs; its output is in NAME.out.
tool() {
    code=0
    PATH=$bin:$PATH "$scripts/$2" "${@:3}" >"$2.out" 2>"$2.err" || code=$?
    [ "$code" = "$1" ] || fail "$2 ended with $code, not $1"
}

case_a_log_sends_its_datagrams_again() {
    has_bench || return 0
    make_log a.slog
    says make.out '^made log=a.slog ticks=604 clients=3 datagrams=[0-9]+ bytes=[0-9]+ lost=[1-9]'
    local hash
    hash=$(value hash make.out)
    for _ in 1 2; do
        replay 0 datagrams a.slog --net $line
        says replay.out "^datagrams ticks=604 clients=3 .* hash=$hash as_in_the_log=yes\$"
    done
    replay 0 datagrams a.slog --net $line --tick 500
    says replay.out '^datagrams ticks=500 .* as_in_the_log=yes$'
    replay 0 datagrams a.slog
    says replay.out 'as_in_the_log=no from_tick=[1-9]'
    replay 2 datagrams a.slog --net los=5
    says replay.err 'did you mean loss'
}

# Bots without a network: half of the work, and a log like any other.
case_a_log_is_made_without_a_network() {
    has_bench || return 0
    make_log a.slog --local
    replay 0 verify a.slog
    [ "$(value state_hash replay.out)" = "$(value state_hash make.out)" ] || fail "another state"
    replay 0 stats a.slog
    says replay.out '^items joins=3 leaves=0 inputs=1809 input_repeats=0 '
}

case_a_real_servers_log_is_sent_again_too() {
    match_of 2 120 a.slog
    replay 0 datagrams a.slog
    says replay.out '^datagrams ticks=120 clients=2 sent=[1-9]'
}

case_a_folder_of_logs_has_a_line_each() {
    has_bench || return 0
    mkdir week
    make_log week/a.slog
    make_log week/b.slog --seed 2
    head -c 12000 week/a.slog >week/cut.slog
    : >week/none.slog
    touch week/b.slog.queue week/readme.txt
    tool 1 verify week
    [ "$(wc -l <verify.out)" = 5 ] || fail "not a line for each log"
    says verify.out '^log=a.slog verified ticks=604 .* tail=whole'
    says verify.out '^log=cut.slog verified ticks=[1-9][0-9]* .* tail=cut'
    says verify.out '^log=none.slog failed exit=1$'
    says verify.out '^logs=4 verified=3 diverged=0 failed=1$'
    copy_games other
    change other/breakout.blk 's/^ball {\(.*\)vel:p2=330,-550 /ball {\1vel:p2=330,-551 /'
    SHOAL_MODULE_PATH=$PWD/other tool 5 verify week --threads 2
    says verify.out '^log=a.slog diverged tick=[1-9][0-9]* component='
    mkdir empty
    tool 2 verify empty
    says verify.err 'no logs'
    printf '#!/bin/sh\nkill -SEGV $$\n' >empty/shoal-replay
    chmod +x empty/shoal-replay
    bin=$PWD/empty tool 1 verify week
    says verify.out '^log=b.slog crashed signal=11$'
}

# The second process runs the first minute: what it leaves out is said.
case_a_second_run_that_is_shorter_is_told() {
    has_bench || return 0
    SHOAL_MODULE_PATH=$games run make shoal-bench --make-log breakout --clients 2 --hours 0.0175 --local \
        --output a.slog
    replay 0 verify a.slog
    says replay.out '^verified ticks=3780 .* tail=whole lost_bytes=0 again_ticks=3600$'
    replay 0 verify a.slog --once
    says replay.out ' tail=whole lost_bytes=0$'
    replay 0 slice a.slog --from 601 --output b.slog
    replay 0 verify b.slog
    says replay.out '^verified ticks=3180 .* tail=whole lost_bytes=0 first_tick=601$'
}

case_progress_is_told_when_asked_for() {
    has_bench || return 0
    make_log a.slog
    replay 0 verify a.slog
    [ ! -s replay.err ] || ! grep -q progress replay.err || fail "progress without a terminal"
    replay 0 verify a.slog --progress
    says replay.err '^progress tick=604 of=604 ticks_per_s=[0-9]+$'
}

case_two_logs_are_compared_to_the_value() {
    has_bench || return 0
    make_log a.slog
    make_log again.slog
    make_log b.slog --net delay=100
    tool 0 diff a.slog again.slog
    says diff.out '^same ticks=604 differences=0$'
    tool 5 diff a.slog b.slog
    says diff.out '^differs what=input tick=[1-9][0-9]* client=[1-3]$'
    says diff.out '^differs what=state tick=[1-9]'
    says diff.out '^differs what=value entity=[0-9]+:[0-9]+ component=input field=move a=[0-9-]+ b=[0-9-]+$'
    make_log seed.slog --seed 2
    tool 5 diff a.slog seed.slog
    says diff.out '^differs what=seed a=1 b=2$'
    says diff.out '^differs what=state tick=1 '
    says diff.out '^differs what=value entity='
    SHOAL_MODULE_PATH=$games run make shoal-bench --make-log cubes --clients 1 --hours 0.001 --output c.slog
    tool 5 diff a.slog c.slog
    says diff.out '^differs what=game a=breakout b=cubes$'
    tool 2 diff a.slog
    : >none.slog
    tool 1 diff a.slog none.slog
    [ ! -s diff.out ] || fail "what is no log is compared"
}

# What rarely differs in two matches of a game: the lines of one log, and these with a change.
case_each_line_of_a_log_is_compared() {
    has_bench || return 0
    make_log a.slog
    local what bin=$bin state
    for what in info dump export; do "$bin/shoal-replay" $what a.slog --what all --from 48 --to 48 | tee a.$what >b.$what; done
    bin=$PWD/lines
    mkdir lines
    printf '#!/bin/sh\nexec cat "$2.$1"\n' >lines/shoal-replay
    chmod +x lines/shoal-replay
    # finds CODE FILE SCRIPT LINE...: a log whose FILE is changed by this script of sed differs in these lines.
    finds() {
        for what in info dump export; do sed -E "$([ $what != "$2" ] || echo "$3")" b.$what >c.$what; done
        tool "$1" diff a c
        diff <(printf '%s\n' "${@:4}" | tr '~' ' ') diff.out || fail "$3 makes another difference"
    }
    local at='/^\{"begin":\{"tick":48,/' one='different ticks=604 differences=1'
    finds 0 dump "$at"'s/"number":4/"number":5/' 'same ticks=604 differences=0'
    finds 0 info 's/^set=lives=3/set=lives=4/' 'differs what=setting a=lives=3 b=lives=4' 'same ticks=604 differences=1'
    finds 5 dump "$at"'i {"control":{"tick":48,"verb":"mark","arguments":["b"]}}' 'differs what=control tick=48' "$one"
    finds 5 dump 's/"bot 2"/"ann"/' 'differs what=join tick=1 client=2' "$one"
    finds 5 dump "$at"'s/"tick":48,/&"leaves":[{"client":3,"reason":1}],/' 'differs what=leave tick=48 client=3' "$one"
    finds 5 dump "$at"'s/,\{"client":3.*\}\]/]/' 'differs what=input tick=48 client=3' "$one"
    finds 5 dump "$at"'p' 'differs what=records tick=48' "$one"
    state=$(sed -nE 's/^\{"end":\{"tick":48,"state_hash":"([0-9a-f]+).*/\1/p' a.dump)
    sed -i "s/\"$state\"/\"7\"/" a.dump
    local differs="differs what=state tick=48 a=7 b=$state"
    finds 5 export '/"1:1"/s/"breakout_match"/"x"/; /"53:1"/d; /"50:1"/s/"is_held":false/"is_held":true/; s/"isPad":true,//' "$differs" \
        'differs what=entity entity=1:1 a=breakout_match b=x' \
        'differs what=value entity=50:1 component=owner field=is_held a=false b=true' \
        'differs what=entity entity=53:1 a=breakout_pad b=none' 'different ticks=47 differences=4'
    # shellcheck disable=SC2046
    finds 5 export 's/"y":24/"y":25/' "$differs" \
        $(seq 2 21 | sed 's/.*/differs~what=value~entity=&:1~component=rectSize~field=y~a=24~b=25/') 'and more' 'different ticks=47 differences=21'
}

csv=$scripts/csv
# Every line is one object, or has as many cells as the first one.
is_json() { python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' <"$1" || fail "$1 is no JSON"; }
is_csv() { python3 -c 'import csv, sys
rows = list(csv.reader(sys.stdin))
sys.exit(len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows))' <"$1" || fail "$1 is no CSV"; }

case_values_inputs_and_events_are_exported() {
    has_bench || return 0
    make_log a.slog
    replay 0 export a.slog --what every=200,components=pos+player
    says replay.out '^\{"tick":400,"entity":"[0-9]+:[0-9]+","template":"breakout_pad","pos":\{"x":[0-9.]+,"y":[0-9.]+\},"player":\{"client":1,'
    is_json replay.out
    ! grep -q '"tick":401' replay.out || fail "more ticks than asked for"
    replay 0 export a.slog --what all,every=200 --output all.jsonl
    says replay.out '^exported rows=[1-9][0-9]* ticks=604 file=all.jsonl$'
    is_json all.jsonl
    "$csv" <all.jsonl >values.csv
    says values.csv '^tick,entity,template,pos.x,pos.y,'
    is_csv values.csv
    local what
    for what in inputs events; do
        replay 0 export a.slog --what $what
        is_json replay.out
        "$csv" $what <replay.out >$what.csv
        is_csv $what.csv
        "$csv" $what <all.jsonl | cmp - $what.csv || fail "all of the log has other $what"
    done
    says events.csv '^1,1,join,"\{""client"":1,""name"":""bot 1""'
    ! "$csv" <replay.out >none.csv 2>csv.err || fail "values without the names of their columns"
    replay 0 export a.slog --what inputs --from 100 --to 100
    [ "$(wc -l <replay.out)" = 3 ] || fail "not the inputs of one tick"
    # Without the game messages are hex, and values are those in the log.
    replay 0 export a.slog --what every=200,components=player+hits
    mv replay.out run.txt
    mkdir elsewhere
    cp "$bin/shoal-replay" elsewhere/
    bin=$PWD/elsewhere replay 0 export a.slog --what inputs --from 100 --to 100
    says replay.out '"payload":"[0-9a-f]*"'
    bin=$PWD/elsewhere replay 0 export a.slog --what every=200,components=player+hits
    says replay.err 'the match is not run, because its game is not here'
    cmp -s replay.out run.txt || fail "the log has other values than a run of it"
}

case_exports_refuse_what_is_not_there() {
    has_bench || return 0
    make_log a.slog
    replay 2 export a.slog --what components=pos+colour
    says replay.err "no component \"colour\", did you mean 'color'"
    replay 2 export a.slog --what all,components=pos+colour --output none.jsonl
    [ ! -e none.jsonl ] || fail "a refused export left a file"
    replay 2 export a.slog --what pictures
    says replay.err 'what needs values\|inputs\|events\|all, not .pictures.'
    replay 2 export a.slog --from 9 --to 8
    says replay.err 'is before --from'
    replay 2 export a.slog --what every=0
}

# The page of a client's record has the bytes that a spectator may have, and ends when it is asked to.
case_serve_shows_what_a_client_recorded() {
    start_ready server shoal-server --game breakout --listen 127.0.0.1:0 --ticks 240 --log none --min-clients 1
    run_to 0 client shoal-client "$(value listen server.out)" --bots 1 --record seen.slog
    ends_with 0 server
    start_ready serve shoal-replay serve seen.slog --http 127.0.0.1:0
    says serve.out '^ready http=http://[^ ]* game=breakout$'
    python3 "$here/inspect.py" "$(value http serve.out)" recorded >page.out 2>page.err ||
        fail "the page answers something else"
    for file in seen got; do
        run_to 0 $file shoal-client --replay $file.slog --headless
    done
    [ "$(value ticks got.out)" -ge 230 ] && [ "$(value ticks got.out)" = "$(value ticks seen.out)" ] ||
        fail "the page's bytes are another record"
    stop serve
}

# A client has what the rules show it: of arena a part, of breakout all but what is local.
case_show_tells_what_a_client_had_been_sent() {
    has_bench || return 0
    SHOAL_MODULE_PATH=$games run make shoal-bench --make-log arena --clients 2 --tick-rate 30 \
        --hours 0.001 --output a.slog
    replay 0 show a.slog --tick 90,client=2
    says replay.out '^tick=90 client=2 client_tick=90 entities=[1-9][0-9]* of=[1-9][0-9]{3} by=sent_again net=perfect$'
    says replay.out '^entity=[0-9]+:[0-9]+ template=arena_soldier component=pos '
    [ "$(value entities replay.out | head -1)" -lt "$(value of replay.out | head -1)" ] ||
        fail "a client sees all of arena"
    replay 0 show a.slog --tick 90,client=2 --net delay=100
    says replay.out 'client_tick=8[5-8] .* net=delay=100$'
    replay 2 show a.slog --tick client=3
    says replay.err 'client 3 does not play at tick 108'
    replay 2 show a.slog --tick 109,client=1
    says replay.err 'the log ends at tick 108'
}

# make_long_log FILE: 1,500 ticks with keyframes after ticks 600 and 1,200.
make_long_log() {
    SHOAL_MODULE_PATH=$games run make shoal-bench --make-log breakout --clients 2 --hours 0.00695 \
        --local --output "$1"
}

# In the middle of its bytes a file is changed, cut, or both; what is left becomes whole logs.
case_a_damaged_or_cut_log_becomes_whole_ones() {
    has_bench || return 0
    make_long_log a.slog
    replay 2 repair a.slog
    says replay.err 'name the new file with --output'
    replay 0 repair a.slog --output none.slog
    says replay.err 'it is whole'
    [ ! -e none.slog ] || fail "a whole log is copied"
    local size
    size=$(wc -c <a.slog)
    head -c $((size / 3)) a.slog >cut.slog
    replay 0 repair cut.slog --output one.slog
    says replay.out '^repaired file=one.slog first_tick=1 last_tick=[1-9][0-9]+$'
    says replay.out '^repaired parts=1 ticks=[1-9][0-9]+ .* lost_bytes=[1-9]'
    is_whole_log one.slog "$(value ticks replay.out)"
    replay 1 repair cut.slog --output one.slog
    says replay.err 'is there already'
    cp a.slog damaged.slog
    printf 'xxxx' | dd of=damaged.slog bs=1 seek=$((size / 5)) conv=notrunc status=none
    replay 0 repair damaged.slog --output parts.slog
    says replay.out '^repaired file=parts.slog.2 first_tick=601 last_tick=1501$'
    says replay.out '^repaired parts=2 .* damaged_blocks=1 lost_ticks=[1-9]'
    is_whole_log parts.slog "$(($(value last_tick replay.out | head -n 1)))"
    is_whole_log parts.slog.2 901
    [ ! -e parts.slog.queue ] || fail "a queue is left"
}

# is_whole_log FILE TICKS: it verifies, and nothing is missing.
is_whole_log() {
    is_closed "$1"
    run_to 0 verify shoal-replay verify "$1"
    says verify.out "^verified ticks=$2 .* tail=whole lost_bytes=0( first_tick=[1-9][0-9]+)?\$"
}

# A slice begins with the keyframe before its first tick; everything in it is as in the long log.
case_a_slice_runs_from_its_keyframe() {
    has_bench || return 0
    make_long_log a.slog
    replay 0 slice a.slog --from 700 --to 800 --output clip.slog
    says replay.out '^sliced file=clip.slog first_tick=601 last_tick=800 ticks=200$'
    is_whole_log clip.slog 200
    replay 0 show a.slog --tick 750
    mv replay.out long.txt
    replay 0 show clip.slog --tick 750
    cmp -s replay.out long.txt || fail "tick 750 of the slice is another one"
    replay 0 export clip.slog --from 780 --what every=20,components=pos
    says replay.out '^\{"tick":800,'
    replay 0 export clip.slog --what components=pos --to 602
    says replay.out '^\{"tick":601,'
    ! grep -q '^{"tick":1,' replay.out || fail "values of a tick that the clip does not have"
    replay 0 slice clip.slog --from 790 --output again.slog
    says replay.out 'first_tick=601 last_tick=800 '
    replay 0 slice a.slog --to 50 --output start.slog
    is_whole_log start.slog 50
    run_to 0 film shoal-client --replay clip.slog --headless --speed 64
    replay 2 slice a.slog --from 9 --to 8 --output no.slog
    replay 2 slice a.slog --from 1502 --output no.slog
    says replay.err 'the log ends at tick 1501'
    replay 2 datagrams clip.slog
    says replay.err 'it begins with tick 601'
}

# The queue of a killed server holds what its file lacks.
# By tick, wherever the logs begin.
case_a_slice_is_compared_with_its_log_by_tick() {
    has_bench || return 0
    make_long_log a.slog
    replay 0 slice a.slog --from 700 --to 800 --output clip.slog
    tool 0 diff a.slog clip.slog
    says diff.out '^differs what=first_tick a=1 b=601$'
    says diff.out '^same ticks=200 differences=2$'
    SHOAL_MODULE_PATH=$games run make shoal-bench --make-log breakout --clients 2 --hours 0.00695 \
        --net delay=100 --output b.slog
    tool 5 diff clip.slog b.slog
    says diff.out '^differs what=state tick=601 '
    says diff.out '^differs what=value entity='
    replay 0 slice a.slog --from 1300 --output end.slog
    tool 5 diff clip.slog end.slog
    says diff.out '^different ticks=0 '
}

case_the_log_of_a_killed_server_is_repaired_with_its_queue() {
    serve server --min-clients 1 --log a.slog
    enters client rows.txt --bots 1
    slay server
    ended client
    verifies a.slog
    local ticks
    ticks=$(value ticks verify.out)
    replay 0 repair a.slog --output b.slog
    says replay.out "^repaired file=b.slog first_tick=1 last_tick=$ticks\$"
    says replay.out "^repaired parts=1 ticks=$ticks queue_records=[1-9]"
    is_closed b.slog
    verifies b.slog
    [ "$(value ticks verify.out)" = "$ticks" ] || fail "ticks are missing"
}

case_components_templates_and_clients_are_counted() {
    has_bench || return 0
    make_log a.slog
    replay 0 stats a.slog
    says replay.out '^total ticks=604 '
    mv replay.out stats.txt
    replay 0 dump a.slog
    "$scripts/tally" <replay.out >tally.txt || fail "tally"
    says tally.txt '^component name=pos changes=[1-9][0-9]* share=[0-9.]+%'
    says tally.txt '^template name=breakout_pad created=3 destroyed=0 recreated=0$'
    says tally.txt '^client id=1 name=bot_1 join_tick=1 leave_tick=0 inputs=[5-6][0-9]{2} '
    local inputs
    inputs=$(sed -nE 's/^items .* inputs=([0-9]+) .*/\1/p' stats.txt)
    [ "$(grep -oE ' input(s|_repeats)=[0-9]+' tally.txt | awk -F= '{ n += $2 } END { print n }')" = "$inputs" ] || fail "not $inputs inputs"
    # Without the lines of one tick's state nothing is made up; what an end has is counted once.
    grep -v '^{"state":{"tick":30,' replay.out | "$scripts/tally" >less.txt
    diff tally.txt less.txt >differs.txt || true
    says differs.txt '^> without_detail ticks=1$'
    ! "$scripts/tally" <stats.txt >none.txt 2>&1 || fail "what is no dump is counted"
}

run_cases "$@"

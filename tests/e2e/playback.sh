#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shoal-client plays a log without a window: its end, exit codes, and which logs it accepts.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# record LOG TICKS [option...]: record a short match of two bots.
record() {
    serve server --min-clients 2 --ticks "$2" --log "$1" "${@:3}"
    run client shoal-client "$address" --bots 2
    ends_with 0 server
}

# replays LOG: play it to its end, which is that of verify.
replays() {
    verifies "$1"
    run_to 0 replay shoal-client --replay "$@" --headless
    says replay.out "^watched ticks=$(value ticks verify.out) clamped=0 tail=$(value tail verify.out) lost_bytes=$(value lost_bytes verify.out)\$"
}

case_a_replay_ends_as_verify_does() {
    record b.slog 240 --log content=inputs
    replays b.slog --at 100
    record a.slog 240
    replays a.slog
    # At another speed, and from the middle.
    replays a.slog --speed 8
    replays a.slog --at 200
    replays a.slog --game "$games/breakout.so"
}

# The log is opened while the match runs; the playback ends with the match.
case_a_log_that_is_still_written_is_followed() {
    serve server --min-clients 2 --ticks 300 --log a.slog
    start client shoal-client "$address" --bots 2
    await log test -s a.slog
    run_to 0 replay shoal-client --replay a.slog --headless --replay follow=1 --speed 4
    ends_with 0 client server
    says replay.out '^watched ticks=300 .* tail=whole lost_bytes=0$'
    # As fast as it goes, and then as the log grows.
    serve second --min-clients 2 --ticks 150 --log b.slog
    start client shoal-client "$address" --bots 2
    await log test -s b.slog
    run_to 0 replay shoal-client --replay b.slog --headless --replay follow=1
    ends_with 0 client second
    says replay.out '^watched ticks=150 .* tail=whole lost_bytes=0$'
    run replay shoal-client 127.0.0.1:1 --replay follow=1
    [ "$code" = 2 ] && says replay.err 'follow is for --replay FILE'
}

case_a_log_cut_short_replays_to_its_last_whole_tick() {
    record a.slog 240
    truncate -s $(($(stat -c %s a.slog) * 2 / 3)) a.slog
    replays a.slog
    says replay.out ' tail=cut '
}

# Reading goes on at the keyframe of tick 600.
case_a_damaged_log_replays_on_behind_the_damage() {
    record a.slog 720
    local middle=$(($(stat -c %s a.slog) / 2))
    printf 'DAMAGED' | dd of=a.slog bs=1 seek=$middle conv=notrunc status=none
    run_to 1 verify shoal-replay verify a.slog
    run_to 1 replay shoal-client --replay a.slog --headless
    says replay.err 'damaged: ticks [0-9]*\.\.600 are missing'
    says replay.out '^watched ticks=720 .* tail=damaged '
    [ "$(value ticks verify.out)" -ge 400 ] || fail "damage of one block cost more than 10 s"
    value state_hash server.out verify.out >hashes
    [ "$(sort -u hashes | wc -l)" = 1 ] || fail "the end is not that of the server"
}

# A log with states needs no run.
case_a_replay_with_another_build_of_the_game_diverges() {
    record a.slog 240 --log content=inputs
    record b.slog 240
    copy_games other
    change other/breakout.blk 's/^ball {\(.*\)vel:p2=330,-550 /ball {\1vel:p2=330,-550.00006103515625 /'
    SHOAL_MODULE_PATH=$PWD/other run_to 5 verify shoal-replay verify a.slog
    SHOAL_MODULE_PATH=$PWD/other run_to 5 replay shoal-client --replay a.slog
    [ "$(sed -n 's/^diverged tick=\([0-9]*\).*/\1/p' verify.out)" = "$(sed -n 's/^diverged tick=//p' replay.out)" ] ||
        fail "they diverge in different ticks"
    ! has_said replay.out '^watched ' || fail "a run that diverged is no replay of the log"
    SHOAL_MODULE_PATH=$PWD/other run_to 0 replay shoal-client --replay b.slog
    says replay.out '^watched ticks=240 clamped=0 tail=whole lost_bytes=0$'
}

# Another step, a component more, one that is not replicated any more.
change_schema() {
    change "$1" '/^breakout_ball {/,/^}/ s/_step:r=0.0625; value:p2=600/_step:r=0.25; value:p2=600/
        /^breakout_ball {/,/^}/ s/^ *"owner:.*/&\n    "spin:i"{ _track:b=yes; _replicate:b=yes; _bits:i=4; value:i=3 }/
        /^breakout_pad {/,/^}/ s/^ *_replicated:t="color"$//'
}

case_a_log_of_another_schema_is_watched_from_its_values() {
    record a.slog 240
    copy_games other
    change_schema other/breakout.blk
    SHOAL_MODULE_PATH=$PWD/other run_to 0 watch shoal-client --replay a.slog --headless --at 100
    says watch.out '^watched ticks=240 clamped=0 tail=whole lost_bytes=0$'
    says watch.err "the game's schema is not the log's: component spin is only here"
    says watch.err 'warning: component spin of template breakout_ball is not in the log and has its default$'
    says watch.err 'warning: component color of template breakout_pad is not replicated here and is left out$'
    # And the other way round: a log of that build, watched with this one.
    SHOAL_MODULE_PATH=$PWD/other record b.slog 240
    run_to 0 watch shoal-client --replay b.slog --headless
    says watch.out '^watched ticks=240 clamped=0 tail=whole lost_bytes=0$'
    says watch.err 'warning: component spin of the log is not here and is left out$'
}

# A range that is too small here: what does not fit is clamped and counted.
case_what_does_not_fit_here_is_clamped_and_counted() {
    record a.slog 240
    copy_games other
    change other/breakout.blk '/^breakout_pad {/,/^}/ s/_max:r=1919.9375; _step:r=0.0625/_max:r=383.9375; _step:r=0.0625/'
    SHOAL_MODULE_PATH=$PWD/other run_to 0 watch shoal-client --replay a.slog --headless
    says watch.err 'template breakout_pad, component pos: its number of bits is another one in the log'
    says watch.out '^watched ticks=240 clamped=[1-9][0-9]* tail=whole lost_bytes=0$'
}

# What a client saw is a log of its own: it is watched, and not run again.
case_a_client_records_what_it_saw() {
    serve server --min-clients 2 --ticks 480 --log a.slog
    start other shoal-client "$address" --bots 1
    run_to 0 client shoal-client "$address" --bots 1 --record seen.slog --net bad
    ends_with 0 other server
    run_to 0 replay shoal-client --replay seen.slog --headless
    says replay.out '^watched ticks=(47[0-9]|480) clamped=0 tail=whole lost_bytes=0$'
    run_to 0 replay shoal-client --replay seen.slog --headless --at 450
    run info shoal-replay info seen.slog
    says info.out '^recorded_by=client$'
    run_to 2 verify shoal-replay verify seen.slog
    says verify.err 'a client recorded what it saw: .* cannot run again. Watch it: shoal-client --replay seen.slog$'
    # Bricks do not move: those that it saw are those of the match.
    run values shoal-replay export a.slog --what components=pos --from 1 --to 1 --output all.jsonl
    run values shoal-replay export seen.slog --what components=pos --from 420 --to 420 --output seen.jsonl
    sed -n '/brick/ s/"tick":[0-9]*,//p' seen.jsonl | sort >seen.txt
    sed -n '/brick/ s/"tick":[0-9]*,//p' all.jsonl | sort >all.txt
    [ "$(wc -l <seen.txt)" -ge 10 ] || fail "the record has no bricks"
    [ -z "$(comm -23 seen.txt all.txt)" ] || fail "the record has other bricks"
    serve server --min-clients 1 --ticks 90 --log none
    run_to 1 client shoal-client "$address" --bots 1 --record nowhere/seen.slog
    says client.err 'nowhere/seen.slog'
    ends_with 0 server
    run refused shoal-client 127.0.0.1:1 --bots-thin 1 --record seen.slog
    [ "$code" = 2 ] && says refused.err 'record: thin bots have no world'
}

case_what_is_no_log_is_refused() {
    local wanted words
    echo "no log" >text.slog
    while read -r wanted words; do
        # shellcheck disable=SC2086
        run refused shoal-client $words
        [ "$code" = "$wanted" ] || fail "$words ended with $code, not $wanted"
        if [ ! -s refused.err ] || [ -s refused.out ]; then fail "$words: not a reason alone"; fi
    done <<'END'
1 --replay nowhere.slog
1 --replay text.slog
1 --replay .
2 --replay text.slog 127.0.0.1:1
2 --replay text.slog --headless --shot a.png
2 --replay text.slog --speed -1
END
    record a.slog 20
    run_to 2 refused shoal-client --replay a.slog --game tennis
    says refused.err tennis
}

run_cases "$@"

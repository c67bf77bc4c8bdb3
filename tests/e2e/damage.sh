#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Random damage of logs of three games, and what every command says about it (damage.py).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

damages=$((${SHOAL_E2E_DAMAGES:-$(scaled 60 12)} / 3))

# check LOG: every verdict on every damage is the truth.
check() {
    take_seed
    PATH=$bin:$PATH SHOAL_MODULE_PATH=$games python3 "$here/damage.py" "$bin" "$1" "$damages" "$SHOAL_E2E_SEED" >checked.out ||
        fail "not every verdict is the truth"
    tail -n 1 checked.out
}

# make_log GAME [option...]: a match without players, as fast as it goes.
make_log() {
    local game=$1
    shift
    run_to 0 server shoal-server --game "$game" --listen 127.0.0.1:0 --fast --log-sync end --tick-rate 30 "$@"
}

case_damage_of_one_file_is_judged_right_by_every_command() {
    if [ -x "$bin/shoal-bench" ]; then
        SHOAL_MODULE_PATH=$games run make shoal-bench --make-log breakout --clients 3 --hours 0.009 \
            --local --output a.slog
    else
        make_log breakout --ticks 900 --log a.slog
    fi
    check a.slog
}

case_damage_of_segments_is_judged_right_by_every_command() {
    make_log cubes --ticks 1300 --set cubes=100 --log-segment-s 10 --log a.slog
    [ -e a.slog.seg0004 ] || fail "not five files"
    check a.slog
}

# A save over a change of segment: a part of a log, in one file.
case_damage_of_saved_seconds_is_judged_right_by_every_command() {
    make_log arena --ticks 1400 --set agents=60 --set round_s=40 --log-segment-s 10 --log-ring 30 --log b.slog
    verifies b.saved-*.slog
    says verify.out ' tail=whole lost_bytes=0 first_tick=[0-9]+$'
    mv b.saved-*.slog a.slog
    check a.slog
    # A burst over header, copy and first keyframe that leaves the block header of the first one.
    PATH=$bin:$PATH SHOAL_MODULE_PATH=$games python3 "$here/damage.py" "$bin" a.slog 1 259708485 >checked.out ||
        fail "not every verdict on seed 259708485 is the truth"
}

# Also where a segment ended in the log: a save that is cut there is no log that was closed.
case_saved_seconds_that_are_cut_between_blocks_are_not_whole() {
    make_log arena --ticks 1400 --set agents=60 --set round_s=40 --log-segment-s 10 --log-ring 30 --log b.slog
    mv b.saved-*.slog a.slog
    SHOAL_MODULE_PATH=$games PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here python3 - "$bin" >cut.out <<'END' ||
import sys, damage
log = damage.Log(sys.argv[1], "a.slog")
for block in log.blocks[0][1:]:
    open("c.slog", "wb").write(log.files[0][: block.at])
    said = damage.run(sys.argv[1], "shoal-replay", "info", "c.slog")
    if said.returncode != 0 or "tail=cut" not in said.stdout:
        sys.exit(f"cut at byte {block.at}: {said.returncode} {said.stdout[-60:]}")
END
        fail "a cut save is called another thing"
}

# damaged PYTHON: the statement makes `files` of `log` (damage.py) something else; written as b.slog.
damaged() {
    SHOAL_MODULE_PATH=$games PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here python3 - "$bin" "$1" <<'END'
import sys, damage
log = damage.Log(sys.argv[1], "a.slog")
files = [bytearray(f) for f in log.files]
data = [b for b in log.blocks[-1] if b.type == damage.TYPE_DATA]
exec(sys.argv[2])
open("b.slog", "wb").write(files[-1])
END
}

# One bit of the block with the end record, in a closed log: three ticks are lost, and no more.
case_a_flipped_bit_in_the_last_block_hides_nothing() {
    make_log breakout --ticks 703 --log a.slog
    damaged 'files[-1][data[-1].at + 21] ^= 1'
    local command
    for command in info verify stats dump 'show --tick 650' 'export --what every=100' 'slice --output c.slog'; do
        # shellcheck disable=SC2086
        run_to 1 looked shoal-replay ${command%% *} b.slog $([[ $command = *' '* ]] && echo "${command#* }")
    done
    run looked shoal-replay verify b.slog
    says looked.out '^verified ticks=690 .* tail=damaged lost_bytes=[1-9]'
    run_to 1 looked shoal-client --replay b.slog --headless
    says looked.out '^watched ticks=690 .* tail=damaged lost_bytes=[1-9]'
    mkdir folder
    cp b.slog folder/
    PATH=$bin:$PATH "$here/../../scripts/verify" folder >looked.out && fail "the folder is whole"
    says looked.out '^log=b.slog verified ticks=690 .* tail=damaged '
    says looked.out '^logs=1 verified=0 diverged=0 failed=1$'
}

# Blocks from the end of the match, in front of its second one: all of them are read where they belong.
case_blocks_that_stand_too_early_cost_nothing() {
    make_log breakout --ticks 700 --log a.slog
    local count
    for count in 1 3; do
        damaged "files[-1][data[1].at:data[1].at] = b''.join(b.data for b in data[-$count:])"
        run_to 1 looked shoal-replay verify b.slog
        says looked.out '^verified ticks=700 .* tail=damaged lost_bytes=[1-9]'
    done
}

run_cases "$@"

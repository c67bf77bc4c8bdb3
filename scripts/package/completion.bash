# Completion of all programs: options, words of values and commands as --help=all of the program has them.
_shoal() {
    local help words= before=${COMP_WORDS[COMP_CWORD - 1]} command=
    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} =~ ^[a-z]+$ ]] && command=${COMP_WORDS[1]}
    help=$("$1" $command --help=all 2>/dev/null)
    [[ $before != --* ]] || words=$(sed -nE "s/^ *$before ([a-z|]+)[, ].*/\1/p" <<<"$help")
    [ -n "$words" ] || words=$(
        grep -oE '^ +--[a-z-]+' <<<"$help"
        [ "$COMP_CWORD" -gt 1 ] || sed '/^[A-Z]/,$d' <<<"$help" | tr ' |' '\n' | grep -xE '[a-z-]+'
    )
    mapfile -t COMPREPLY < <(compgen -f -W "${words//|/ }" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o filenames -F _shoal shoal-server shoal-client shoal-replay shoal-ctl shoal-relay shoal-host

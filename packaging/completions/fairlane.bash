# Completion of fairlane in bash: Fairlane itself says what a word may become.
_fairlane() {
    local rest=${COMP_LINE:0:COMP_POINT} typed=$2 words=() blanks word index
    # Bash parts words at `=`, `:` and `@` too; what no blank parts is one word to Fairlane.
    for ((index = 0; index <= COMP_CWORD; index++)); do
        blanks=${rest%%[![:blank:]]*}
        rest=${rest#"$blanks"}
        word=${COMP_WORDS[index]}
        if ((index == COMP_CWORD)); then word=$rest; fi
        if ((index == 0)) || [[ -n $blanks ]]; then words+=("$word"); else words[-1]+=$word; fi
        rest=${rest#"$word"}
    done
    # What stands before the part that bash puts an answer in the place of.
    if [[ $typed == [=:] ]]; then typed=; fi
    local before=${words[-1]%"$typed"}
    mapfile -t COMPREPLY < <(FAIRLANE_COMPLETE=bash fairlane -- "${words[@]}" 2>/dev/null)
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[/=:@+] ]]; then compopt -o nospace 2>/dev/null; fi
    return 0
}
complete -o nosort -F _fairlane fairlane

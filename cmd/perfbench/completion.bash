# __perfbench_words reads the words typed up to the cursor, where the package bash-completion is
# not there to do so. bash takes = and : for words; here they are parts of those around them.
__perfbench_words()
{
    local i word glued= rest=${COMP_LINE:0:COMP_POINT}
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if [[ ${rest} == [[:space:]]* ]]; then
            glued=
            rest=${rest#"${rest%%[![:space:]]*}"}
        fi
        word=${COMP_WORDS[i]}
        if ((i == COMP_CWORD)); then
            word=${rest}
        fi
        if [[ -n ${glued} ]]; then
            words[${#words[@]}-1]+=${word}
        else
            words+=("${word}")
        fi
        glued=1
        rest=${rest#"${word}"}
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=
    if ((cword > 0)); then
        prev=${words[cword - 1]}
    fi
}

# Bash cuts words at =, : and @: they are put together again, and of the answer only what stands behind the cut is given. Readline puts an
# answer in as it is, so it is quoted; in a word with an open quote only what needs no quoting is offered.
_skein() {
  local -a words=()
  local at=-1 i line=$COMP_LINE word skip quoted
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -gt 0 && $line != [[:space:]]* ]]; then words[at]+=$word; else words[++at]=$word; fi
    line=${line#*"$word"}
  done
  skip=${words[at]}
  if [[ $word == *[!=:@]* ]]; then skip=${skip%"$word"}; fi
  while IFS= read -r line; do
    case $line in
      $'\tfiles'*) compopt -o default 2>/dev/null ;;
      $'\tfolders'*) compopt -o dirnames 2>/dev/null ;;
      *)
        word=${line%%$'\t'*}
        printf -v quoted %q "$word"
        if [[ $quoted != "$word" && ${words[at]} == *[\"\'\$\`]* ]]; then continue; fi
        if [[ $quoted == "$skip"* ]]; then COMPREPLY+=("${quoted#"$skip"}"); fi
        ;;
    esac
  done < <(command skein completion words "$at" -- "${words[@]}" </dev/null 2>/dev/null)
}
if type compopt >/dev/null 2>&1; then complete -F _skein skein; else complete -o default -F _skein skein; fi

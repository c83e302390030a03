#compdef skein
# compadd quotes what it puts in.
_skein() {
  local line word about
  local -a found shown
  while IFS= read -r line; do
    word=${line%%$'\t'*}
    about=${line#*$'\t'}
    if [[ -n $word ]]; then
      found+=("$word")
      shown+=("$word${about:+  ($about)}")
    else
      compset -P "${(b)about#*$'\t'}"
      if [[ $about == folders* ]]; then _files -/; else _files; fi
      return
    fi
  done < <(command skein completion words $((CURRENT - 1)) -- "${(@)words[1,CURRENT]}" </dev/null 2>/dev/null)
  compadd -l -d shown -a found
}
if (( ! $+functions[compdef] )); then autoload -Uz compinit && compinit; fi
compdef _skein skein

/** Shells that Skein has a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** The file that a shell reads when it starts, and the line there that takes the script. */
export const START_LINES: Readonly<Record<Shell, readonly [file: string, line: string]>> = {
  bash: ['~/.bashrc', 'eval "$(skein completion bash)"'],
  zsh: ['~/.zshrc', 'eval "$(skein completion zsh)"'],
  fish: ['~/.config/fish/config.fish', 'skein completion fish | source'],
};

/*
 * Each script asks `skein completion words` what the word at the cursor may become, a line for each: the word, a tab, what it is. A line
 * that begins with a tab asks for paths: a tab, `files` or `folders`, a tab, what stands before the path in the same word. What comes is data:
 * no script evaluates it, or splits it at anything but line ends and the first tab.
 */

/**
 * Bash cuts words at `=`, `:` and `@`: they are put together again, and of the answer only what stands behind the cut is given. Readline puts
 * an answer in as it is, so it is quoted; in a word with an open quote only what needs no quoting is offered.
 */
const BASH = `_skein() {
  local -a words=()
  local at=-1 i line=$COMP_LINE word skip quoted
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $i -gt 0 && $line != [[:space:]]* ]]; then words[at]+=$word; else words[++at]=$word; fi
    line=\${line#*"$word"}
  done
  skip=\${words[at]}
  if [[ $word == *[!=:@]* ]]; then skip=\${skip%"$word"}; fi
  while IFS= read -r line; do
    case $line in
      $'\\tfiles'*) compopt -o default 2>/dev/null ;;
      $'\\tfolders'*) compopt -o dirnames 2>/dev/null ;;
      *)
        word=\${line%%$'\\t'*}
        printf -v quoted %q "$word"
        if [[ $quoted != "$word" && \${words[at]} == *[\\"\\'\\$\\\`]* ]]; then continue; fi
        if [[ $quoted == "$skip"* ]]; then COMPREPLY+=("\${quoted#"$skip"}"); fi
        ;;
    esac
  done < <(command skein completion words "$at" -- "\${words[@]}" </dev/null 2>/dev/null)
}
if type compopt >/dev/null 2>&1; then complete -F _skein skein; else complete -o default -F _skein skein; fi
`;

/** `compadd` quotes what it puts in. */
const ZSH = `#compdef skein
_skein() {
  local line word about
  local -a found shown
  while IFS= read -r line; do
    word=\${line%%$'\\t'*}
    about=\${line#*$'\\t'}
    if [[ -n $word ]]; then
      found+=("$word")
      shown+=("$word\${about:+  ($about)}")
    else
      compset -P "\${(b)about#*$'\\t'}"
      if [[ $about == folders* ]]; then _files -/; else _files; fi
      return
    fi
  done < <(command skein completion words $((CURRENT - 1)) -- "\${(@)words[1,CURRENT]}" </dev/null 2>/dev/null)
  compadd -l -d shown -a found
}
if (( ! $+functions[compdef] )); then autoload -Uz compinit && compinit; fi
compdef _skein skein
`;

/** Fish quotes what it puts in. */
const FISH = `function __skein_words
    set -l token (commandline -ct)
    set -l words (commandline -opc)
    for line in (command skein completion words (count $words) -- $words "$token" </dev/null 2>/dev/null)
        set -l parts (string split \\t -- $line)
        if test -n "$parts[1]"
            printf '%s\\n' $line
            continue
        end
        set -l path (string sub -s (math 1 + (string length -- "$parts[3]")) -- "$token")
        set -l paths (__fish_complete_path "$path")
        if test "$parts[2]" = folders
            set paths (__fish_complete_directories "$path" '')
        end
        for one in $paths
            printf '%s%s\\n' "$parts[3]" $one
        end
    end
end
complete -c skein -f -a '(__skein_words)'
`;

/** The scripts. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

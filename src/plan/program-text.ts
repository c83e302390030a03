/** Programs that run a program passed as text, and the options that pass it; one letter may be combined with others, as in `-lc`. */
const TEXT_OPTIONS: readonly (readonly [programs: RegExp, options: RegExp])[] = [
  [/^(?:(?:ba|rba|da|z|k|mk|a|fi|c|tc)?sh|su|script|flock)$/, /^(?:-[a-z]*c|--command)$/i],
  [/^(?:pwsh|powershell)$/, /^[-/](?:c|co[a-z]*|e[a-z]*)$/i],
  [/^cmd$/, /^\/[a-z]*[ck]$/i],
  [/^(?:python[\d.]*|pypy[\d.]*)$/, /^-[a-zA-Z]*c$/],
  [/^(?:node|nodejs|bun|deno|tsx)$/, /^(?:-[a-z]*[ep]+|--eval|--print|eval)$/],
  [/^perl[\d.]*$/, /^-[a-zA-Z\d]*[eE]$/],
  [/^(?:ruby|lua|luajit|Rscript|groovy|scala|elixir|osascript|julia)$/i, /^-[a-z]*e$/],
  [/^php[\d.]*$/, /^-[a-zA-Z]*[rBRE]$/],
];

/** Programs that run another program, passed as arguments. */
const WRAPPERS = new Set(
  (
    'env sudo doas pkexec su su-exec gosu sg runuser setpriv fakeroot nohup nice ionice time timeout stdbuf setsid setarch linux32 linux64 ' +
    'xargs parallel entr exec command builtin busybox toybox chroot unshare nsenter bwrap firejail systemd-run flock watch strace ltrace ' +
    'perf script unbuffer rlwrap chrt taskset numactl prlimit choom cpulimit caffeinate hyperfine ssh npx bunx uvx'
  ).split(' '),
);

/** Programs that run another program if one of their arguments says so. */
const SOMETIMES: readonly (readonly [program: RegExp, argument: RegExp])[] = [
  [/^(?:g?find|fd|fdfind)$/, /^--?(?:exec|ok|x)/i],
  [/^(?:npm|pnpm|yarn|bun|bundle|direnv)$/, /^(?:exec|x|dlx)$/],
  [/^(?:uv|poetry|pipenv|pdm|hatch|rye)$/, /^run$/],
  [/^(?:docker|podman|nerdctl)$/, /^(?:exec|run)$/],
  [/^git$/, /^(?:bisect|foreach|filter-branch|-x|--exec)/],
];

/** The loader of programs is itself a program. */
const LOADER = /^ld(?:-linux|-musl)?[\w.-]*\.so/;

/** Programs for which all words, or the first that is not an option, are program text. */
const ALL_TEXT = /^(?:eval|ssh)$/;
const FIRST_TEXT = /^(?:[gmn]?awk|sed|jq|watch)$/;

/** A word of a command: its text without references, and whether it has any. */
export interface CommandWord {
  readonly text: string;
  readonly hasReference: boolean;
}

/** `/usr/bin/RM` is `rm`, `cmd.exe` is `cmd`. */
export function programName(word: string): string {
  const name = word.split(/[\\/]/).at(-1) ?? '';
  return name.toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '');
}

/**
 * Returns the index of the word in which a reference would become part of a program: the program itself, or the text after `sh -c`, `python
 * -c`, `node -e` and the like, at any position. Undefined if references are only arguments.
 *
 * @example
 * referenceInProgram([{ text: 'sh', hasReference: false }, { text: '-c', hasReference: false }, { text: 'echo ', hasReference: true }]); // 2
 */
export function referenceInProgram(words: readonly CommandWord[]): number | undefined {
  if (words[0]?.hasReference === true) return 0;
  for (const [at, { text, hasReference }] of words.entries()) {
    const found = hasReference ? undefined : textBehind(programName(text), words, at + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function textBehind(program: string, words: readonly CommandWord[], from: number): number | undefined {
  const isText = (at: number): boolean => words[at]?.hasReference === true;
  if (ALL_TEXT.test(program)) return indexFrom(words, from, isText);
  if (FIRST_TEXT.test(program)) {
    const first = indexFrom(
      words,
      from,
      (at) => words[at]?.hasReference === true || words[at]?.text.startsWith('-') === false,
    );
    return first !== undefined && isText(first) ? first : undefined;
  }
  const options = TEXT_OPTIONS.find(([programs]) => programs.test(program))?.[1];
  if (options === undefined) return undefined;
  const joins = /^(?:pwsh|powershell|cmd)$/.test(program);
  for (let at = from; at < words.length; at += 1) {
    const { text, hasReference } = words[at] ?? { text: '', hasReference: false };
    // `--eval={{x}}`, `-c{{x}}`
    if (hasReference && options.test(text.replace(/=$/, ''))) return at;
    if (!hasReference && options.test(text)) {
      const found = joins ? indexFrom(words, at + 1, isText) : isText(at + 1) ? at + 1 : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function indexFrom(words: readonly CommandWord[], from: number, fits: (at: number) => boolean): number | undefined {
  for (let at = from; at < words.length; at += 1) if (fits(at)) return at;
  return undefined;
}

export function runsAnother(program: string, args: readonly string[]): boolean {
  if (WRAPPERS.has(program) || LOADER.test(program)) return true;
  return SOMETIMES.some(([programs, argument]) => programs.test(program) && args.some((word) => argument.test(word)));
}

/** Other programs that run what they read, or commands of a shell in it, and the arguments with which they read something else. */
const RUN_INPUT: readonly (readonly [programs: RegExp, otherwise: RegExp])[] = [
  [/^(?:psql|mysql|mariadb)$/, /^(?:-[a-z]*[cef]|--(?:command|execute|file))/],
  [/^(?:at|batch)$/, /^-[a-z]*f/],
  // Lines that begin with a dot start programs; with a statement as an argument it reads nothing else.
  [/^(?:sqlite3?|duckdb)$/, /^-+safe$|\s/],
  [/^(?:crontab|ed|ex|gdb|expect|tclsh|irb|r|sftp|ftp|parallel|m4|gnuplot|octave|ghci|jshell|dc)$/, /^[^-]/],
];

/** Names of standard input as a file. */
const INPUT = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

/** Returns whether a command runs what stands on its standard input: a shell or the like without a file and without a text. */
export function readsProgram(words: readonly CommandWord[]): boolean {
  const [first, ...rest] = words;
  const program = programName(first?.text ?? '');
  if (readsItself(words)) return true;
  // What xargs reads are arguments, so only the program that it starts counts, and only if they are names of scripts for it.
  if (program === 'xargs') return readsItself(rest.slice(rest.findIndex(({ text }) => !/^[-\d]/.test(text))));
  return (
    runsAnother(
      program,
      rest.map(({ text }) => text),
    ) && rest.some((_, at) => readsItself(rest.slice(at)))
  );
}

function readsItself([first, ...rest]: readonly CommandWord[]): boolean {
  const program = programName(first?.text ?? '');
  const others = RUN_INPUT.find(([programs]) => programs.test(program))?.[1];
  if (others !== undefined) return !rest.some(({ text }) => others.test(text));
  if (READ_FILES.test(program))
    return rest.some(({ text }, at) =>
      /^(?:-f|--file)$/.test(text) ? isInput(rest[at + 1]) : text.startsWith('-f') && INPUT.test(text.slice(2)),
    );
  // A shell of another machine, unless a command follows its name.
  if (program === 'ssh') return rest.length === 1;
  const options = TEXT_OPTIONS.find(([programs]) => programs.test(program))?.[1];
  if (options === undefined) return false;
  const decides = rest.find(
    (word) =>
      word.hasReference ||
      isInput(word) ||
      options.test(word.text) ||
      !word.text.startsWith('-') ||
      readsOn(word, program),
  );
  return decides === undefined || isInput(decides) || readsOn(decides, program);
}

const READ_FILES = /^(?:make|gmake|sed|[gmn]?awk)$/;

function isInput(word: CommandWord | undefined): boolean {
  return word?.hasReference === false && INPUT.test(word.text);
}

/** Whether a shell reads its input although arguments follow. */
function readsOn({ text, hasReference }: CommandWord, program: string): boolean {
  return !hasReference && program.endsWith('sh') && /^-[a-z]*s[a-z]*$/.test(text) && !/c/.test(text);
}

/** Variables by which programs find the code that they run. */
const FIND_CODE =
  /^(?:PATH|HOME|XDG_CONFIG_HOME|FPATH|BASH_ENV|BASH_FUNC_.+|OPENSSL_CONF|PSQLRC|KUBECONFIG|AWS_CONFIG_FILE|DOCKER_CONFIG|GEM_(?:HOME|PATH)|(?:PIP|UV|YARN|BUNDLE|ANSIBLE|JULIA)_\w+|ERL_\w*FLAGS|ENV|PS4|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|ZDOTDIR|(?:LD|DYLD)_\w+|GCONV_PATH|NODE_OPTIONS|NODE_PATH|PYTHON(?:STARTUP|PATH|HOME|INSPECT|BREAKPOINT)|PERL5?(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)|PHP(?:RC|_INI_SCAN_DIR)|LUA_INIT\w*|R_PROFILE\w*|_?JAVA_(?:TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|(?:MAVEN|GRADLE|JAVA)_OPTS|DOTNET_STARTUP_HOOKS|\w*PAGER|\w*EDITOR|VISUAL|BROWSER|LESS(?:OPEN|CLOSE)|VIMINIT|EXINIT|\w+_ASKPASS|GIT_(?:SSH|SSH_COMMAND|PROXY_COMMAND|EXTERNAL_DIFF|EXEC_PATH|CONFIG\w*|DIR|TEMPLATE_DIR)|RSYNC_RSH|CVS_RSH|TAR_OPTIONS|MAKEFLAGS|GOFLAGS|RUSTC\w*|CARGO_\w+|NPM_CONFIG_\w+)$/i;

/** Returns whether programs run what a variable says, or what lies where it says. */
export function findsCode(variable: string): boolean {
  return FIND_CODE.test(variable);
}

import { programName, runsAnother } from './program-text.js';
import { riskyScripts } from './script-words.js';

/** Options, by prefix, whose value a program that otherwise only reads runs, or loads as code. */
const RUN_OPTIONS = tableOf({
  git: '-c --exec --exec-path --config-env --upload-pack --receive-pack --ext-diff --textconv -O --open-files-in-pager -x --extcmd --sendmail-cmd',
  find: '-exec -execdir -ok -okdir',
  fd: '-x -X --exec --exec-batch',
  rg: '--pre --hostname-bin -z --search-zip',
  sort: '--compress-program',
  sed: '-f --file',
  awk: '-f --file -i --include -l --load -E --exec -e --source -D --debug -W',
  tar: '--checkpoint-action --to-command -I --use-compress-program --rsh-command --rmt-command -F --info-script --new-volume-script',
  wget: '--use-askpass -e --execute --config',
  rsync: '-e --rsh --rsync-path',
  ssh: '-o -F -L -R -D',
  zip: '-T -TT --unzip-command',
  man: '-P --pager -H --html -C --config-file',
  less: '-k --lesskey-file --lesskey-src --lesskey-content',
  split: '--filter',
  sdiff: '--diff-program',
  diff3: '--diff-program',
  nm: '--plugin',
  ack: '--pager --ackrc --output',
  ag: '--pager',
  bat: '--pager',
  ugrep: '--filter --pager --view',
  tcpdump: '-z',
  go: '-exec --exec -toolexec --toolexec -vettool --vettool -overlay --overlay -modfile --modfile -ldflags --ldflags -gccgoflags --gccgoflags',
  cargo: '--config --manifest-path',
  pytest: '-p -c -o --rootdir --override-ini --config-file',
  npm: '--script-shell --shell --prefix -C --viewer --browser --editor --git --node-options --userconfig --globalconfig',
  make: '-f --file --makefile -C --directory --eval',
  kubectl: '--kubeconfig',
  eslint: '-c --config --rulesdir --parser --plugin -f --format --resolve-plugins-relative-to',
  prettier: '--config --plugin',
});

/** Options, by prefix, with which such a program writes files, changes something, sends, or works at another place. */
const OTHER_OPTIONS = tableOf({
  git: '--output --git-dir --work-tree --template --separate-git-dir',
  'git archive': '-o',
  'git format-patch': '-o',
  find: '-delete -fprint -fprintf -fprint0 -fls',
  sort: '-o --output -T --temporary-directory',
  sed: '-i --in-place -I',
  awk: '-o --pretty-print -d --dump-variables -p --profile',
  curl:
    '-o -O --output --output-dir --remote-name --remote-name-all -J --remote-header-name -c --cookie-jar -D --dump-header -w --write-out --trace ' +
    '--trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc -K --config -T --upload-file -d --data --data-ascii --data-binary --data-raw ' +
    '--data-urlencode --json -F --form --form-string -X --request -Q --quote',
  wget:
    '-O --output-document -P --directory-prefix -o --output-file -a --append-output --post-file --post-data --body-file --body-data --method ' +
    '-i --input-file --save-cookies --warc-file',
  less: '-o -O --log-file',
  diff: '--output',
  sdiff: '-o --output',
  iconv: '-o --output',
  base64: '-o --output',
  file: '-C --compile',
  info: '-o --output',
  go:
    '-o --o -coverprofile --coverprofile -cpuprofile --cpuprofile -memprofile --memprofile -blockprofile --blockprofile -mutexprofile ' +
    '--mutexprofile -trace --trace -outputdir --outputdir',
  'go env': '-w -u',
  pytest: '--basetemp --junitxml --junit-xml --log-file --pastebin',
  tree: '-o -R',
  shuf: '-o --output',
  yq: '-i --inplace -s --split-exp',
  date: '-s --set',
  journalctl: '--vacuum-size --vacuum-time --vacuum-files --rotate --flush --cursor-file',
  dmesg: '-C -c --clear --read-clear -n --console-level',
  tcpdump: '-w',
  eslint: '--fix -o --output-file',
  prettier: '-w --write',
  'gh api': '-X --method -f --raw-field -F --field --input',
  kubectl: '-s --server',
});

/** Words that are no options, by prefix, and make such a program do as much. */
const RISKY_WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['less', /^\+/],
  ['make', /^[^-][^=]*=/],
  ['git submodule', /^foreach$/],
  ['git bisect', /^run$/],
]);

/** Commands of a program that make it run, or learn to run, another one. */
const RISKY_COMMANDS: ReadonlyMap<string, RegExp> = new Map([
  ['git', /^(?:bisect|submodule|filter-branch|config|difftool|mergetool)$/],
  ['npm', /^(?:exec|x|explore|edit|config|set)$/],
  ['go', /^(?:run|generate|tool)$/],
]);

/** Programs that write to the second file that they are given. */
const WRITES_SECOND = new Set(['uniq', 'xxd']);

/** Programs that run whatever their arguments name, besides those that start another one. */
const RUNNERS =
  /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|eval|python[\d.]*|node|deno|bun|perl|ruby|php|pwsh|powershell|cmd|vim?|gdb|sqlite3|psql|mysql|m4|tclsh|expect)$/;

/** Programs whose options of one dash are whole words. */
const WHOLE_WORDS = new Set(['find', 'go']);

/** Other names of the programs in these tables. */
const ALIASES = new Map(
  Object.entries({
    mawk: 'awk',
    nawk: 'awk',
    bsdtar: 'tar',
    fdfind: 'fd',
    batcat: 'bat',
    ug: 'ugrep',
    pnpm: 'npm',
    yarn: 'npm',
  }),
);

function tableOf(options: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(options).map(([program, list]) => [program, list.split(' ')]));
}

/** `/usr/bin/gsed` is `sed`. */
function knownName(word: string): string {
  const name = programName(word);
  return (
    ALIASES.get(name) ?? name.replace(/^g(?=(?:sed|awk|find|tar|sort|split|date|make|diff|shuf|uniq|base64)$)/, '')
  );
}

/** Whether a word, from an index on, makes a program do more than its name suggests: run another, write a file, send something. */
export function hasRiskyWord(words: readonly string[], from: number): boolean {
  const program = knownName(words[0] ?? '');
  const keys = [program, `${program} ${words[1] ?? ''}`];
  const isRisky = (word: string): boolean =>
    keys.some((key) => RISKY_WORDS.get(key)?.test(word) === true) ||
    [RUN_OPTIONS, OTHER_OPTIONS].some((table) => optionIn(keys, word, table, program) !== undefined);
  if (words.some((word, at) => at >= from && isRisky(dashed(word, at, program)))) return true;
  if (words.slice(0, from).includes('--sandbox')) return false;
  if (riskyScripts(program, words).some((at) => at >= from)) return true;
  return hasRiskyCommand(program, words, from) || writesSecond(program, words, from);
}

/** The first options of `tar` need no dash. */
function dashed(word: string, at: number, program: string): string {
  return program === 'tar' && at === 1 && !word.startsWith('-') ? `-${word}` : word;
}

function optionIn(
  keys: readonly string[],
  word: string,
  table: ReadonlyMap<string, readonly string[]>,
  program: string,
): string | undefined {
  if (!word.startsWith('-')) return undefined;
  return keys.flatMap((key) => table.get(key) ?? []).find((option) => isOption(word, option, program));
}

/** As long as no word before the index names the command of the program. The value of an option is not told from it. */
function hasRiskyCommand(program: string, words: readonly string[], from: number): boolean {
  const commands = RISKY_COMMANDS.get(program);
  if (commands === undefined) return false;
  const isNamed = words.slice(1, from).some((word, at) => !word.startsWith('-') && words[at]?.startsWith('-') !== true);
  return !isNamed && words.slice(from).some((word) => commands.test(word));
}

function writesSecond(program: string, words: readonly string[], from: number): boolean {
  if (!WRITES_SECOND.has(program)) return false;
  // A number is the value of an option.
  const files = [...words.keys()].slice(1).filter((at) => /^(?!-.)(?!\d+$)/.test(words[at] ?? ''));
  return (files[1] ?? -1) >= from;
}

function isOption(word: string, option: string, program: string): boolean {
  if (word === option || word.startsWith(`${option}=`)) return true;
  // Programs accept abbreviated long options.
  if (option.startsWith('--')) return isCutShort(word, option);
  if (option.length > 2 || WHOLE_WORDS.has(program)) return false;
  // Short options can stand together, and the value of the last one can follow it directly.
  return /^-[A-Za-z0-9]+/.exec(word)?.[0].includes(option.slice(1)) === true;
}

function isCutShort(word: string, option: string): boolean {
  const [name = ''] = word.split('=');
  return name.length > 3 && option.startsWith(name);
}

/** Returns the texts in a command that its program runs as commands, or may run. */
export function textsRunBy(words: readonly string[]): readonly string[] {
  const program = knownName(words[0] ?? '');
  const keys = [program];
  const scripts = riskyScripts(program, words).map((at) =>
    (words[at] ?? '').replaceAll(/(^|[^a-z\\])e(?=\S)/g, '$1e '),
  );
  const behind = words.flatMap((word, at) => {
    const written = dashed(word, at, program);
    const option = at === 0 ? undefined : optionIn(keys, written, RUN_OPTIONS, program);
    if (option === undefined) return [];
    // The value is the next word, or follows `=`, or follows the letter directly.
    const isLetter = option.length === 2 && !written.startsWith('--');
    const value = written.slice(isLetter ? written.indexOf(option.slice(1)) + 1 : (/=|$/.exec(written)?.index ?? 0));
    return [[value, ...words.slice(at + 1)].join(' ').replaceAll('=', ' ')];
  });
  return [...scripts, ...behind];
}

/** Returns whether a program runs anything it receives, so that a rule which allows it allows everything. */
export function runsAnything(program: string): boolean {
  return RUNNERS.test(program) || runsAnother(program, []);
}

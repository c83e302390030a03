/** Options, by prefix, with which a program that otherwise only reads writes files or runs other programs. */
const OPTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    git:
      '-c --output --exec --exec-path --config-env --upload-pack --receive-pack --ext-diff --textconv -O --open-files-in-pager ' +
      '--git-dir --work-tree --template --separate-git-dir -x',
    find: '-exec -execdir -ok -okdir -delete -fprint -fprintf -fprint0 -fls',
    fd: '-x -X --exec --exec-batch',
    rg: '--pre --hostname-bin -z --search-zip',
    sort: '-o --output --compress-program -T --temporary-directory',
    sed: '-i --in-place -f --file',
    tar: '--checkpoint-action --to-command -I --use-compress-program --rsh-command -F --info-script',
    curl: '-o -O --output --remote-name -K --config -T --upload-file -d --data -F --form',
    wget: '-O --output-document -P --directory-prefix --post-file --use-askpass -i --input-file',
    rsync: '-e --rsh --rsync-path',
    ssh: '-o -F -L -R -D',
    zip: '-T -TT --unzip-command',
    man: '-P --pager -H --html',
    less: '-o -O --log-file',
    diff: '--output',
    go: '-exec --exec -toolexec --toolexec -vettool --vettool -o --o -overlay --overlay -modfile --modfile',
    cargo: '--config',
    pytest: '-p -c -o --rootdir --basetemp --override-ini',
    tree: '-o',
    shuf: '-o --output',
    split: '--filter',
    ack: '--pager',
    ag: '--pager',
    bat: '--pager',
    yq: '-i --inplace',
    date: '-s --set',
    npm: '--script-shell --prefix -C',
    make: '-f --file --makefile -C --directory --eval',
  }),
);

/** Programs that run whatever their arguments name. */
const RUNNERS =
  /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|env|sudo|doas|su|xargs|nohup|nice|timeout|exec|eval|python[\d.]*|node|deno|bun|perl|ruby|php|pwsh|powershell|cmd|busybox|npx|bunx|uvx|awk|gawk|sed|vim?|gdb|parallel)$/;

/** Programs whose options of one dash are whole words. */
const WHOLE_WORDS = new Set(['find', 'go']);

/** Returns whether one of the words of a command, from an index on, makes its program do more than its name suggests. */
export function hasRiskyOption(words: readonly string[], from: number): boolean {
  const [program = ''] = words;
  const options = OPTIONS.get(program)?.split(' ') ?? [];
  return words.some((word, at) => {
    // The first options of `tar` need no dash.
    const given = program === 'tar' && at === 1 && !word.startsWith('-') ? `-${word}` : word;
    return at >= from && given.startsWith('-') && options.some((option) => isOption(given, option, program));
  });
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

/** Returns whether a program runs anything it receives, so that a rule which allows it allows everything. */
export function runsAnything(program: string): boolean {
  return RUNNERS.test(program);
}

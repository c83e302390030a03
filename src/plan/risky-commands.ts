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
    npm: '--script-shell --prefix -C',
    make: '-f --file --makefile -C --directory --eval',
  }),
);

/** Programs that run whatever their arguments name. */
const RUNNERS =
  /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|env|sudo|doas|su|xargs|nohup|nice|timeout|exec|eval|python[\d.]*|node|deno|bun|perl|ruby|php|pwsh|powershell|cmd|busybox|npx|bunx|uvx|awk|gawk|parallel)$/;

/** Returns whether an option makes a program do more than its name suggests. */
export function isRiskyOption(program: string, word: string): boolean {
  const options = OPTIONS.get(program);
  if (options === undefined || !word.startsWith('-')) return false;
  return options.split(' ').some((option) => {
    // Programs accept abbreviated long options; the value of a short option may follow it directly.
    if (option.startsWith('--')) return word === option || word.startsWith(`${option}=`) || isCutShort(word, option);
    return option.length === 2 ? word.startsWith(option) : word === option;
  });
}

function isCutShort(word: string, option: string): boolean {
  const [name = ''] = word.split('=');
  return name.length > 3 && option.startsWith(name);
}

/** Returns whether a program runs anything it receives, so that a rule which allows it allows everything. */
export function runsAnything(program: string): boolean {
  return RUNNERS.test(program);
}

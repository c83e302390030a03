import type { Command } from 'commander';

/** What does here what flags of other programs do there. A hint is for commands that have all flags it names. */
const OTHER_FLAGS: readonly (readonly [hint: string, words: string])[] = [
  ['--input NAME=VALUE gives an input', '--param --params --var --vars --arg --args --set'],
  ['--set NAME=VALUE changes a value', '--input --state --value'],
  ['--input-file NAME=FILE reads an input from a file', '--prompt-file --data'],
  ['--model PROVIDER/MODEL names both', '--provider'],
  ['keys come from the environment; skein doctor shows which are set', '--api-key --apikey --key --token'],
  ['--budget 0.50 limits the dollars that a run may spend', '--cost --max-cost --max-budget --max-usd'],
  ['--budget 10m limits how long a run may take', '--timeout --max-time --max-duration'],
  ['--budget 200k-tokens and --budget 20-calls limit what a run may use', '--max-tokens --max-calls --max-turns'],
  ['--concurrency N says how many steps run at once', '--parallel --jobs --workers --max-concurrency -j'],
  ['--yes allows the tool calls that would ask a person', '--force --approve --auto-approve --yes-all -f'],
  ['--quiet prints only warnings, errors and results', '--silent'],
  ['--verbose shows model turns and tool calls', '--debug --trace --log-level'],
  ['the folder has no flag: skein new DIR --template NAME', '--output --out -o --dir --folder'],
  ['results go to stdout: add > FILE', '--output --output-file --out -o'],
  [
    'the store is .skein/skein.db of this folder or of one above it; --no-store keeps no record',
    '--store --db --database',
  ],
  ['the store is .skein/skein.db of this folder or of one above it', '--store --db --database'],
  ['skein resume -1 continues the newest run', '--resume --continue -c'],
];

/**
 * Returns what to use instead of a flag that only other programs have.
 *
 * @example
 * insteadOfFlag('--timeout', command); // '--budget 10m limits how long a run may take'
 */
export function insteadOfFlag(flag: string, { options }: Command): string | undefined {
  const known = new Set(options.map(({ long }) => long));
  const isHere = (hint: string): boolean => (hint.match(/--[a-z-]+/g) ?? []).every((name) => known.has(name));
  return OTHER_FLAGS.find(([hint, words]) => words.split(' ').includes(flag) && isHere(hint))?.[0];
}

import { describe, expect, it } from 'vitest';
import { NOTATIONS, loadSteps, problemsOf } from './support/both.js';

/** The line of the first step. */
const FIRST = { dag: 3, pipeline: 2 } as const;

describe.each(NOTATIONS)('problems of steps without a model in a %s', (notation) => {
  const line = FIRST[notation];
  const step = (keys: string): Promise<readonly string[]> => problemsOf(notation, `  - {id: a, ${keys}}\n`);

  it('[shell-template] a reference inside of program text is an error at the argument, whichever program runs it', async () => {
    const value = notation === 'dag' ? '{{ inputs.x }}' : '{{ $prompt }}';
    const texts = [
      `[sh, -c, "echo ${value}"]`,
      `[/bin/bash, -lc, "echo ${value}"]`,
      `[env, A=b, zsh, -ec, "${value}"]`,
      `[python3, -c, "print('${value}')"]`,
      `[node, --eval, "${value}"]`,
      `[node, "--eval=${value}"]`,
      `[perl, -ne, "${value}"]`,
      `[ruby, -e, "${value}"]`,
      `[php, -r, "${value}"]`,
      `[docker, exec, box, sh, -c, "ls ${value}"]`,
      `[pwsh, -Command, Write-Host, "${value}"]`,
      `[cmd, /c, dir, "${value}"]`,
      `[awk, "{ print ${value} }", file]`,
      `[ssh, host, "rm ${value}"]`,
      `["${value}", x]`,
    ];
    for (const text of texts) {
      const found = (await step(`run: ${text}`)).filter((one) => !one.endsWith('unknown-input'));
      expect(found, text).toEqual([expect.stringMatching(new RegExp(`^${line}:\\d+ error shell-template$`))]);
    }
    const { workflow } = await loadSteps(notation, `  - {id: a, run: [sh, -c, "echo ${value}"]}\n`);
    const problem = workflow.problems.find(({ code }) => code === 'shell-template');
    expect(problem?.message).toContain('program text of "sh"');
    expect(problem?.hint).toBe('pass it as an argument after the text, in env, or on stdin');
    expect(problem?.at?.column).toBe(27);
  });

  it('[shell-template] a reference as the program of a shell that reads standard input is an error too', async () => {
    const value = notation === 'dag' ? '{{ inputs.x }}' : '{{ $prompt }}';
    const commands = [
      '[bash, -s]',
      '[bash, -es, argument]',
      '[bash, /dev/stdin, argument]',
      "[python3, '-', argument]",
      '[env, A=b, sh]',
      '[sudo, -u, bob, bash]',
      '[docker, run, -i, box, sh]',
      '[ssh, host]',
      '[xargs, -n1, sh]',
      '[psql, shop]',
      '[sqlite3, -batch, shop.db]',
      '[duckdb]',
      '[m4, -P]',
      '[timeout, "5", sqlite3, shop.db]',
      "[make, -f, '-']",
    ];
    for (const run of commands) {
      const found = (await step(`run: ${run}, stdin: "${value}"`)).filter((one) => !one.endsWith('unknown-input'));
      expect(found, run).toEqual([expect.stringContaining('error shell-template')]);
    }
  });

  it.each([
    'BASH_ENV',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'GIT_SSH_COMMAND',
    'PATH',
    'HOME',
    'PIP_INDEX_URL',
    'npm_config_script_shell',
  ])(
    '[shell-template] a reference in %s, by which programs find what they run, is an error at its value',
    async (name) => {
      const value = notation === 'dag' ? '{{ inputs.x }}' : '{{ $prompt }}';
      const head = notation === 'dag' ? 'inputs: { x: { default: y } }\n' : '';
      const run = (text: string) =>
        problemsOf(notation, `  - {id: a, run: [git, fetch], env: { ${name}: "${text}" }}\n`, head);
      expect(await run(value)).toEqual([
        expect.stringMatching(new RegExp(`:${41 + name.length} error shell-template$`)),
      ]);
      expect(await run('as written')).toEqual([]);
    },
  );

  it('takes references as arguments behind a text, in env and stdin for what they are', async () => {
    const value = notation === 'dag' ? '{{ inputs.x }}' : '{{ $prompt }}';
    const head = notation === 'dag' ? 'inputs: { x: { default: y } }\n' : '';
    const fine = [
      `run: [sh, -c, 'echo "$1"', sh, "${value}"]`,
      `run: [sh, script.sh, "${value}"]`,
      `run: [sh, -c, 'echo "$X"'], env: { X: "${value}" }`,
      `run: [wc], stdin: "${value}"`,
      `run: [timeout, '5', wc], stdin: "${value}"`,
      `run: [bash, script.sh], stdin: "${value}"`,
      `run: [ssh, host, cat], stdin: "${value}"`,
      `run: [xargs, grep, node], stdin: "${value}"`,
      `run: [psql, -c, 'copy notes from stdin'], stdin: "${value}"`,
      `run: [sqlite3, -safe, notes.db], stdin: "${value}"`,
      `run: [sqlite3, notes.db, 'insert into notes values (readfile(0))'], stdin: "${value}"`,
      `run: [env, A=b, sh, -c, 'wc'], stdin: "${value}"`,
      `run: [node, -e, "console.log(process.argv[1])", "${value}"]`,
      `run: [npm, test, "--", "${value}"]`,
    ];
    for (const keys of fine) expect(await problemsOf(notation, `  - {id: a, ${keys}}\n`, head), keys).toEqual([]);
  });

  it('[not-a-list] a command line in one text is an error: there is no shell', async () => {
    expect(await step('run: npm test')).toEqual([`${line}:18 error not-a-list`]);
  });

  it('[two-bodies] a step does one thing', async () => {
    expect(await step('run: [ls], tool: glob')).toEqual([`${line}:24 error two-bodies`]);
    expect(await step('type: agent, run: [ls]')).toEqual([`${line}:19 error two-bodies`]);
    expect(await step('run: [ls], prompt: x')).toEqual([`${line}:24 error two-bodies`]);
  });

  it('[unknown-tool] a tool is a built-in one, or one of a server that the file declares', async () => {
    const head = 'mcps: { tickets: { command: node } }\n';
    expect(await step('tool: reed_file')).toEqual([`${line}:19 error unknown-tool`]);
    expect(await problemsOf(notation, '  - {id: a, tool: tickts/find}\n', head)).toEqual([
      `${line + 1}:19 error unknown-tool`,
    ]);
    expect(await problemsOf(notation, '  - {id: a, tool: tickets/find}\n', head)).toEqual([]);
    const { workflow } = await loadSteps(notation, '  - {id: a, tool: tickts/find}\n', { head });
    expect(workflow.problems[0]?.hint).toBe('did you mean "tickets"?');
  });

  it('[unknown-variable] a reference in an argument must lead somewhere', async () => {
    const found = await step('run: [echo, "{{ $nothing }}"]');
    expect(found).toEqual([
      notation === 'dag' ? `${line}:26 warning not-a-reference` : `${line}:26 error unknown-variable`,
    ]);
    expect(await step('run: [echo, "{{ $steps.none.output }}"]')).toEqual([`${line}:26 error unknown-step`]);
    expect(await step('tool: glob, input: { pattern: "{{ $steps.none.output }}" }')).toEqual([
      expect.stringContaining('error unknown-step'),
    ]);
  });

  it('names what is missing, what is no name of a variable, and what is no text', async () => {
    expect(await step('run: []')).toEqual([`${line}:18 error missing-command`]);
    expect(await step('run: [""]')).toEqual([`${line}:18 error missing-command`]);
    expect(await step('tool: ""')).toEqual([`${line}:19 error missing-tool`]);
    expect(await step('run: [ls], env: { "A-B": x }')).toEqual([expect.stringContaining('error bad-name')]);
    expect(await step('run: [ls, { a: b }]')).toEqual([expect.stringContaining('error wrong-type')]);
    expect(await step('run: [ls], stdn: x')).toEqual([expect.stringContaining('error unknown-key')]);
  });

  it('[no-such-path] references into what a schema, or result: all, says of an output are checked', async () => {
    const after = notation === 'dag' ? 'depends_on: [a], ' : '';
    const steps = (path: string): string =>
      `  - {id: a, run: [ls], result: all}\n  - {id: b, ${after}run: [echo, "{{ $steps.a.output.${path} }}"]}\n`;
    expect(await problemsOf(notation, steps('exit_code'))).toEqual([]);
    expect(await problemsOf(notation, steps('exitcode'))).toEqual([expect.stringContaining('error no-such-path')]);
  });
});

import { describe, expect, it } from 'vitest';
import { NOTATIONS, runSteps } from './support/both.js';

describe.each(NOTATIONS)('[addition 1] a step of a %s that runs a command', (notation) => {
  it('gives what the program writes, without the line break at its end', async () => {
    const { outcome, output, census } = await runSteps(notation, '  - { id: say, run: [echo, hello, "a  b"] }\n');
    expect(outcome).toBe('succeeded');
    expect(output('say')).toBe('hello a  b');
    expect(census.succeeded).toBe(1);
  });

  it('hands each item on as one argument, whatever is put into it', async () => {
    const steps = `
  - { id: odd, run: [node, -e, "console.log(JSON.stringify(process.argv.slice(1)))", "; rm -rf $HOME", '"quoted"'] }
  - { id: next, ${notation === 'dag' ? 'depends_on: [odd], ' : ''}run: [node, -p, "process.env.A"], env: { A: "--{{ $steps.odd.output }}--" } }
`;
    const { output } = await runSteps(notation, steps);
    expect(JSON.parse(String(output('odd')))).toEqual(['; rm -rf $HOME', '"quoted"']);
    expect(output('next')).toBe(`--${String(output('odd'))}--`);
  });

  it('reads what stdin says, and nothing without it', async () => {
    const steps = `
  - { id: with, run: [cat], stdin: "line one\\nline two" }
  - { id: without, run: [cat] }
`;
    const { outcome, output } = await runSteps(notation, steps);
    expect(outcome).toBe('succeeded');
    expect(output('with')).toBe('line one\nline two');
    expect(output('without')).toBe('');
  });

  it('sees the short list of variables and those of env, whose values may name some of the environment', async () => {
    const env = { PATH: process.env['PATH'] ?? '', CI_TOKEN: 'sesame', OTHER_SECRET: 'hidden' };
    const show = `console.log([process.env.TOKEN, process.env.PLAIN, process.env.OTHER_SECRET, process.env.CI_TOKEN].join())`;
    const steps = `  - { id: env, run: [node, -e, ${JSON.stringify(show)}], env: { TOKEN: "\${CI_TOKEN}!", PLAIN: "$HOME \${NONE:-none}" } }\n`;
    const { output } = await runSteps(notation, steps, { models: { env, noProbe: true } });
    expect(output('env')).toBe('sesame!,$HOME none,,');
  });

  it('fails by another exit code than 0, with the end of what the program complained about', async () => {
    const steps = `  - { id: bad, run: [node, -e, "console.error('x'.repeat(5000) + ' the end'); process.exit(3)"] }\n`;
    const { outcome, error } = await runSteps(notation, steps);
    expect(outcome).toBe('failed');
    expect(error).toMatchObject({ code: 'SKEIN_EXIT', details: { exitCode: 3, signal: null } });
    expect(error?.message).toMatch(/^node ended with exit code 3: \[...\] x+ the end$/);
    expect(error?.hint).toContain('result: all');
  });

  it('gives exit code and both outputs with result: all, and does not fail', async () => {
    const steps = `  - { id: all, run: [node, -e, "console.log('out'); console.error('err'); process.exit(4)"], result: all }\n`;
    const { outcome, output } = await runSteps(notation, steps);
    expect(outcome).toBe('succeeded');
    expect(output('all')).toEqual({ exit_code: 4, stdout: 'out\n', stderr: 'err\n' });
  });

  it('has an output with paths where the program writes JSON, and a schema makes it the value', async () => {
    const after = notation === 'dag' ? 'depends_on: [data], ' : '';
    const steps = `
  - { id: data, run: [node, -e, "console.log(JSON.stringify({ score: 7, tags: ['a'] }))"], schema: { score: number, tags: [string] } }
  - { id: use, ${after}run: [cat], stdin: "{{ $steps.data.output.tags }} {{ $steps.data.output.score }}" }
`;
    const { output } = await runSteps(notation, steps);
    expect(output('data')).toEqual({ score: 7, tags: ['a'] });
    expect(output('use')).toBe('["a"] 7');
  });

  it('fails where what it gives does not match its schema', async () => {
    const steps = '  - { id: data, run: [echo, "{}"], schema: { score: number } }\n';
    const { outcome, error } = await runSteps(notation, steps);
    expect(outcome).toBe('failed');
    expect(error?.code).toBe('SKEIN_OUTPUT_INVALID');
  });

  it('is tried again, ends in time and lets the run go on, as other steps do', async () => {
    const again = notation === 'dag' ? 'retry_count: 2' : 'retry: { max_attempts: 2 }';
    const flaky = `const fs = require('node:fs'); fs.appendFileSync('tries', 'x'); process.exit(fs.readFileSync('tries').length < 3 ? 1 : 0)`;
    const tried = await runSteps(notation, `  - { id: flaky, run: [node, -e, ${JSON.stringify(flaky)}], ${again} }\n`);
    expect(tried.outcome).toBe('succeeded');
    const late = await runSteps(notation, '  - { id: late, run: [sleep, "60"], timeout: 50ms }\n');
    expect(late.error?.code).toBe('SKEIN_TIMEOUT');
    const on = await runSteps(notation, '  - { id: off, run: ["false"], on_error: continue }\n');
    expect(on.outcome).toBe('degraded');
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSandbox } from '../../src/agent/index.js';
import { NOTATIONS, runSteps } from './support/both.js';

const hasSandbox = 'by' in (await describeSandbox());
if (!hasSandbox) console.log('skipped: neither bwrap nor unshare makes a sandbox here');

/** Whether a program sees any network but the one that it has for itself. */
const NETWORK = `console.log(Object.keys(require('node:os').networkInterfaces()).filter((name) => name !== 'lo').length)`;

describe.runIf(hasSandbox).each(NOTATIONS)('[addition 1] a command of a %s with sandbox: offline', (notation) => {
  it('works in the project, and has no network', async () => {
    const steps = `
  - { id: net, run: [node, -e, ${JSON.stringify(NETWORK)}], sandbox: offline }
  - { id: make, run: [touch, made], sandbox: offline }
`;
    const { outcome, output, cwd } = await runSteps(notation, steps);
    expect([outcome, output('net')]).toEqual(['succeeded', '0']);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
  });

  it('does not see files of secrets', async () => {
    const files = { '.env': 'KEY=sesame\n' };
    // The name is put together by the program, so that nothing but the sandbox is in its way.
    const look = `  - { id: look, run: [sh, -c, 'f=.en; cat "\${f}v" || true'], sandbox: offline }\n`;
    expect((await runSteps(notation, look, { files })).output('look')).not.toContain('sesame');
    const open = await runSteps(notation, look.replace(', sandbox: offline', ''), { files });
    expect(open.output('look')).toContain('sesame');
  });

  it('gets its input and variables, fails by its exit code, and names a program that does not exist', async () => {
    const given = `  - { id: go, run: [sh, -c, 'cat; echo " $A"'], stdin: in, env: { A: "1" }, sandbox: offline }\n`;
    expect((await runSteps(notation, given)).output('go')).toBe('in 1');
    const failing = await runSteps(notation, `  - { id: go, run: [sh, -c, "exit 3"], sandbox: offline }\n`);
    expect(failing.error).toMatchObject({ code: 'SKEIN_EXIT', details: { exitCode: 3 } });
    const none = await runSteps(notation, `  - { id: go, run: [no-such-program], sandbox: offline }\n`);
    expect(none.error?.message).toContain('there is no program "no-such-program"');
  });

  it('runs without a question with an argument of others, and what it gives stays untrusted', async () => {
    const dag = notation === 'dag';
    const [head, ref, name] = dag
      ? ['inputs: { x: { default: y } }\n', '{{ inputs.x }}', 'x']
      : ['', '{{ $prompt }}', 'prompt'];
    const steps = `  - { id: go, run: [echo, "<${ref}>"], sandbox: offline }\n`;
    const { outcome, labels } = await runSteps(notation, steps, { head, untrusted: [name] });
    expect(outcome).toBe('succeeded');
    expect(labels?.['steps.go.output']?.level).toBe('untrusted');
    expect(
      (await runSteps(notation, steps.replace(', sandbox: offline', ''), { head, untrusted: [name] })).outcome,
    ).toBe('paused');
  });
});

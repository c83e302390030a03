import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** A command that leaves a file, in both notations. */
const MADE = `run: [node, -e, "require('node:fs').writeFileSync('made', '')"]`;
const FLOWS = {
  dag: `name: d\nsteps:\n  - { id: make, ${MADE} }\n  - { id: other, run: [touch, other] }\n`,
  pipeline: `workflow:\n  - { id: make, ${MADE} }\n  - { id: other, run: [touch, other] }\n`,
} as const;
const REAL = 'rules:\n  - { step: make, real: true }\n';
const ANSWERED = 'rules:\n  - { step: make, answer: done }\n';
const LIST = 'flow.yaml can do more than read the project, and you have not said yes to it:';

describe.each(Object.entries(FLOWS))('a script that lets a command of a %s run (real: true)', (_notation, flow) => {
  const go = (cwd: string, ...words: readonly string[]) => served([...words, '--no-audit'], { cwd, asks: true });
  const project = (script: string): Promise<string> => makeProject({ 'flow.yaml': flow, 'script.yaml': script });

  it('[addition 1] does not start without a yes: nothing runs, nothing is written', async () => {
    const cwd = await project(REAL);
    const before = await filesIn(cwd);
    const end = await go(cwd, 'run', 'flow.yaml', '--mock=script.yaml');
    expect([end.code, end.stdout]).toEqual([2, '']);
    expect(end.stderr).toContain(LIST);
    expect(end.stderr).toContain('node -e');
    expect(await filesIn(cwd)).toEqual(before);
  });

  it('[addition 1] makes this call, and no other, with --trust and after skein trust', async () => {
    const once = await project(REAL);
    expect((await go(once, 'run', 'flow.yaml', '--mock=script.yaml', '--trust')).code).toBe(0);
    expect([existsSync(join(once, 'made')), existsSync(join(once, 'other'))]).toEqual([true, false]);
    const noted = await project(REAL);
    expect((await served(['trust', 'flow.yaml', '--yes'], { cwd: noted, asks: true })).code).toBe(0);
    expect((await go(noted, 'run', 'flow.yaml', '--mock=script.yaml')).code).toBe(0);
    expect(existsSync(join(noted, 'made'))).toBe(true);
  });

  it('[addition 1] needs it again when the run is forked', async () => {
    const cwd = await project(REAL);
    expect((await go(cwd, 'run', 'flow.yaml', '--mock=script.yaml', '--trust')).code).toBe(0);
    const end = await served(['fork', '-1', '--from', 'make'], { cwd, asks: true });
    expect([end.code, end.stderr.includes(LIST)], end.stderr).toEqual([2, true]);
  });

  it('[addition 1] a script that answers every step needs none, as nothing is started', async () => {
    const cwd = await project(ANSWERED);
    expect((await go(cwd, 'run', 'flow.yaml', '--mock=script.yaml')).code).toBe(0);
    expect([existsSync(join(cwd, 'made')), existsSync(join(cwd, 'other'))]).toEqual([false, false]);
  });
});

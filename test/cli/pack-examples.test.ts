import { readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { served } from './support/served.js';
import { ROOT, makeProject } from './support/skein.js';
import type { Ended } from './support/skein.js';

const EXAMPLES = join(ROOT, 'examples');
const NAMES = ['support-desk', 'draft-and-review', 'order-processing'];

/** A folder with the example where it stands in a clone. */
async function clone(name: string): Promise<(words: readonly string[]) => Promise<Ended>> {
  const cwd = await makeProject();
  await cp(join(EXAMPLES, name), join(cwd, 'examples', name), { recursive: true });
  return (words) => served(words, { cwd });
}

/** The commands that the README of an example shows, as words. */
function commandsOf(name: string): readonly (readonly string[])[] {
  const text = readFileSync(join(EXAMPLES, name, 'README.md'), 'utf8');
  return [...text.matchAll(/^skein (.+)$/gm)].map(([, line = '']) =>
    [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare = '']) => double ?? single ?? bare),
  );
}

async function followed(name: string): Promise<readonly Ended[]> {
  const skein = await clone(name);
  const ends: Ended[] = [];
  for (const words of commandsOf(name)) ends.push(await skein(words));
  return ends;
}

describe('[issue 8] the packs among the examples', () => {
  it('each is valid, and all of its scripts are in its README', async () => {
    for (const name of NAMES) {
      const skein = await clone(name);
      const files = readdirSync(join(EXAMPLES, name));
      const pack = files.find((file) => file.endsWith('.pack.json')) ?? '';
      expect(await skein(['validate', `examples/${name}/${pack}`])).toMatchObject({ code: 0 });
      const shown = commandsOf(name).flat();
      for (const script of files.filter((file) => file.startsWith('script')))
        expect(shown).toContain(`--mock=examples/${name}/${script}`);
    }
  });

  it('support desk: escalation ends outside, by an event', async () => {
    const [graph, run, event, context] = await followed('support-desk');
    expect(graph).toMatchObject({ code: 0, stdout: expect.stringContaining('(external)') as string });
    expect(run).toMatchObject({ code: 5, stdout: expect.stringContaining('You will hear from us today.') as string });
    expect(run?.stderr).toContain('delivery -> waiting (Escalate)');
    expect(event).toMatchObject({ code: 0, stdout: 'Your money is on its way back. Goodbye!\n' });
    expect(JSON.parse(context?.stdout ?? '')).toMatchObject({
      current_state: 'closed',
      history: [{ event: 'Delivery' }, { event: 'Escalate' }, { event: 'Refunded' }],
    });
  });

  it('draft and review: a loop with a cap, artifacts in its prompts', async () => {
    const [approved, rejected] = await followed('draft-and-review');
    expect(approved).toMatchObject({ code: 0, stdout: 'Looms weave threads into cloth.\n' });
    expect(rejected).toMatchObject({ code: 0, stdout: 'It is still too short.\n' });
    expect(rejected?.stderr).toContain('review -> rejected (Reject; max_visits (3) reached for "write")');
  });

  it('order processing: a person allows a large amount, a small one needs none', async () => {
    const skein = await clone('order-processing');
    const [large = [], small = []] = commandsOf('order-processing');
    expect(await skein(small)).toMatchObject({ code: 0, stdout: 'Your shuttle is on its way. Receipt R-12.\n' });
    const waits = await skein(large);
    expect(waits.code).toBe(5);
    const [, run = '', key = ''] = /skein answer (\S+) (\S+)/.exec(waits.stderr) ?? [];
    expect(await skein(['answer', run, key, 'allow'])).toMatchObject({ code: 0 });
    expect(await skein(['resume', run])).toMatchObject({
      code: 0,
      stdout: 'Your loom is on its way. Receipt R-480.\n',
    });
    expect((await skein([...large, '--yes'])).code).toBe(0);
  });
});

import { describe, expect, it } from 'vitest';
import { NOTATIONS, runSteps } from './support/both.js';

const RECORD = "belongs to Skein's record of runs";

describe.each(NOTATIONS)('what belongs to Skein, over several steps of a %s', (notation) => {
  const files = { '.skein/note.txt': 'kept', 'plain.txt': 'open' };
  /** Runs a script, whose author names files in pieces, and then a step that reads a file. */
  const after = (script: string, path: string): ReturnType<typeof runSteps> => {
    const waits = notation === 'dag' ? 'depends_on: [first], ' : '';
    const steps = `
  - { id: first, run: [sh, -c, '${script}'] }
  - { id: then, ${waits}tool: read_file, input: { path: ${path} } }
`;
    return runSteps(notation, steps, { files });
  };

  it('is recognised when a command gave it another name', async () => {
    const { outcome, error } = await after('s=.ske; mv "$s"in moved', 'moved/note.txt');
    expect([outcome, error?.message]).toEqual(['failed', expect.stringContaining(RECORD)]);
  });

  it('is recognised when a command made a hard link to it', async () => {
    const { outcome, error } = await after('s=.ske; ln "$s"in/note.txt linked', 'linked');
    expect([outcome, error?.message]).toEqual(['failed', expect.stringContaining(RECORD)]);
  });

  it('is recognised when a command put a link in its place', async () => {
    const { outcome, error } = await after('s=.ske; mv "$s"in a; mkdir b; echo x > b/x; ln -s b "$s"in', 'b/x');
    expect([outcome, error?.message]).toEqual(['failed', expect.stringContaining(RECORD)]);
  });

  it('does not close what else is there', async () => {
    const { outcome, output } = await after('ln plain.txt other', 'other');
    expect([outcome, output('then')]).toEqual(['succeeded', expect.stringContaining('open')]);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { served } from './support/served.js';

const FLOW = `
name: notes
inputs:
  notes: {}
  team: {}
agents:
  writer: { inline: { prompt: You write., tools: [] } }
steps:
  - id: sum
    agent: writer
    prompt: "Sum up: {{inputs.notes}}"
  - id: greet
    agent: writer
    prompt: "Greet {{inputs.team}}"
  - id: next
    agent: writer
    prompt: "Say more: {{steps.sum.output}}"
    depends_on: [sum]
`;

it('--untrusted names an input, and --json says what it influenced, on a resume too', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-untrusted-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'flow.yaml'), FLOW);
  const given = ['--mock', '--json', '--input', 'notes=a', '--input', 'team=b'];
  const labels = (text: string): unknown => (JSON.parse(text) as { readonly labels?: unknown }).labels;
  const first = await served(['run', 'flow.yaml', ...given, '--untrusted', 'notes'], { cwd });
  const label = { level: 'untrusted', isPrivate: false, sources: ['input:notes'] };
  expect(labels(first.stdout)).toEqual({
    'inputs.notes': label,
    'steps.sum.output': label,
    'steps.next.output': label,
  });
  expect(labels((await served(['resume', '-1', '--json'], { cwd })).stdout)).toEqual(labels(first.stdout));
  expect(labels((await served(['run', 'flow.yaml', ...given], { cwd })).stdout)).toBeUndefined();
});

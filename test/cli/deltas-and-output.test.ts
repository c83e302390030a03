import { describe, expect, it } from 'vitest';
import { makeProject, runFolder } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `name: n
agents: { w: { inline: { prompt: You answer. } } }
steps: [{ id: a, agent: w, prompt: "Say it: {{inputs.api_key}}", retry_count: 2, on_error: retry }]
inputs: { api_key: { default: "hidden-canary-0123456789" } }
`;

const JSON_FLOW = `agents:
  root:
    model: mock/echo
    description: rates
    instruction: Rate it.
    structured_output: { name: rating, schema: { type: object, properties: { score: { type: integer } }, required: [score] } }
workflow: [{ type: agent, name: root }]
`;

interface Line {
  readonly type: string;
  readonly data?: unknown;
}

/** The record of the only agent step of a run: its lines, what a reader of them keeps, and its output. */
async function recorded(flow: string, answers: string, more: readonly string[] = []) {
  const cwd = await makeProject({ 'flow.yaml': flow, 's.yaml': `rules:\n  - prompt: ''\n    answers:\n${answers}` });
  const dir = ['--stream', '--audit-dir', '.workflow-runs'];
  const end = await served(['run', 'flow.yaml', '--mock=s.yaml', ...dir, ...more], { cwd });
  const files = [...(await runFolder(cwd))];
  const ofStep = (name: string) => files.find(([path]) => path.startsWith('steps/') && path.endsWith(name))?.[1];
  const lines = (ofStep('/stream.jsonl') ?? '')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return {
    code: end.code,
    stderr: end.stderr,
    voids: voidsOf(lines),
    kept: keptOf(lines),
    output: ofStep('/output.md'),
  };
}

function voidsOf(lines: readonly Line[]): readonly unknown[] {
  return lines.flatMap(({ type, data }) => (type === 'assistant.message_void' ? [data] : []));
}

/** The deltas since the last line that makes them void. */
function keptOf(lines: readonly Line[]): string {
  let text = '';
  for (const { type, data } of lines) {
    if (type === 'assistant.message_void') text = '';
    if (type === 'assistant.message_delta') text += String(data);
  }
  return text;
}

describe('[XD7] the deltas of a step that are not void, put together, are its output', () => {
  it('when it spoke before it called a tool, lost a connection, and was tried again', async () => {
    const answers = `      - { text: "  I look at the files. ", tools: [{ name: list_dir, input: {} }] }
      - { text: Half of, cut: true }
      - { error: { status: 400, message: no } }
      - { text: "Once more. ", tools: [{ name: list_dir, input: {} }] }
      - { text: "\\n  The key is hidden-canary-0123456789, über 😀 all. \\n\\n" }
`;
    const { code, stderr, voids, kept, output } = await recorded(FLOW, answers);
    expect([code, stderr]).toEqual([0, stderr]);
    expect(kept).toBe('\n  The key is [redacted], über 😀 all. \n\n');
    expect(kept).toBe(output);
    expect(voids).toEqual([
      { turn: 1, reason: 'tool-calls' },
      { turn: 2, reason: 'failed' },
      { turn: 1, reason: 'tool-calls' },
    ]);
  });

  it('when the answer is JSON that had to be asked for again, and stands in a fence', async () => {
    const answers = '      - I rate it five.\n      - "Here:\\n```json\\n{ \\"score\\":   5 }\\n```"\n';
    const { code, stderr, voids, kept, output } = await recorded(JSON_FLOW, answers, ['--input', 'prompt=x']);
    expect([code, stderr]).toEqual([0, stderr]);
    expect(JSON.parse(kept)).toEqual({ score: 5 });
    expect(kept).toBe(output);
    expect(voids).toEqual([
      { turn: 1, reason: 'asked-again' },
      { turn: 2, reason: 'rewritten' },
    ]);
  });

  it('when it failed: nothing is left, and there is no output', async () => {
    const answers = '      - I rate it five.\n      - I rate it six.\n';
    const { code, voids, kept, output } = await recorded(JSON_FLOW, answers, ['--input', 'prompt=x']);
    expect([code, kept, output]).toEqual([3, '', undefined]);
    expect(voids).toEqual([
      { turn: 1, reason: 'asked-again' },
      { turn: 2, reason: 'failed' },
    ]);
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../src/agent/model.js';
import { modelOf } from '../agent/support/counted-agent.js';
import { NOTATIONS, runSteps } from './support/both.js';

const SAFE = '{"verdict":"safe","reason":"fine"}';
const SUSPICIOUS = '{"verdict":"suspicious","reason":"odd"}';
const ALLOW = '{"verdict":"allow","reason":"fine","input":""}';
const DENY = '{"verdict":"deny","reason":"not this one"}';

describe.each(NOTATIONS)(
  'models that look at the calls of steps without a model, in a %s with security: default',
  (notation) => {
    const dag = notation === 'dag';
    const [ref, name] = dag ? ['{{ inputs.x }}', 'x'] : ['{{ $prompt }}', 'prompt'];
    const MAKE = `  - { id: go, run: [touch, made], stdin: "${ref}" }\n`;

    /** Runs a step with these verdicts; which models looked, and whether the command ran. */
    async function judged(
      said: Readonly<Record<string, string>>,
      untrusted: readonly string[] = [name],
      { mode = 'default', steps = MAKE } = {},
    ) {
      const asked: ModelRequest[] = [];
      const judge = modelOf('openai/judge', [], asked, (_request, phase) => said[phase] ?? 'nothing that can be read');
      const inputs = dag ? 'inputs: { x: { default: y } }\n' : '';
      const { outcome, error, cwd } = await runSteps(notation, steps, {
        head: `${inputs}security: { mode: ${mode}, model: openai/judge }\n`,
        untrusted,
        models: { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true, providers: { openai: () => judge } },
      });
      return { outcome, error, looked: asked.map(({ caller }) => caller.phase), made: existsSync(join(cwd, 'made')) };
    }

    it('are not asked while nothing untrusted had a say', async () => {
      const { outcome, looked, made } = await judged({}, []);
      expect([outcome, looked, made]).toEqual(['succeeded', [], true]);
    });

    it('let a call happen that they find safe, or allow', async () => {
      const safe = await judged({ screen: SAFE });
      expect([safe.outcome, safe.looked, safe.made]).toEqual(['succeeded', ['screen'], true]);
      const reviewed = await judged({ screen: SUSPICIOUS, review: ALLOW });
      expect([reviewed.outcome, reviewed.looked, reviewed.made]).toEqual(['succeeded', ['screen', 'review'], true]);
    });

    it('fail the step where they deny its call, or say nothing that can be read: nothing runs', async () => {
      for (const review of [DENY, 'no verdict']) {
        const { outcome, error, made } = await judged({ screen: SUSPICIOUS, review });
        expect([outcome, error?.code, made]).toEqual(['failed', 'SKEIN_TOOL_REFUSED', false]);
      }
    });

    it.each([
      ['a command', MAKE],
      ['a tool', '  - { id: go, tool: write_file, input: { path: made, content: x } }\n'],
    ])(
      'look at every call with security: paranoid, also where nothing untrusted influenced them: %s',
      async (_, steps) => {
        const paranoid = { mode: 'paranoid', steps };
        const allowed = await judged({ screen: SAFE, review: ALLOW }, [], paranoid);
        expect([allowed.outcome, allowed.looked, allowed.made]).toEqual(['succeeded', ['screen', 'review'], true]);
        const denied = await judged({ screen: SAFE, review: DENY }, [], paranoid);
        expect([denied.outcome, denied.error?.code, denied.made]).toEqual(['failed', 'SKEIN_TOOL_REFUSED', false]);
      },
    );
  },
);

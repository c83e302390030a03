import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDagText, loadPipelineText } from '../../../src/yaml.js';
import type { Built } from './shapes.js';
import type { World } from './world.js';

/** A command that fails, and may be tried again. */
const FAILS = 'run: [sh, -c, "exit 3"], effect: idempotent';

/** A command that leaves the key of its record where nobody forgets it, and waits so many seconds. */
function leaves(word: string, wait = 0): string {
  return `run: [sh, -c, 'echo "$1" >> received.txt; exec sleep ${wait}', sh, "${word}@tool#1.1"]`;
}

const env = { PATH: process.env['PATH'] ?? '' };

function options(world: World): Built['options'] {
  return { inputs: {}, cwd: world.cwd, models: { env, noProbe: true } };
}

async function dag(world: World, steps: string): Promise<Built> {
  const workflow = await loadDagText(`name: ends\nsteps:\n${steps}`, { cwd: world.cwd });
  return { workflow, options: options(world) };
}

async function pipeline(world: World, steps: string): Promise<Built> {
  const workflow = await loadPipelineText(`workflow:\n${steps}`, { cwd: world.cwd });
  return { workflow, options: options(world) };
}

/** What runs at the end, in both notations: the second one hears how the others ended. */
function last(at: string, notation: 'dag' | 'pipeline'): string {
  const [dollar, after] = notation === 'dag' ? ['', ', depends_on: [sweep]'] : ['$', ''];
  return `finally:
  - { id: sweep, ${leaves(`${at}/sweep`)} }
  - { id: tell${after}, run: [echo, "{{ ${dollar}run.outcome }}"] }
`;
}

/** Commands, and commands at the end. */
export function finallyShape(world: World): Promise<Built> {
  return pipeline(
    world,
    `  - { id: a, ${leaves('a', 0.02)} }
  - { id: b, ${leaves('b', 0.02)} }
${last('finally', 'pipeline')}`,
  );
}

/** The run ends at \`stop\` while \`slow\` is at work; \`after\` is behind that. */
function stopped(world: World, more: string): Promise<Built> {
  return dag(
    world,
    `  - { id: a, ${leaves('a', 0.02)} }
  - { id: slow, depends_on: [a], ${leaves('slow', 60)} }
  - { id: b, depends_on: [a], ${leaves('b', 0.05)} }
  - { id: stop, depends_on: [b], type: end${more} }
  - { id: after, depends_on: [slow], ${leaves('after')} }
output: { values: { a: "{{steps.a.status}}", slow: "{{steps.slow.status}}" } }
${last('finally', 'dag')}`,
  );
}

/** It ends well, on purpose. */
export function endedShape(world: World): Promise<Built> {
  return stopped(world, '');
}

/** How a workflow ends that does not succeed, and where its commands at the end stand then. */
export interface BadEnd {
  readonly outcome: 'failed' | 'degraded';
  readonly code?: string;
  build(world: World): Promise<Built>;
}

/** Workflows with commands that end otherwise. */
export const BAD_ENDS: Readonly<Record<string, BadEnd>> = {
  'an end that says failed': {
    outcome: 'failed',
    code: 'SKEIN_ENDED',
    build: (world) => stopped(world, ', status: failed, reason: "{{steps.b.status}}"'),
  },
  'a command that failed': {
    outcome: 'failed',
    code: 'SKEIN_EXIT',
    build: (world) =>
      pipeline(
        world,
        `  - { id: a, ${leaves('a')} }
  - { id: b, ${FAILS} }
${last('finally', 'pipeline')}`,
      ),
  },
  'a command at the end that failed': {
    outcome: 'degraded',
    build: (world) =>
      dag(
        world,
        `  - { id: a, ${leaves('a')} }
finally:
  - { id: first, ${leaves('finally/first')} }
  - { id: sweep, depends_on: [first], ${FAILS} }
`,
      ),
  },
  'a file that ends in a file, each with steps of its own at the end': {
    outcome: 'failed',
    code: 'SKEIN_EXIT',
    build: async (world) => {
      const inner = `  - { id: x, ${leaves('call/x')} }
  - { type: end, reason: enough }
${last('call/finally', 'pipeline')}`;
      writeFileSync(join(world.cwd, 'inner.yaml'), `workflow:\n${inner}`);
      return await pipeline(
        world,
        `  - { id: call, type: call, file: inner.yaml }
  - { id: b, ${FAILS} }
${last('finally', 'pipeline')}`,
      );
    },
  },
};

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SkeinError } from 'skein';
import type { Question, RunOptions } from 'skein';
import { agent, agentAsTool, agentNode, graph, tool } from 'skein/graph';
import type { ModelRequest } from '../../../src/agent/model.js';
import { seededRandom } from '../../../src/testing/index.js';
import type { Said } from '../../graph/support-agents.js';
import { ownModels } from '../../graph/support-agents.js';
import { callsIn } from './guarded-run.js';

/** What the page says. Whoever has seen it says it in everything, so that a value tells by itself where it comes from. */
export const MARK = 'zq7k';

/** What a person says to the guard. */
export type Person = 'allow' | 'deny';

const ANYTHING = { type: 'object' } as const;
const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;

export const hasMark = (value: unknown): boolean => (JSON.stringify(value) ?? '').includes(MARK);

/** Texts of files by name. */
export type Files = Readonly<Record<string, string>>;

/** What lies in the project before any run. */
export const OWN_FILES: Files = { 'own.md': 'What the user wrote.\n' };

interface MadeOf {
  readonly seed: string;
  readonly person: Person;
  /** Texts that a person allowed to send, in this process and earlier ones. */
  readonly allowed: Set<string>;
  readonly files: Files;
}

/** Models that do anything, drawn from all that they see, and what they got done. */
export class MarkedWorld {
  /** What went out with the mark and without a question. */
  readonly leaked: string[] = [];
  /** How many things that carry the mark went out, and how many questions the guard asked. */
  marked = 0;
  asked = 0;
  readonly cwd = mkdtempSync(join(tmpdir(), 'skein-marked-'));
  private readonly own: ReturnType<typeof ownModels>;

  constructor(private readonly made: MadeOf) {
    onTestFinished(() => rmSync(this.cwd, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(made.files)) writeFileSync(join(this.cwd, name), text);
    this.own = ownModels({ m: (request) => this.sayUnlessDown(request), n: (request) => this.say(request) });
  }

  get options(): RunOptions {
    return {
      cwd: this.cwd,
      memory: 'What the user knows.',
      models: this.own.models,
      answer: (question, address) => {
        if (!address.includes('guard#')) return Promise.resolve(question.choices?.[0] ?? 'yes');
        this.asked += 1;
        if (this.made.person === 'allow') for (const text of textsIn(question)) this.made.allowed.add(text);
        return Promise.resolve(this.made.person);
      },
    };
  }

  files(): Files {
    return Object.fromEntries(readdirSync(this.cwd).map((name) => [name, readFileSync(join(this.cwd, name), 'utf8')]));
  }

  /** An agent that can do everything; inside of others, it has none of them. */
  agent(name: string, isInside = false): ReturnType<typeof agent> {
    const own = [this.page, this.quiet, this.send];
    const more = isInside ? [] : [agentAsTool(this.agent(`${name}-clerk`, true), CLERK), this.starting(name)];
    return agent({
      name,
      model: ['own/m', 'own/n'],
      tools: ['read_file', 'write_file', 'glob', 'grep', ...own, ...more],
      maxTurns: 6,
    });
  }

  readonly page = tool({ name: 'page', inputSchema: ANYTHING, effect: 'read', execute: () => `The page: ${MARK}.` });

  /** A function of the user that adds nothing of others. */
  readonly quiet = tool({
    name: 'quiet',
    inputSchema: TEXT,
    effect: 'read',
    trust: 'trusted',
    execute: ({ text }) => String(text).toLowerCase(),
  });

  readonly send = tool({
    name: 'send',
    inputSchema: TEXT,
    effect: 'idempotent',
    execute: ({ text }, step) => {
      if (!String(text).includes(MARK)) return 'sent';
      this.marked += 1;
      if (!this.made.allowed.has(String(text))) this.leaked.push(step.idempotencyKey);
      return 'sent';
    },
  });

  /** A tool whose function starts a run of its own. */
  private starting(name: string) {
    const inner = graph<{ task: string }>()
      .node('worker', agentNode(this.agent(`${name}-inner`, true)))
      .setEntry('worker');
    return tool({
      name: 'start',
      inputSchema: TEXT,
      effect: 'idempotent',
      // What the run heard is what counts.
      trust: 'trusted',
      execute: async ({ text }, step) =>
        String((await inner.runOrThrow({ task: String(text) }, step.runOptions)).worker),
    });
  }

  /** One call of ten finds no model, so that the other one goes on from what was said until then. */
  private sayUnlessDown(request: ModelRequest): Said {
    const random = seededRandom(`${this.made.seed} down ${JSON.stringify(request.messages).replaceAll(this.cwd, '')}`);
    if (random() < 0.1) throw new SkeinError('SKEIN_MODEL_UNAVAILABLE', 'it is down');
    return this.say(request);
  }

  private say({ messages, tools, caller }: ModelRequest): Said {
    const mark = hasMark(messages) ? ` ${MARK}` : '';
    const random = seededRandom(
      `${this.made.seed} ${caller.agent} ${JSON.stringify(messages).replaceAll(this.cwd, '')}`,
    );
    const drawn = (most: number): number => Math.floor(random() * most);
    if (caller.phase !== undefined) return phaseAnswer(drawn, mark);
    if (caller.turn > 4 || random() < 0.2) return `${caller.agent} says ${drawn(100)}${mark}`;
    const inputs: Readonly<Record<string, () => object>> = {
      page: () => ({}),
      quiet: () => ({ text: `Quiet ${drawn(9)}${mark}` }),
      send: () => ({ text: `Hello ${drawn(1e9)}${mark}` }),
      read_memory: () => ({}),
      write_memory: () => ({ text: `Note ${drawn(9)}${mark}` }),
      write_file: () => ({
        path: drawn(3) === 0 && mark !== '' ? `${MARK}.md` : `note${drawn(3)}.md`,
        content: `Text ${drawn(9)}${mark}`,
      }),
      read_file: () => ({ path: ['own.md', 'note0.md', 'note1.md', 'note2.md'][drawn(4)] }),
      glob: () => ({ pattern: '*.md' }),
      grep: () => ({ pattern: 'Text|wrote' }),
      clerk: () => ({ task: `Please ${drawn(9)}${mark}` }),
      helper: () => ({ task: `Help ${drawn(9)}${mark}` }),
      start: () => ({ text: `Begin ${drawn(9)}${mark}` }),
    };
    // Who knows the mark passes it on; who does not looks for it, and sends.
    const wanted = mark === '' ? LOOKS : PASSES_ON;
    const offered = tools.map(({ name }) => name).filter((name) => wanted.includes(name));
    const calls = Array.from({ length: 1 + drawn(2) }, (): readonly [string, object] => {
      const name = offered[drawn(offered.length)] ?? 'page';
      return [name, inputs[name]?.() ?? {}];
    });
    return { calls };
  }
}

/** What supervision is told, whatever it asks for. */
function phaseAnswer(drawn: (most: number) => number, mark: string): string {
  return JSON.stringify({
    interpretation: `As I see it${mark}`,
    met_commitment: drawn(3) === 0,
    deviations: [`Other ${drawn(9)}${mark}`],
    verdict: drawn(3) === 0 ? 'continue' : 'reorient',
    correction: `Better ${drawn(9)}${mark}`,
  });
}

const PASSES_ON = ['write_memory', 'write_file', 'clerk', 'helper', 'start', 'quiet', 'send'];
const LOOKS = ['page', 'read_memory', 'read_file', 'glob', 'grep', 'helper', 'start', 'send'];

const CLERK = { name: 'clerk', description: 'Helps.' } as const;

/** The texts that would go out, which a question of the guard shows. */
function textsIn(question: Question): readonly string[] {
  const calls = callsIn(question) as readonly { readonly input?: { readonly text?: unknown } }[];
  return calls.flatMap(({ input }) => (typeof input?.text === 'string' ? [input.text] : []));
}

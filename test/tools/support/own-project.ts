import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { link, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { folder, session } from './session.js';
import type { Session } from './session.js';

/** What stands in every file of the record, and must never reach a model. */
export const CANARY = 'the canary is yellow';

/** Everything that is the project's own, by what it is called here: a file in it. */
export const KEPT = {
  store: '.skein/skein.db',
  'log of the store': '.skein/skein.db-wal',
  'a store elsewhere': 'data/runs.db',
  'log of a store elsewhere': 'data/runs.db-wal',
  'a run folder': '.workflow-runs/2026-01-01_x/steps/00_a/output.md',
  'an audit folder elsewhere': 'audit/2026-01-01_x/output.md',
  'a run folder of another audit folder': 'old/2026-01-01_x/output.md',
  'a recording': 'calls.json',
  'the workflow': 'flows/review.yaml',
  'an agent file': 'agents/critic.agent.md',
  'an agent folder of Copilot': '.github/agents/critic.agent.md',
  'an agent folder of Claude': '.claude/agents/critic.md',
  'a skill': '.claude/skills/style/SKILL.md',
  'a folder that the workflow names': 'more-agents/critic.agent.md',
  'a script': 'script.yaml',
  'a module': 'flow.ts',
  'a policy of the project': 'skein.policy.yaml',
  git: '.git/config',
  'a bare repository': 'vendor/repo/config',
  'a module of git': 'vendor/part/.git',
} as const;

/** One of {@link KEPT}. */
export type Thing = keyof typeof KEPT;

/** What tools don't see either. */
export const HIDDEN: ReadonlySet<Thing> = new Set<Thing>([
  'store',
  'log of the store',
  'a store elsewhere',
  'log of a store elsewhere',
  'a run folder',
  'an audit folder elsewhere',
  'a run folder of another audit folder',
  'a recording',
]);

/** A project with everything of {@link KEPT}, and tools that were opened in it. */
export async function ownProject(): Promise<{ readonly root: string; readonly tools: Session }> {
  const base = await folder();
  const root = join(base, 'project');
  const files = [
    ...Object.values(KEPT),
    'old/2026-01-01_x/.skein-run',
    'vendor/repo/HEAD',
    'vendor/repo/objects/x',
    'vendor/repo/refs/x',
    'src/main.ts',
  ];
  for (const file of files) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), `${CANARY}\n`);
  }
  const at = (path: string): string => join(root, path);
  const tools = await session(
    { tools: ['*'] },
    {
      cwd: root,
      own: {
        record: [at('data/runs.db'), at('audit'), at('calls.json')],
        definition: [
          at('flows/review.yaml'),
          at('agents/critic.agent.md'),
          at('more-agents'),
          at('script.yaml'),
          at('flow.ts'),
        ],
      },
    },
  );
  return { root, tools };
}

/** A way to call a file, given its path in the project: makes what it needs, and gives the path that a model would use. */
type Way = (root: string, path: string) => Promise<string> | string;

/** Ways that need nothing to be made. */
export const SPELLINGS: Readonly<Record<string, Way>> = {
  plainly: (_, path) => path,
  'with dots': (_, path) => `./src/.././${path}`,
  'from the root of the file system': (root, path) => join(root, path),
  'through the folder of the process': (root, path) => `/proc/self/cwd/../..${join(root, path)}`,
  'in capitals': (_, path) => path.toUpperCase(),
  'with a dot behind the first name': (_, path) => (path.includes('/') ? path.replace('/', './') : `${path}.`),
  'with a space behind the first name': (_, path) => (path.includes('/') ? path.replace('/', ' /') : `${path} `),
  'with a character that is not seen': (_, path) => `${path.slice(0, 2)}\u200c${path.slice(2)}`,
  'in wide letters': (_, path) =>
    path.replaceAll(/[a-z]/g, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)),
  'as a stream of the file': (_, path) => `${path}:stream`,
};

/** Ways that change the project. */
export const DETOURS: Readonly<Record<string, Way>> = {
  'by a link to the file': async (root, path) => {
    await symlink(join(root, path), join(root, 'link'));
    return 'link';
  },
  'by a link to its folder': async (root, path) => {
    await symlink(join(root, path, '..'), join(root, 'link'));
    return `link/${path.split('/').at(-1) ?? ''}`;
  },
  'by a link to a link': async (root, path) => {
    await symlink(join(root, path), join(root, 'link'));
    await symlink('link', join(root, 'second'));
    return 'second';
  },
  'in a folder that was renamed': async (root, path) => {
    const [top = '', ...rest] = path.split('/');
    await rename(join(root, top), join(root, 'renamed'));
    return ['renamed', ...rest].join('/');
  },
  'by another name of the file': async (root, path) => {
    await link(join(root, path), join(root, 'twin'));
    return 'twin';
  },
};

/** What stands in a folder and below, by path: contents and identity. */
export function snapshot(root: string): ReadonlyMap<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const found = new Map<string, string>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const text = entry.isFile() ? readFileSync(path, 'utf8') : '';
    found.set(path.slice(root.length + 1), `${statSync(path).ino} ${text}`);
  }
  return found;
}

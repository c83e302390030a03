import { ownPackage } from '../own-package.js';

/**
 * A workflow in TypeScript, with what an editor and the compiler need. It runs without being installed: `skein` is then the one that runs it.
 *
 * @example
 * typescriptFiles('weekly').get('flow.ts');
 */
export function typescriptFiles(name: string): ReadonlyMap<string, string> {
  return new Map([
    ['flow.ts', flow(name)],
    ['script.yaml', SCRIPT],
    ['package.json', json(manifest(name))],
    ['tsconfig.json', json({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] })],
  ]);
}

function flow(name: string): string {
  return `// ${name}
import { agent, agentNode, graph } from 'skein/graph';

const writer = agent({
  name: 'writer',
  instructions: "You write short, plain texts. You say what you don't know.",
});

// A function names what it needs: a node before it, or an input. What it gives is kept under the name of its node.
const flow = graph<{ topic: string }>({
  name: ${JSON.stringify(name)},
  inputs: [{ name: 'topic', default: 'looms', description: 'What to write about' }],
})
  .node('task', ({ topic }) => \`Write one paragraph about \${topic}.\`)
  .node('text', agentNode(writer))
  .node('page', ({ topic, text }) => \`\${topic.toUpperCase()}: \${text}\`)
  .setEntry('task');

export default flow;
`;
}

const SCRIPT = `${modeline('node_modules/skein/schema/script.json')}# Answers without a model: skein run flow.ts --mock=script.yaml
rules:
  - step: text
    answer: A paragraph that was written before the run.
`;

function manifest(name: string): object {
  return {
    name: name.toLowerCase(),
    private: true,
    type: 'module',
    scripts: { start: 'skein run flow.ts --mock=script.yaml', types: 'tsc' },
    dependencies: { skein: ownPackage().dependency },
    devDependencies: { typescript: '^6.0.0' },
  };
}

const COMPILER_OPTIONS = {
  target: 'es2023',
  module: 'nodenext',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
};

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * The first line of a YAML file, by which an editor finds its schema.
 *
 * @example
 * modeline('schema/dag.json'); // '# yaml-language-server: $schema=schema/dag.json\n'
 */
export function modeline(path: string): string {
  return `# yaml-language-server: $schema=${path}\n`;
}

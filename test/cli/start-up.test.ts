import { describe, expect, test } from 'vitest';
import { evaluated } from './support/evaluated.js';
import { CHAIN } from './support/skein.js';

describe('start-up (statement 89)', () => {
  test('--version loads nothing but its own files', async () => {
    const loaded = await evaluated(['--version'], {});
    const own = ['main', 'own-package', 'view/streams'].map((name) => `src/cli/${name}.ts`);
    expect(loaded.toSorted()).toEqual(own);
  });

  test('help loads the parser of the command line, and no part of a run', async () => {
    const loaded = await evaluated(['help', 'run'], {});
    const other = loaded.filter(
      (name) =>
        !/^(src\/(cli|base|events|secrets)|node_modules\/commander|dist\/chunks\/rolldown-runtime)\b/.test(name),
    );
    expect(other).toEqual([]);
  });

  test('[XU11] completion loads what help loads, unless it is asked for a run', async () => {
    const completed = await evaluated(['completion', 'words', '3', '--', 'skein', 'show', '--j'], {});
    const helped = await evaluated(['help', 'show'], {});
    const own = completed.filter((name) => !helped.includes(name));
    expect(own.toSorted()).toEqual(['src/cli/commands/completion.ts', 'src/cli/completion/candidates.ts']);
    const asked = await evaluated(['completion', 'words', '2', '--', 'skein', 'show', ''], {});
    expect(asked).toContain('src/cli/completion/stored-words.ts');
  });

  test('validate loads no agents and no model packages', async () => {
    const loaded = await evaluated(['validate', 'flow.yaml'], { 'flow.yaml': CHAIN });
    expect(
      loaded.filter((name) => /@ai-sdk|modelcontextprotocol|\/zod\/|src\/(agent|engine|audit)\//.test(name)),
    ).toEqual([]);
  });

  test('a run without a provider loads no provider package, no tool and no tool server client', async () => {
    const loaded = await evaluated(['run', 'flow.yaml', '--mock'], { 'flow.yaml': CHAIN });
    expect(loaded.filter((name) => /@ai-sdk|modelcontextprotocol|\/zod\/|src\/agent\/mcp\//.test(name))).toEqual([]);
    expect(loaded).toContain('src/agent/script/script-model.ts');
  });
});

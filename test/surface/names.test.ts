import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from 'skein';

const ROOT = resolve(import.meta.dirname, '../..');

/** Names that a program sees when it runs; names of types are checked by the compiler. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  skein: [
    'END',
    'ERROR_CODES',
    'MemoryDurable',
    'NonRetryableError',
    'SkeinError',
    'answerRun',
    'cancelRun',
    'changeBudget',
    'checkPlan',
    'compile',
    'conditionText',
    'definePlan',
    'deliverEvent',
    'estimateCalls',
    'forkThread',
    'formatCensus',
    'formatProblem',
    'getThread',
    'goto',
    'hasErrors',
    'listRuns',
    'listThreads',
    'memoryStore',
    'outlinePlan',
    'pruneRuns',
    'readBudget',
    'readMoments',
    'readRun',
    'removeThread',
    'run',
    'runOrThrow',
    'runWorkflow',
    'startRun',
    'streamRun',
    'supervisor',
    'templateText',
    'toDot',
    'toMermaid',
    'updateThread',
  ],
  'skein/yaml': [
    'SCHEMA_NAMES',
    'loadDag',
    'loadDagText',
    'loadPipeline',
    'loadPipelineText',
    'loadWorkflow',
    'loadWorkflowText',
    'openPolicies',
    'yamlSchema',
  ],
  'skein/agent': [
    'agentExecutor',
    'createModelRegistry',
    'createSharedMemory',
    'describeProviders',
    'describeSandbox',
    'echoModel',
    'fromLanguageModel',
    'isForeignTo',
    'isLanguageModel',
    'noTools',
    'readScript',
  ],
  'skein/graph': [
    'END',
    'agent',
    'agentAsTool',
    'agentNode',
    'agentTeam',
    'endNode',
    'eventNode',
    'goto',
    'graph',
    'loopNode',
    'planAndExecute',
    'reducers',
    'reflectionLoop',
    'runNode',
    'setNode',
    'sleepNode',
    'tool',
    'toolNode',
    'workflowNode',
  ],
  'skein/machine': [
    'ARTIFACT_TOOL',
    'BudgetExhaustedError',
    'InvalidEventError',
    'MAX_HISTORY',
    'MachineContext',
    'MaxVisitsExceededError',
    'PendingTransitions',
    'StateMachine',
    'TRANSITION_TOOL',
    'TerminalStateError',
    'artifactTool',
    'openPack',
    'packWorkflow',
    'parseSpec',
    'setArtifactCall',
    'sortedEvents',
    'toolsOf',
    'transitionTool',
    'validatePack',
    'validateSpec',
  ],
  'skein/sqlite': ['openSqliteStore', 'sqliteInUse'],
  'skein/testing': [
    'FakeClock',
    'ManualDurable',
    'assertComplete',
    'assertSpeakers',
    'assertTransitions',
    'faultyStore',
    'seededChooser',
    'seededRandom',
  ],
  'skein/tree': ['agent', 'attributesOf', 'checkpointStore', 'convergence', 'goal', 'sequence', 'state', 'workflow'],
};

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly default: string } | string>>;
}

/** The source files behind the subpaths, by subpath. */
async function entries(): Promise<ReadonlyMap<string, string>> {
  const manifest = JSON.parse(await readFile(resolve(ROOT, 'package.json'), 'utf8')) as Manifest;
  return new Map(
    Object.entries(manifest.exports).flatMap(([subpath, target]) => {
      if (typeof target === 'string') return [];
      const source = target.default.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts');
      return [[subpath.replace(/^\./, 'skein'), source] as const];
    }),
  );
}

describe('the public surface', () => {
  test('has these subpaths', async () => {
    expect([...(await entries()).keys()].toSorted()).toEqual(Object.keys(NAMES).toSorted());
  });

  test.each(Object.entries(NAMES))('%s has these names and no others', async (subpath, names) => {
    const file = (await entries()).get(subpath) ?? 'not exported';
    const module = (await import(resolve(ROOT, file))) as object;
    expect(Object.keys(module).toSorted()).toEqual(names);
  });

  test('is re-exported by hand, in files of less than 40 lines', async () => {
    for (const [subpath, file] of await entries()) {
      const text = await readFile(resolve(ROOT, file), 'utf8');
      expect(text.split('\n').length, subpath).toBeLessThanOrEqual(40);
      expect(text, subpath).not.toMatch(/export \*/);
    }
  });
});

test('error codes never change: this list only grows', () => {
  expect([...ERROR_CODES].toSorted()).toEqual([
    'SKEIN_ANSWER',
    'SKEIN_ARTIFACT',
    'SKEIN_AUDIT',
    'SKEIN_BAD_OUTPUT',
    'SKEIN_BAD_ROUTE',
    'SKEIN_BAD_UPDATE',
    'SKEIN_BUDGET',
    'SKEIN_BUDGET_MODEL',
    'SKEIN_CANCELLED',
    'SKEIN_CHECK',
    'SKEIN_CONTEXT',
    'SKEIN_DEFINITION',
    'SKEIN_ENDED',
    'SKEIN_EXIT',
    'SKEIN_FILE',
    'SKEIN_HALTED',
    'SKEIN_INPUT',
    'SKEIN_INTERNAL',
    'SKEIN_INVALID_EVENT',
    'SKEIN_INVARIANT',
    'SKEIN_JOURNAL',
    'SKEIN_LEASE',
    'SKEIN_MAX_ITEMS',
    'SKEIN_MAX_ROUNDS',
    'SKEIN_MAX_STEPS',
    'SKEIN_MAX_VISITS',
    'SKEIN_MCP',
    'SKEIN_MODEL_CAP',
    'SKEIN_MODEL_EMPTY',
    'SKEIN_MODEL_FAILED',
    'SKEIN_MODEL_OVERLOADED',
    'SKEIN_MODEL_REFUSED',
    'SKEIN_MODEL_UNAVAILABLE',
    'SKEIN_MODEL_UNKNOWN',
    'SKEIN_NETWORK',
    'SKEIN_NOT_A_LIST',
    'SKEIN_NOT_ENDORSED',
    'SKEIN_NOT_JSON',
    'SKEIN_NO_BINDING',
    'SKEIN_NO_EXECUTOR',
    'SKEIN_NO_KEY',
    'SKEIN_NO_MODEL',
    'SKEIN_NO_RUN',
    'SKEIN_NO_THREAD',
    'SKEIN_NO_VARIABLE',
    'SKEIN_OUTPUT_INVALID',
    'SKEIN_PACKAGE_MISSING',
    'SKEIN_POLICY',
    'SKEIN_QUESTION',
    'SKEIN_REJECTED',
    'SKEIN_REPLAY_MISS',
    'SKEIN_REQUIRE',
    'SKEIN_RUN_EXISTS',
    'SKEIN_SANDBOX',
    'SKEIN_SCRIPT',
    'SKEIN_STATE_MUTATED',
    'SKEIN_STATE_VISITS',
    'SKEIN_STEP_FAILED',
    'SKEIN_STORE',
    'SKEIN_TEMPLATE',
    'SKEIN_TERMINAL_STATE',
    'SKEIN_THREAD',
    'SKEIN_TIMEOUT',
    'SKEIN_TOOL_FAILED',
    'SKEIN_TOOL_REFUSED',
    'SKEIN_USAGE',
    'SKEIN_WRITE_CONFLICT',
  ]);
});

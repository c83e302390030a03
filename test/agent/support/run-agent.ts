import type { Result } from '../../../src/engine/ports/executor.js';
import { agentExecutor } from '../../../src/agent/executor.js';
import type { SharedMemory } from '../../../src/agent/memory.js';
import type { ModelRegistry, ModelRegistryOptions } from '../../../src/agent/models/registry-options.js';
import { createModelRegistry } from '../../../src/agent/models/registry.js';
import type { Tool, ToolProvider } from '../../../src/agent/tool.js';
import { noTools } from '../../../src/agent/tool.js';
import type { CustomGuard } from '../../../src/guard/custom-guard.js';
import type { GuardRules } from '../../../src/guard/decide.js';
import type { Security } from '../../../src/plan/security.js';
import type { AgentSpec } from '../../../src/plan/agent-spec.js';
import type { FakeStep, FakeStepOptions } from './step.js';
import { agentNode, fakeStep } from './step.js';

export interface AgentRun {
  readonly result: Result;
  readonly step: FakeStep;
  readonly registry: ModelRegistry;
}

export interface AgentRunOptions extends FakeStepOptions {
  readonly spec?: Partial<AgentSpec>;
  readonly prompt?: string;
  readonly registry?: ModelRegistry;
  readonly models?: Partial<ModelRegistryOptions>;
  readonly tools?: ToolProvider | readonly Tool[];
  readonly memory?: SharedMemory;
  /** What the user allows beforehand. */
  readonly rules?: GuardRules;
  /** What models look at calls. */
  readonly security?: Security | undefined;
  /** Guards of the program. */
  readonly guards?: readonly CustomGuard[] | undefined;
  /** Working directory; absent: that of the process. */
  readonly cwd?: string;
  /** Gets the step before it runs. */
  readonly before?: (step: FakeStep) => void;
}

/** One agent step, from the executor down to the wire. */
export async function runAgent(options: AgentRunOptions): Promise<AgentRun> {
  const registry = options.registry ?? createModelRegistry({ env: {}, noProbe: true, ...options.models });
  const node = agentNode(options.spec, [options.prompt ?? 'Review the change.']);
  const step = fakeStep(node, options);
  options.before?.(step);
  const tools = options.tools ?? noTools;
  const execute = agentExecutor({
    models: registry,
    tools: 'open' in tools ? tools : fixedTools(tools),
    ...(options.memory === undefined ? {} : { memory: options.memory }),
    ...(options.rules === undefined ? {} : { rules: options.rules }),
    ...(options.security === undefined ? {} : { security: () => options.security }),
    guards: options.guards,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  return { result: await execute(node, step), step, registry };
}

export function fixedTools(tools: readonly Tool[]): ToolProvider {
  return { open: () => Promise.resolve({ tools, close: () => Promise.resolve() }) };
}

export function tool(name: string, execute: Tool['execute'], more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `the tool ${name}`,
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    effect: 'read',
    trust: 'untrusted',
    execute,
    ...more,
  };
}

/** The output of a step that must have succeeded. */
export function outputOf(result: Result): unknown {
  if (result.type !== 'done') throw new Error(`the step did not succeed: ${JSON.stringify(result)}`);
  return result.output;
}

/** The error of a step that must have failed. */
export function errorOf(result: Result) {
  if (result.type !== 'failed') throw new Error(`the step did not fail: ${JSON.stringify(result)}`);
  return result.error;
}

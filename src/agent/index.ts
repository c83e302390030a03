/** Agents: models, tools and the loop between them. Subpath `skein/agent`. */
export { agentExecutor } from './executor.js';
export type { AgentDeps } from './executor.js';
export { createSharedMemory } from './memory.js';
export type { MemoryMode, SharedMemory } from './memory.js';
export type {
  FinishReason,
  Message,
  Model,
  ModelPart,
  ModelRequest,
  ModelTurn,
  ToolCall,
  ToolResult,
  ToolSpec,
} from './model.js';
export type { ModelSource, ReplayedCall } from './model.js';
export { describeProviders } from './models/describe-providers.js';
export type { ProviderReport } from './models/describe-providers.js';
export { describeSandbox } from './sandbox/sandbox.js';
export { echoModel } from './script/script-model.js';
export type { Env } from './models/environment.js';
export { fromLanguageModel, isLanguageModel } from './models/language-model.js';
export type { LanguageModel, LanguageModelOptions } from './models/language-model.js';
export { createModelRegistry } from './models/registry.js';
export type { ModelFactory, ModelRegistry, ModelRegistryOptions } from './models/registry-options.js';
export { readScript } from './script/read-script.js';
export type { Tool, ToolIo, ToolSource } from './tool.js';
export { noTools } from './tool.js';
export { isForeignTo } from './tools/provenance.js';
export type { ToolProvider, ToolSession } from './tool.js';

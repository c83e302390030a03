/** Providers of models that a workflow file may name. Their catalogue is part of `agent`, which notations don't see; a test compares the two. */
export const PROVIDER_NAMES: readonly string[] = [
  'openai',
  'anthropic',
  'azure',
  'ollama',
  'openai-compatible',
  'google',
  'mistral',
  'openrouter',
  'groq',
  'deepseek',
  'xai',
];

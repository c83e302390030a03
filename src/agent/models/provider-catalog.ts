/** A provider, as data: nothing here loads a package or opens a connection. */
export interface ProviderEntry {
  /** First part of `provider/model`. */
  readonly id: string;
  readonly title: string;
  /** The package that speaks to it; absent: part of Skein. */
  readonly package?: string;
  /** What to install when it is missing: the package with the major version that fits. */
  readonly install?: string;
  /** Variable with the key. */
  readonly keyEnv?: string;
  /** Without a key there is no call. A provider at an own base URL may do without. */
  readonly keyNeeded: boolean;
  /** Variable with the base URL. */
  readonly baseUrlEnv?: string;
  /** Base URL without the variable; absent: the package knows it. */
  readonly baseUrl?: string;
  /** The provider's own address, where the package knows it. */
  readonly home?: string;
  /** There is no base URL unless one is given. */
  readonly baseUrlNeeded?: boolean;
  /** Model that is used when the environment alone decides. */
  readonly defaultModel?: string;
}

/** Model when only `ANTHROPIC_API_KEY` is set. */
export const DEFAULT_ANTHROPIC_MODEL = 'claude-sonnet-5';

/** Model when only `OPENAI_API_KEY` is set. */
export const DEFAULT_OPENAI_MODEL = 'gpt-5-mini';

/** Ollama's address when `OLLAMA_HOST` is not set. */
export const DEFAULT_OLLAMA_HOST = 'http://127.0.0.1:11434';

const COMPATIBLE = '@ai-sdk/openai-compatible';

function compatible(id: string, title: string, keyEnv: string, baseUrl: string): ProviderEntry {
  return { id, title, package: COMPATIBLE, install: `${COMPATIBLE}@2`, keyEnv, keyNeeded: true, baseUrl };
}

/** All providers, in the order in which the environment is searched for a key. */
export const PROVIDERS: readonly ProviderEntry[] = [
  {
    id: 'anthropic',
    title: 'Anthropic',
    package: '@ai-sdk/anthropic',
    install: '@ai-sdk/anthropic@3',
    keyEnv: 'ANTHROPIC_API_KEY',
    keyNeeded: true,
    baseUrlEnv: 'ANTHROPIC_BASE_URL',
    home: 'https://api.anthropic.com/v1',
    defaultModel: DEFAULT_ANTHROPIC_MODEL,
  },
  {
    id: 'openai',
    title: 'OpenAI',
    package: '@ai-sdk/openai',
    install: '@ai-sdk/openai@3',
    keyEnv: 'OPENAI_API_KEY',
    keyNeeded: true,
    baseUrlEnv: 'OPENAI_BASE_URL',
    home: 'https://api.openai.com/v1',
    defaultModel: DEFAULT_OPENAI_MODEL,
  },
  {
    id: 'openai-compatible',
    title: 'OpenAI-compatible server',
    package: COMPATIBLE,
    install: `${COMPATIBLE}@2`,
    keyEnv: 'OPENAI_COMPATIBLE_API_KEY',
    keyNeeded: false,
    baseUrlEnv: 'OPENAI_COMPATIBLE_BASE_URL',
    baseUrlNeeded: true,
  },
  {
    id: 'ollama',
    title: 'Ollama',
    package: COMPATIBLE,
    install: `${COMPATIBLE}@2`,
    keyNeeded: false,
    baseUrlEnv: 'OLLAMA_HOST',
  },
  {
    id: 'azure',
    title: 'Azure OpenAI',
    package: '@ai-sdk/azure',
    install: '@ai-sdk/azure@3',
    keyEnv: 'AZURE_API_KEY',
    keyNeeded: true,
    baseUrlEnv: 'AZURE_BASE_URL',
  },
  {
    id: 'google',
    title: 'Google Gemini',
    package: '@ai-sdk/google',
    install: '@ai-sdk/google@3',
    keyEnv: 'GOOGLE_GENERATIVE_AI_API_KEY',
    keyNeeded: true,
    home: 'https://generativelanguage.googleapis.com',
  },
  {
    id: 'mistral',
    title: 'Mistral',
    package: '@ai-sdk/mistral',
    install: '@ai-sdk/mistral@3',
    keyEnv: 'MISTRAL_API_KEY',
    keyNeeded: true,
    home: 'https://api.mistral.ai',
  },
  compatible('openrouter', 'OpenRouter', 'OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1'),
  compatible('groq', 'Groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1'),
  compatible('deepseek', 'DeepSeek', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com/v1'),
  compatible('xai', 'xAI', 'XAI_API_KEY', 'https://api.x.ai/v1'),
  { id: 'mock', title: 'Echo, without a model', keyNeeded: false },
  { id: 'script', title: 'Answers from a file', keyNeeded: false },
];

/** One provider by its id. */
export function providerById(id: string): ProviderEntry | undefined {
  return PROVIDERS.find((provider) => provider.id === id);
}

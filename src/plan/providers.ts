/** How a provider is called: with a package that ships with Skein, or with a factory of a separately installed package. */
export type ProviderApi = 'anthropic' | 'openai' | 'chat-completions' | ProviderFactory;

/** A function of a package that returns a function of model names. */
export interface ProviderFactory {
  readonly factory: string;
  /** The key under which it accepts the options of OpenAI's responses API. */
  readonly responses?: string;
}

/** A model provider as data: nothing here loads a package or opens a connection. */
export interface ProviderEntry {
  /** First part of `provider/model`, and the provider's name in files. */
  readonly id: string;
  readonly title: string;
  readonly api: ProviderApi;
  readonly package: string;
  /** The package's supported major version. */
  readonly major: number;
  readonly keyEnv?: string;
  /** Whether calls need a key. A provider at a custom base URL may work without one. */
  readonly keyNeeded: boolean;
  readonly baseUrlEnv?: string;
  /** Base URL without the variable; absent: the package's default. */
  readonly baseUrl?: string;
  readonly baseUrlEnd?: string;
  /** The provider's own address, if the package knows it. */
  readonly home?: string;
  readonly baseUrlNeeded?: boolean;
  /** Model that is used if the environment alone decides. */
  readonly defaultModel?: string;
  /** Pattern at the start of its model names; a matching name without a provider belongs to it. */
  readonly models?: RegExp;
  /** Short names of its models in the agent files of other systems. */
  readonly shortNames?: Readonly<Record<string, string>>;
  /** How a chat-completions server learns which requests share a prefix: a field, or a header. Absent: not at all. */
  readonly cache?: { readonly option: string } | { readonly header: string };
  /** Whether its model names use `-` where others have a dot. */
  readonly namesWithoutDots?: true;
}

const CHAT = { api: 'chat-completions', package: '@ai-sdk/openai-compatible', major: 2 } as const;

/** All providers, in the order in which the environment is searched for a key. */
export const PROVIDERS: readonly ProviderEntry[] = [
  {
    id: 'anthropic',
    title: 'Anthropic',
    api: 'anthropic',
    package: '@ai-sdk/anthropic',
    major: 3,
    keyEnv: 'ANTHROPIC_API_KEY',
    keyNeeded: true,
    baseUrlEnv: 'ANTHROPIC_BASE_URL',
    baseUrlEnd: '/v1',
    home: 'https://api.anthropic.com/v1',
    defaultModel: 'claude-sonnet-5',
    models: /^claude-/,
    shortNames: { sonnet: 'claude-sonnet-5', opus: 'claude-opus-5', haiku: 'claude-haiku-4-5' },
    namesWithoutDots: true,
  },
  {
    id: 'openai',
    title: 'OpenAI',
    api: 'openai',
    package: '@ai-sdk/openai',
    major: 3,
    keyEnv: 'OPENAI_API_KEY',
    keyNeeded: true,
    baseUrlEnv: 'OPENAI_BASE_URL',
    home: 'https://api.openai.com/v1',
    defaultModel: 'gpt-5-mini',
    models: /^(gpt-|chatgpt-|codex-|o[1-9]($|-))/,
    cache: { option: 'prompt_cache_key' },
  },
  {
    id: 'openai-compatible',
    title: 'OpenAI-compatible server',
    ...CHAT,
    keyEnv: 'OPENAI_COMPATIBLE_API_KEY',
    keyNeeded: false,
    baseUrlEnv: 'OPENAI_COMPATIBLE_BASE_URL',
    baseUrlNeeded: true,
  },
  {
    id: 'ollama',
    title: 'Ollama',
    ...CHAT,
    keyNeeded: false,
    baseUrlEnv: 'OLLAMA_HOST',
  },
  {
    id: 'azure',
    title: 'Azure OpenAI',
    api: { factory: 'createAzure', responses: 'azure' },
    package: '@ai-sdk/azure',
    major: 3,
    keyEnv: 'AZURE_API_KEY',
    keyNeeded: true,
    baseUrlEnv: 'AZURE_BASE_URL',
  },
  {
    id: 'google',
    title: 'Google Gemini',
    api: { factory: 'createGoogleGenerativeAI' },
    package: '@ai-sdk/google',
    major: 3,
    keyEnv: 'GOOGLE_GENERATIVE_AI_API_KEY',
    keyNeeded: true,
    home: 'https://generativelanguage.googleapis.com',
    models: /^gemini-/,
  },
  {
    id: 'mistral',
    title: 'Mistral',
    api: { factory: 'createMistral' },
    package: '@ai-sdk/mistral',
    major: 3,
    keyEnv: 'MISTRAL_API_KEY',
    keyNeeded: true,
    home: 'https://api.mistral.ai',
    models: /^(mistral|ministral|magistral|codestral|devstral|pixtral)-/,
  },
  {
    id: 'openrouter',
    title: 'OpenRouter',
    ...CHAT,
    keyEnv: 'OPENROUTER_API_KEY',
    keyNeeded: true,
    baseUrl: 'https://openrouter.ai/api/v1',
  },
  {
    id: 'groq',
    title: 'Groq',
    ...CHAT,
    keyEnv: 'GROQ_API_KEY',
    keyNeeded: true,
    baseUrl: 'https://api.groq.com/openai/v1',
  },
  {
    id: 'deepseek',
    title: 'DeepSeek',
    ...CHAT,
    keyEnv: 'DEEPSEEK_API_KEY',
    keyNeeded: true,
    baseUrl: 'https://api.deepseek.com/v1',
    models: /^deepseek-/,
  },
  {
    id: 'xai',
    title: 'xAI',
    ...CHAT,
    keyEnv: 'XAI_API_KEY',
    keyNeeded: true,
    baseUrl: 'https://api.x.ai/v1',
    models: /^grok-/,
    cache: { header: 'x-grok-conv-id' },
  },
];

export const PROVIDER_NAMES: readonly string[] = PROVIDERS.map(({ id }) => id);

/** Prefixes of `provider/model` that call no provider: an echo, and answers from a file. */
export const LOCAL_MODELS: readonly string[] = ['mock', 'script'];

/** Providers of other systems; at a custom address they speak chat completions. */
export const FOREIGN_PROVIDERS: ReadonlySet<string> = new Set([
  'dmr',
  'amazon-bedrock',
  'requesty',
  'nebius',
  'minimax',
  'github-copilot',
  'cerebras',
  'fireworks',
  'together',
  'moonshot',
  'vercel',
  'cloudflare-ai-gateway',
]);

export function providerById(id: string): ProviderEntry | undefined {
  return PROVIDERS.find((provider) => provider.id === id);
}

export function installCommand(provider: ProviderEntry): string {
  return `npm install ${provider.package}@${provider.major}`;
}

/** Returns whether a provider accepts a JSON Schema for the answer; known before its package is loaded. */
export function takesSchema(provider: ProviderEntry): boolean {
  return provider.api !== 'chat-completions';
}

/** Words of agent files that leave the choice to the environment, in lower case. */
const NO_CHOICE: ReadonlySet<string> = new Set(['', 'inherit', 'auto', 'default']);

/** The names of models that an agent really names. */
export function namedModels(models: readonly string[]): readonly string[] {
  return [...new Set(models.map((name) => name.trim()))].filter((name) => !NO_CHOICE.has(name.toLowerCase()));
}

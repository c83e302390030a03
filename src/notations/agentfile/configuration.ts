import { dirname, join, resolve } from 'node:path';
import { present } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import type { ModelSettings } from '../../plan/agent-spec.js';
import { LOCAL_MODELS, PROVIDERS, PROVIDER_NAMES } from '../../plan/providers.js';
import { raised, type Security } from '../../plan/security.js';
import { absolutePath, reportUnread } from '../../text/files.js';
import type { Findings } from '../../text/findings.js';
import { parseToml } from '../../text/toml.js';
import type { SourceMap } from '../../text/nodes.js';
import type { Workspace } from '../opened-file.js';
import { securityFrom } from '../security-key.js';
import { providerNamed, readAgentToml, type AgentToml, type WrittenModel } from './agent-toml.js';

export interface ChosenModel {
  readonly model?: string;
  readonly settings?: ModelSettings;
}

/** The whole configuration: `agent.toml` beside the file, overridden by the file that `--config` names. */
export interface Configuration extends Pick<AgentToml, 'servers' | 'budget' | 'declared' | 'cache' | 'sandbox'> {
  readonly model: ChosenModel;
  readonly security?: Security;
  /** The model of the supervisor. Undefined: that of the step. */
  readonly supervisor?: string;
  readonly profiles: ReadonlyMap<string, ChosenModel>;
  /** Absolute paths of the folders searched for skills. */
  readonly roots: readonly string[];
  readonly tools: { readonly names: NonNullable<AgentToml['tools']>; readonly file: string } | undefined;
}

const FILE = 'agent.toml';

/** The default skills folder, beside the file. */
const SKILLS = 'skills';

/** Reads the configuration. Codes: those of `agent-toml.ts` and of TOML, `unknown-model`, `unknown-provider`, `file-missing` etc. */
export async function readConfiguration(
  config: string | undefined,
  workspace: Workspace,
  findings: Findings,
): Promise<Configuration> {
  const layers = [await readLayer(join(workspace.base, FILE), false, workspace, findings)];
  if (config !== undefined) layers.push(await readLayer(resolve(workspace.cwd, config), true, workspace, findings));
  const read = layers.filter((layer) => layer !== undefined);
  const llm = Object.assign({}, ...read.map(({ toml }) => toml.llm ?? {})) as WrittenModel;
  const profiles = new Map(read.flatMap(({ toml }) => [...toml.profiles]));
  const last = <T>(of: (layer: Layer) => T | undefined): T | undefined =>
    read.map(of).findLast((one) => one !== undefined);
  const supervisor = last(({ toml }) => toml.supervisor);
  return {
    model: chosen(llm, {}, findings),
    ...present({
      supervisor: supervisor && chosen(supervisor, llm, findings).model,
      security: strictest(
        read.map(({ toml }) => securityFrom(toml.security, (model) => modelName(model, llm.provider, findings))),
      ),
      budget: last(({ toml }) => toml.budget),
      cache: last(({ toml }) => toml.cache),
      sandbox: last(({ toml }) => toml.sandbox),
    }),
    declared: Object.assign({}, ...read.map(({ toml }) => toml.declared)) as AgentToml['declared'],
    tools: last(({ toml, file }) => toml.tools && { names: toml.tools, file }),
    profiles: new Map([...profiles].map(([name, model]) => [name, chosen(model, llm, findings)])),
    servers: Object.assign({}, ...read.map(({ toml }) => toml.servers)) as AgentToml['servers'],
    roots: last(({ toml, folder }) => toml.roots?.map(({ text }) => absolutePath(text, folder, workspace.home))) ?? [
      join(workspace.base, SKILLS),
    ],
  };
}

/** Combines the security settings. A later file may raise the mode and change the scope, but lowers nothing. */
function strictest(layers: readonly (Security | undefined)[]): Security | undefined {
  return layers.reduce(
    (around, own) => (own?.mode === around?.mode ? (own ?? around) : raised(around, own)),
    undefined,
  );
}

interface Layer {
  readonly toml: AgentToml;
  readonly file: string;
  readonly folder: string;
}

async function readLayer(
  path: string,
  isNeeded: boolean,
  workspace: Workspace,
  findings: Findings,
): Promise<Layer | undefined> {
  const root = await readTomlFile(path, isNeeded, workspace, findings);
  if (root === undefined) return undefined;
  return { toml: readAgentToml(root, findings), file: workspace.shown(path), folder: dirname(path) };
}

/** Reads a TOML file. A missing file is an error only if the user named it. */
export async function readTomlFile(
  path: string,
  isNeeded: boolean,
  workspace: Workspace,
  findings: Findings,
): Promise<SourceMap | undefined> {
  const file = workspace.shown(path);
  const read = await workspace.read(path);
  if (!read.ok) {
    if (isNeeded || read.failure !== 'missing')
      reportUnread(read, `the configuration ${file}`, { file, line: 1, column: 1 }, findings);
    return undefined;
  }
  workspace.use(path, read.text);
  const { root, problems } = await parseToml(read.text, file);
  findings.add(problems);
  return root;
}

/** Returns a model as plans name it. `[llm]` supplies absent fields, but not the provider if the model's own is known. */
function chosen(written: WrittenModel, llm: WrittenModel, findings: Findings): ChosenModel {
  const maxOutputTokens = written.maxTokens ?? llm.maxTokens;
  const temperature = written.temperature ?? llm.temperature;
  const settings = present({ maxOutputTokens, temperature });
  const name = written.model ?? llm.model;
  const provider =
    written.provider ?? (written.model !== undefined && isKnown(written.model.text) ? undefined : llm.provider);
  return present({
    model: name && modelName(name, provider, findings),
    settings: Object.keys(settings).length === 0 ? undefined : settings,
  });
}

type Scalar = NonNullable<WrittenModel['model']>;

function modelName({ text, at }: Scalar, provider: Scalar | undefined, findings: Findings): string | undefined {
  if (provider !== undefined) {
    const id = providerNamed(provider.text);
    if (id !== undefined) return text.startsWith(`${id}/`) ? text : `${id}/${text}`;
    const hint = findings.near(provider.text, PROVIDER_NAMES) ?? `known are: ${PROVIDER_NAMES.join(', ')}`;
    findings.error('unknown-provider', `there is no provider ${quoteShort(provider.text)}`, provider.at, hint);
    return undefined;
  }
  if (isKnown(text)) return text.includes('/') ? text : `${ownerOf(text) ?? ''}/${text}`;
  const hint = 'write provider/model, such as openai/gpt-5-mini';
  findings.error('unknown-model', `the model ${quoteShort(text)} does not say its provider`, at, hint);
  return undefined;
}

function isKnown(model: string): boolean {
  const [first = '', rest] = model.split('/', 2);
  if (rest !== undefined) return PROVIDER_NAMES.includes(first) || LOCAL_MODELS.includes(first);
  return ownerOf(model) !== undefined;
}

/** Returns the provider whose model names begin like this one. */
function ownerOf(model: string): string | undefined {
  return PROVIDERS.find(({ models }) => models?.test(model) === true)?.id;
}

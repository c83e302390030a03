import { suggest } from '../base/suggest.js';
import { entryOf, toJson, type SourceMap } from '../text/nodes.js';
import type { OpenedFile } from './opened-file.js';
import { isPlainObject, jsonIn } from '../base/json.js';

const STATEMENT = /^(?:NAME|INPUT|AGENT|GOAL|CONVERGE|RUN|SUPERVISED|SECURITY|WORKFLOW)(?:[ \t]|$)/;

/** True for a file named like an Agentfile, or whose first line is an Agentfile statement. */
export function looksLikeAgentfile({ file, source }: OpenedFile): boolean {
  if (/(?:^|[\\/])Agentfile$|\.agent$/.test(file)) return true;
  if (/\.(?:ya?ml|json)$/i.test(file)) return false;
  const first = /^\uFEFF?(?:[ \t\r]*(?:#[^\n]*)?\n)*[ \t]*([^\n]{0,80})/.exec(source.text)?.[1] ?? '';
  return STATEMENT.test(first.trimEnd());
}

/** Keys of workflows whose steps depend on each other. Such workflows have agents too. */
const OTHER_KEYS: ReadonlySet<string> = new Set(['steps', 'name', 'inputs', 'config', 'output']);

/** True for a pipeline or a team of agents, false for a workflow whose steps depend on each other. */
export function looksLikePipeline(opened: OpenedFile): boolean {
  const root = opened.yaml().content?.root;
  if (root?.kind !== 'map') return false;
  const keys = root.entries.map(({ key }) => key);
  if (keys.includes('prompts') || keys.includes('states')) return false;
  if (keys.includes('workflow')) return !isMisnamedDag(root, keys);
  if (isMisnamedPipeline(root)) return true;
  const isOther = keys.some((key) => OTHER_KEYS.has(key) || suggest(key, ['steps']) !== undefined);
  return !isOther && entryOf(root, 'agents')?.value.kind === 'map';
}

/** True for dependent steps under the pipeline key `workflow`: each step names its agent as in a DAG workflow, and the file has a name. */
function isMisnamedDag(root: SourceMap, keys: readonly string[]): boolean {
  const steps = entryOf(root, 'workflow')?.value;
  if (!keys.includes('name') || keys.includes('steps') || steps?.kind !== 'list') return false;
  return steps.items.every(
    (item) => item.kind === 'map' && entryOf(item, 'agent') !== undefined && entryOf(item, 'type') === undefined,
  );
}

/** True for steps with a type under the DAG key `steps`. */
export function isMisnamedPipeline(root: SourceMap): boolean {
  const steps = entryOf(root, 'steps')?.value;
  if (entryOf(root, 'name') !== undefined || steps?.kind !== 'list' || steps.items.length === 0) return false;
  return steps.items.every((item) => item.kind === 'map' && entryOf(item, 'type') !== undefined);
}

/** Values of `kind` in files of the tool that makes packs. */
export const NO_PACKS: ReadonlySet<string> = new Set(['Arena', 'PromptConfig', 'Scenario', 'Provider', 'Tool']);

/** True for a file with the keys or the name of a pack, and for files of the tool that makes packs. */
export function looksLikePack(opened: OpenedFile): boolean {
  const text = opened.source.text.trimStart();
  const isJson = text.startsWith('{') && !/\.ya?ml$/i.test(opened.file);
  const data = isJson ? jsonIn(text) : yamlOf(opened);
  // A malformed pack is still a pack.
  const isNamed = /\.pack\.(?:json|ya?ml)$/i.test(opened.file);
  if (!isPlainObject(data)) return isNamed || (isJson && /"(?:prompts|template_engine)"\s*:/.test(text));
  if (isNamed || 'steps' in data) return isNamed;
  if (typeof data['kind'] === 'string' && NO_PACKS.has(data['kind'])) return true;
  const { workflow } = data;
  return (
    isPlainObject(data['prompts']) || 'template_engine' in data || (isPlainObject(workflow) && 'states' in workflow)
  );
}

function yamlOf(opened: OpenedFile): unknown {
  const root = opened.yaml().content?.root;
  return root?.kind === 'map' ? toJson(root) : undefined;
}

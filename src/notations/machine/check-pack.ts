import { isPlainObject, ownValue } from '../../base/json.js';
import { hasErrors, type Position, type Problem } from '../../base/problem.js';
import { readSpec, rightSpec } from '../../machine/pure/read-spec.js';
import type { Spec } from '../../machine/pure/spec.js';
import { checkSpec } from '../../machine/pure/validate.js';
import { checkForm } from '../../text/check-form.js';
import { createFindings, type Findings } from '../../text/findings.js';
import { entryOf, toJson, type SourceNode } from '../../text/nodes.js';
import { checkCompositions } from './check-compositions.js';
import { checkReferences } from './check-references.js';
import { checkTemplates, checkVariables } from './check-templates.js';
import { checkValidators } from './check-validators.js';
import { checkSettings } from './settings.js';
import { checkSupervision } from './supervising.js';
import { NO_PACKS } from '../looks-like.js';
import type { Pack, PlacedPack } from './pack.js';
import { packForm } from './pack-form.js';
import type { PackSchema } from './dialect.js';
import { declarationsOf, type Declarations } from '../../plan/declarations.js';
import { readFields } from '../../text/shape.js';
import { readDeclarations } from '../declarations-key.js';

export interface PackRules {
  /** One version of the schema. Undefined: either version. */
  readonly schema?: PackSchema | undefined;
  readonly validators: ReadonlySet<string>;
}

/** Checks a pack: its form, then its workflow, then the references between its parts. Usable only if no error was found. */
export function checkPack(root: SourceNode, rules: PackRules, findings: Findings): Pack | undefined {
  const kind = entryOf(root, 'kind')?.value;
  if (kind?.kind === 'scalar' && NO_PACKS.has(kind.text) && entryOf(root, 'prompts') === undefined) {
    const message = `a file of kind ${kind.text} is not a pack`;
    findings.error('not-a-pack', message, kind.at, 'compile it: packc compile --config FILE --output pack.json');
    return undefined;
  }
  const { form, named } = packForm(rules.schema);
  checkForm(root, form, { findings, named });
  const isRight = !hasErrors(findings.list);
  const data = toJson(root);
  const pack = data as unknown as Pack;
  const placed = { pack, findings, at: placesIn(root) };
  checkWorkflow(ownValue(data, 'workflow'), ownValue(data, 'prompts'), placed, rules.schema);
  if (!isRight) return pack;
  checkSchemaName(root, placed);
  checkReferences(placed);
  checkCompositions(placed);
  checkSupervision(placed);
  checkSettings(root, placed);
  checkDeclared(root, findings);
  checkTemplates(placed);
  checkVariables(placed);
  checkValidators(placed, rules.validators);
  return pack;
}

/** Checks the rules of the workflow, even if the form of other parts is wrong. */
function checkWorkflow(
  workflow: unknown,
  prompts: unknown,
  { findings, at }: PlacedPack,
  schema: PackSchema | undefined,
): void {
  if (workflow === undefined) return;
  const names = isPlainObject(prompts) ? Object.keys(prompts) : [];
  // The form of a pack asks for all that reading a spec asks for. A spec that can't be read has a mistake of form, which was reported.
  const spec = hasErrors(findings.list) ? readSpec(workflow).spec : rightSpec(workflow as Spec);
  if (spec === undefined) return;
  for (const { problem, keys } of checkSpec(spec, new Set(names))) put(problem, at('workflow', ...keys), findings);
  if (schema !== '1.5') return;
  for (const [name, { terminal, on_event }] of Object.entries(spec.states)) {
    if (terminal === true || on_event !== undefined) continue;
    const message = `workflow.states[${JSON.stringify(name)}].on_event is missing: schema 1.5 wants it unless terminal is true`;
    findings.error('missing-key', message, at('workflow', 'states', name));
  }
}

function put({ severity, code, message, hint }: Problem, at: Position, findings: Findings): void {
  if (severity === 'error') findings.error(code, message, at, hint);
  else findings.warning(code, message, at, hint);
}

export function placesIn(root: SourceNode): PlacedPack['at'] {
  return (...keys) => {
    let node = root;
    let { at } = root;
    for (const key of keys) {
      const entry = entryOf(node, key);
      const item = node.kind === 'list' ? node.items[Number(key)] : entry?.value;
      if (item === undefined) break;
      at = entry?.at ?? item.at;
      node = item;
    }
    return at;
  };
}

/** Warns if a pack does not match the schema version its `$schema` names. */
function checkSchemaName(root: SourceNode, { pack, findings, at }: PlacedPack): void {
  const named = /\bv?(1\.[45])(?:\.\d+)?\b/.exec(pack.$schema ?? '')?.[1];
  if (named !== '1.4' && named !== '1.5') return;
  const { form, named: parts } = packForm(named);
  const other = createFindings();
  checkForm(root, form, { findings: other, named: parts });
  const [first] = other.list.filter(({ severity }) => severity === 'error');
  if (first === undefined) return;
  const message = `$schema names version ${named}, by which the pack is not right: ${first.message}`;
  findings.warning('schema-mismatch', message, at('$schema'), 'name the version that the pack is written for');
}

/** Returns what a pack declares about the calls of its agents: in the runtime settings, or in its metadata if it has no workflow. */
export function packDeclarations({ workflow, metadata }: Pack): Declarations {
  return declarationsOf((workflow === undefined ? metadata?.skein : workflow.engine?.skein) ?? {});
}

/** Checks declarations beyond their form. Problem codes: those of {@link readDeclarations}. */
export function checkDeclared(root: SourceNode, findings: Findings): void {
  for (const path of [
    ['workflow', 'engine', 'skein'],
    ['metadata', 'skein'],
  ]) {
    const node = path.reduce<SourceNode | undefined>((inside, key) => inside && entryOf(inside, key)?.value, root);
    const fields = node && readFields(node, { name: path.join('.') }, findings);
    if (fields !== undefined) readDeclarations(fields);
  }
}

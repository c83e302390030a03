import type { Json } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Computed, TemplateRef } from '../../lang/values.js';
import type { Findings } from '../../text/findings.js';
import type { ParsedYaml } from '../../text/yaml.js';
import type { InputDef } from '../inputs-key.js';
import { orNoItems, reportNoList, reportNoValue } from '../named-values.js';
import { pathFault } from '../schema-paths.js';
import { append, reportOpen, spending, splitOnce } from '../written-references.js';
import { filled, splitText, type TextSource } from './reference-texts.js';
import type { Reader, References, Use } from './references.js';
import { knownOf, resolve } from './resolve.js';
import { nearestStep, type StepGraph } from './step-graph.js';

/** The beginning of a reference, which may not end like one. */
const BEGINS = /(?<!\\)\{\{\s*(?:steps|inputs)\.[\w.-]*\??\s*/g;

/** The syntax of references without braces. */
const FORM = { mark: '', forms: 'steps.ID.output or inputs.NAME, followed by .PATH for JSON, without braces' } as const;

interface ReferenceSource extends Pick<References, 'called' | 'tells'>, TextSource {
  readonly yaml: ParsedYaml;
  readonly inputs: readonly InputDef[];
  readonly given: readonly string[];
  readonly schemas: ReadonlyMap<string, Json>;
}

/**
 * Resolves `{{inputs.NAME}}`, `{{steps.ID.output}}`, `{{steps.LOOP.outputs.ID.output}}` and `{{steps.ID.output.PATH}}`, each optionally
 * followed by `?`. Any other name in braces is kept, with a warning (`not-a-reference`); if it names a step or an input, it is an error
 * (`bad-reference`). `{{= EXPRESSION }}` is evaluated.
 *
 * Problem codes: `unknown-input`, `unknown-step`, `not-upstream`, `no-such-path`, `unknown-member`, `bad-reference`, `not-a-reference`,
 * `not-a-list`, `too-many-references`.
 */
export function createReferences(source: ReferenceSource, graph: StepGraph, findings: Findings): References {
  const inputs = new Set([...source.inputs.map((input) => input.name), ...source.given]);
  const usedInputs = new Set<string>();
  const parsed = splitOnce(source.yaml, splitText);
  const references: References = {
    graph,
    inputs,
    usedInputs,
    called: source.called,
    tells: source.tells,
    told: new Set(),
    template: (scalar, step, { truncate, owner = step.label } = {}) => {
      const pieces: (string | TemplateRef | Computed)[] = [];
      for (const piece of parsed(scalar)) {
        if (typeof piece === 'string') {
          reportOpen(piece, BEGINS, () => scalar.at, findings);
          append(pieces, piece);
          continue;
        }
        if (!references.spend(1, piece.at)) break;
        const use = { step, owner, at: piece.at, truncate };
        append(pieces, filled(piece, use, { source, references, findings }) ?? piece.written);
      }
      return pieces;
    },
    value: (scalar, step) => {
      const use = { step, owner: step.label, at: scalar.at, truncate: undefined };
      return resolve(scalar.text.trim(), use, references);
    },
    named: (scalar, step, key) => {
      const naming = { key, label: step.label, at: scalar.at };
      const found = references.value(scalar, step);
      if (found === undefined) reportNoValue(scalar.text, naming, FORM, findings);
      else if (key !== 'rounds')
        reportNoList(scalar.text, naming, knownOf(scalar.text.trim(), step, references), findings);
      return found && orNoItems(found, naming, scalar.text.trim().endsWith('?'));
    },
    spend: spending(findings, 'inline agents, and expressions over all steps, count once for each step that uses them'),
    canRead: (id, step, at, from, inner = id) => {
      if (checkOutput(inner, { step, at }, references)) checkStep(id, { step, at, from }, references, findings);
    },
    canTell: (id, step, at, from) => checkStep(id, { step, at, from }, references, findings),
    fault: (code, message, at, hint) => findings.error(code, message, at, hint),
    canHave: (id, path, owner, at) => {
      const fault = pathFault(source.schemas.get(id), path, findings);
      if (fault === undefined) return;
      const message = `${owner} looks into the output of step ${quoteShort(id)}: ${fault.message}`;
      findings.error('no-such-path', message, at, fault.hint);
    },
    schemaOf: (id) => source.schemas.get(id),
    typeOf: (name) => source.inputs.find((input) => input.name === name)?.type,
    canUseInput: (name, owner, at, optional = false) => {
      if (!inputs.has(name)) reportInput(name, owner, at, { inputs, findings });
      // An optional reference does not make a declared input required.
      else if (!optional || !source.inputs.some((input) => input.name === name)) usedInputs.add(name);
    },
  };
  return references;
}

function reportInput(
  name: string,
  owner: string,
  at: Position,
  { inputs, findings }: { readonly inputs: ReadonlySet<string>; readonly findings: Findings },
): void {
  const hint = findings.near(name, inputs) ?? `declare it under inputs: ${name}: {description: ...}`;
  findings.error('unknown-input', `${owner} uses the input ${quoteShort(name)}, which is not declared`, at, hint);
}

/** Checks that a step has an output. Problem code: `missing-output`. */
function checkOutput(id: string, { step, at }: Pick<Use, 'step' | 'at'>, references: References): boolean {
  const { graph } = references;
  if (graph.hasOutput(id)) return true;
  const found = graph.step(id);
  const inner = found?.loop?.steps.map((each) => each.id).find((each) => graph.hasOutput(each));
  const what = found?.end === undefined ? 'it waits for time to pass' : 'it ends the workflow';
  const hint =
    found?.loop === undefined
      ? `${what}: refer to a step that gives something`
      : `the last step of the loop gives nothing: write steps.${id}.outputs.${inner ?? 'STEP'}.output`;
  references.fault('missing-output', `${step.label} refers to ${quoteShort(id)}, which has no output`, at, hint);
  return false;
}

/** Checks that a step has ended whenever its reader starts. Problem codes: `unknown-step`, `not-upstream`. */
function checkStep(
  id: string,
  { step, at, from }: Pick<Use, 'step' | 'at'> & { readonly from: Reader },
  { graph }: References,
  findings: Findings,
): void {
  if (graph.endsBefore(id, step)) return;
  const ids = graph.idsAround(step);
  if (!ids.has(id)) {
    const block = graph.blockOf(id);
    const what = block === undefined ? 'which does not exist' : `which is inside of ${block.label}`;
    const outside =
      block?.map === undefined
        ? `write steps.${block?.id}.outputs.${id}.output`
        : `it has one for each item: write steps.${block.id}.output`;
    const hint = block === undefined ? nearestStep(id, ids, findings) : outside;
    findings.error('unknown-step', `${step.label} refers to the step ${quoteShort(id)}, ${what}`, at, hint);
    return;
  }
  const refers = `${step.label} refers to`;
  const before =
    from === 'text'
      ? `write steps.${id}.output? for that of the round before`
      : `for that of the round before, put {{steps.${id}.output?}} into a set step, and read that`;
  if (id === step.id || graph.isAround(id, step)) {
    const own =
      id === step.id ? 'its own output' : `the ${graph.step(id)?.map === undefined ? 'loop' : 'map'} around it`;
    const isRepeated = graph.endedInRoundBefore(id, step);
    findings.error('not-upstream', `${refers} ${own}`, at, isRepeated ? before : 'a step sees what ran before it');
    return;
  }
  const hint = graph.endedInRoundBefore(id, step)
    ? `add ${id} to its depends_on, or ${before}`
    : `add ${id} to its depends_on`;
  const message = `${refers} the step ${quoteShort(id)}, which need not have run before`;
  findings.error('not-upstream', message, at, hint);
}

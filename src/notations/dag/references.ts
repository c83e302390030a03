import type { Position } from '../../base/problem.js';
import { parseTemplate } from '../../lang/template.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Template, TemplateRef, Truncate } from '../../lang/values.js';
import type { Findings } from '../../text/findings.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { ParsedYaml } from '../../text/yaml.js';
import { append, spending, splitOnce } from '../written-references.js';
import type { InputDef, StepDef } from './definition.js';
import { nearestStep } from './step-graph.js';
import type { StepGraph } from './step-graph.js';

/** Channel that holds a step's output. */
export const stepChannel = (id: string): string => `steps.${id}.output`;

/** Channel that holds an input. */
export const inputChannel = (name: string): string => `inputs.${name}`;

/** What references may point at, and which of it was used. */
export interface References {
  readonly graph: StepGraph;
  readonly inputs: ReadonlySet<string>;
  readonly usedInputs: Set<string>;
  /** Parses a text with references, as one step sees it. `owner` is who is named when an input is unknown, `step "a"` by default. */
  template(
    scalar: SourceScalar,
    step: StepDef,
    options?: { truncate?: Truncate | undefined; owner?: string },
  ): Template;
  /** Counts references; false, and a problem, when the plan would get too large. */
  spend(count: number, at: Position): boolean;
  /** Checks that a step may read another step's output. */
  canRead(id: string, step: StepDef, at: Position): void;
  /** Checks that an input exists, and remembers that it is used. */
  canUseInput(name: string, owner: string, at: Position): void;
}

/**
 * Resolves `{{inputs.NAME}}`, `{{steps.ID.output}}` and `{{steps.ID.output.PATH}}`. A name between braces that is
 * none of these stays as it is, and a warning says so (`not-a-reference`); one of a step or an input is an error (`bad-reference`).
 *
 * Problem codes: `unknown-input`, `unknown-step`, `not-upstream`, `bad-reference`, `not-a-reference`, `too-many-references`.
 */
export function createReferences(
  source: { readonly yaml: ParsedYaml; readonly inputs: readonly InputDef[]; readonly given: readonly string[] },
  graph: StepGraph,
  findings: Findings,
): References {
  const inputs = new Set([...source.inputs.map((input) => input.name), ...source.given]);
  const usedInputs = new Set<string>();
  const parsed = splitOnce(source.yaml, splitText);
  const references: References = {
    graph,
    inputs,
    usedInputs,
    template: (scalar, step, { truncate, owner = step.label } = {}) => {
      const pieces: (string | TemplateRef)[] = [];
      for (const piece of parsed(scalar)) {
        if (typeof piece === 'string') {
          append(pieces, piece);
          continue;
        }
        if (!references.spend(1, piece.at)) break;
        const use = { step, owner, at: piece.at, truncate };
        append(pieces, resolve(piece.expression, use, references, findings) ?? piece.written);
      }
      return pieces;
    },
    spend: spending(findings, 'inline agents, and expressions over all steps, count once for each step that uses them'),
    canRead: (id, step, at) => checkStep(id, step, at, graph, findings),
    canUseInput: (name, owner, at) => {
      if (inputs.has(name)) {
        usedInputs.add(name);
        return;
      }
      const hint = findings.near(name, inputs) ?? `declare it under inputs: ${name}: {description: ...}`;
      findings.error('unknown-input', `${owner} uses the input ${quoteShort(name)}, which is not declared`, at, hint);
    },
  };
  return references;
}

/** References between double braces, as they were written. */
function splitText(text: string): readonly (string | { readonly expression: string; readonly written: string })[] {
  return parseTemplate(text).map((piece) => {
    if (typeof piece === 'string') return piece;
    const { expression, offset } = piece;
    return { expression, written: text.slice(offset, text.indexOf('}}', offset) + 2) };
  });
}

interface Use {
  readonly step: StepDef;
  readonly owner: string;
  readonly at: Position;
  readonly truncate: Truncate | undefined;
}

/** Undefined: no reference, the text stays. */
function resolve(expression: string, use: Use, references: References, findings: Findings): TemplateRef | undefined {
  const [kind, name = '', field, ...path] = expression.split('.');
  if (kind === 'inputs' && name !== '' && field === undefined) {
    references.canUseInput(name, use.owner, use.at);
    return { channel: inputChannel(name) };
  }
  if (kind === 'steps' && field === 'output') {
    references.canRead(name, use.step, use.at);
    const cut = use.truncate === undefined ? {} : { truncate: use.truncate };
    return { channel: stepChannel(name), ...(path.length === 0 ? {} : { path }), ...cut };
  }
  reportNoReference(expression, use, references, findings);
  return undefined;
}

/** What is written like a reference and is none: what it leaves out is said when it names a step or an input. */
function reportNoReference(expression: string, use: Use, references: References, findings: Findings): void {
  const { graph, inputs } = references;
  const written = quoteShort(`{{${expression}}}`);
  const [root = '', ...rest] = expression.split('.');
  const behind = rest[0] === 'output' ? rest.slice(1) : rest;
  const meant = graph.ids.has(root)
    ? ['steps', root, 'output', ...behind]
    : inputs.has(root) && rest.length === 0
      ? ['inputs', root]
      : undefined;
  if (meant !== undefined) {
    const hint = `did you mean {{${meant.join('.')}}}? A backslash before the braces writes them as text`;
    findings.error('bad-reference', `${use.owner}: ${written} names no value`, use.at, hint);
    return;
  }
  const forms = 'references are {{inputs.NAME}} and {{steps.ID.output}}, followed by .PATH for JSON';
  const near = findings.near(root, [...inputs, ...graph.ids]);
  const hint = `${near ?? forms}; a backslash before the braces says that they are text`;
  findings.warning('not-a-reference', `${written} is not a reference and is left as it is`, use.at, hint);
}

function checkStep(id: string, step: StepDef, at: Position, graph: StepGraph, findings: Findings): void {
  if (!graph.ids.has(id)) {
    const message = `${step.label} refers to the step ${quoteShort(id)}, which does not exist`;
    findings.error('unknown-step', message, at, nearestStep(id, graph.ids, findings));
    return;
  }
  if (graph.endsBefore(id, step)) return;
  const itself = id === step.id;
  const message = itself
    ? `${step.label} refers to its own output`
    : `${step.label} refers to the step ${quoteShort(id)}, which need not have run before`;
  findings.error(
    'not-upstream',
    message,
    at,
    itself ? 'a step sees what ran before it' : `add ${id} to its depends_on`,
  );
}

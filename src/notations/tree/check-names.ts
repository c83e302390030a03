import { addTo } from '../../base/collections.js';
import { within, type TreeFindings, type TreePlace, type TreeStep, type TreeWorkflow } from './definition.js';
import { isSameStep, type GivenValue, type NameOwner } from './names.js';

/** Checks the names in one state. Steps inside another one are addressed under its name, so they conflict only with each other. */
export function checkTreeNames(tree: TreeWorkflow, given: readonly GivenValue[], findings: TreeFindings): void {
  const owners = new Map<string, NameOwner>();
  for (const { name } of tree.inputs) owners.set(name, { kind: 'parameter', name });
  const steps = placesOf(tree);
  const isGiven = new Set(given.map(({ name }) => name));
  const first = steps.filter(({ step, place }) => isFirst(step, place, { owners, findings }));
  for (const { step, place } of first) {
    checkFields(step, place, (field) => (isGiven.has(field) ? undefined : owners.get(field)), findings);
    for (const field of step.outputs) if (!owners.has(field)) owners.set(field, { kind: step.kind, name: step.name });
    checkInside(step, place, findings);
  }
}

interface Placed {
  readonly step: TreeStep;
  readonly place: TreePlace;
}

function placesOf({ sequences }: TreeWorkflow): readonly Placed[] {
  return sequences.flatMap(({ steps }, at) =>
    steps.map((step, index) => ({ step, place: { at: step.at, path: `sequences[${at}].steps[${index}]` } })),
  );
}

interface Registry {
  readonly owners: Map<string, NameOwner>;
  readonly findings: TreeFindings;
}

/** Claims the name of a step. Returns false if the same step runs again, or the name is already taken. */
function isFirst(step: TreeStep, place: TreePlace, { owners, findings }: Registry): boolean {
  const { kind, name } = step;
  if (name === '') return true;
  const owner = owners.get(name);
  if (owner === undefined || owner.kind === 'parameter') {
    owners.set(name, { kind, name, step });
    if (owner === undefined) return true;
    const message = `${kind} ${name} has the name of a parameter: after it, $${name} is what it gave`;
    findings.warning('shadowed-input', message, place, 'rename one of them');
    return true;
  }
  if (owner.step !== undefined && isSameStep(owner.step, step)) return false;
  const message = `${kind} ${name}: the name is taken by another ${owner.kind}`;
  findings.error('duplicate-name', message, place, 'rename one of them; only the very same step can run twice');
  return false;
}

function checkFields(
  step: TreeStep,
  place: TreePlace,
  ownerOf: (field: string) => NameOwner | undefined,
  findings: TreeFindings,
): void {
  const own = new Set<string>();
  for (const field of step.outputs) {
    if (field === '') continue;
    const owner = ownerOf(field);
    const other = own.has(field) ? `${step.kind}:${step.name}` : owner === undefined ? undefined : ownerText(owner);
    const isOwnName = field === step.name && !own.has(field);
    own.add(field);
    if (other === undefined || isOwnName) continue;
    const message = `${step.kind} ${step.name}: output "${field}" conflicts with ${other}`;
    findings.error('output-conflict', message, place, 'rename the output');
  }
}

function ownerText({ kind, name }: NameOwner): string {
  return kind === 'parameter' ? 'parameter' : `${kind}:${name}`;
}

/** Checks parallel steps: two with one name must be the same step, and no field may be declared twice. */
function checkInside(step: TreeStep, { path }: TreePlace, findings: TreeFindings): void {
  if (step.kind === 'agent') return;
  const byName = new Map<string, TreeStep[]>();
  step.using.forEach((child, at) => {
    const place = { at: child.at, path: within(path, `using[${at}]`) };
    if (byName.get(child.name)?.some((other) => isSameStep(other, child)) === false) {
      const message = `${step.kind} ${step.name}: two different steps inside of it are named ${child.name}`;
      findings.error('duplicate-name', message, place, 'rename one of them');
    }
    addTo(byName, child.name, child);
    checkFields(child, place, () => undefined, findings);
    checkInside(child, place, findings);
  });
}

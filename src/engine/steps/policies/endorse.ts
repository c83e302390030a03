import { digestText } from '../../../base/hash.js';
import { asRecorded, recordText, type Json } from '../../../base/json.js';
import { schemaFindings } from '../../../lang/schema-check.js';
import { endorsingSchema } from '../../../plan/endorsement.js';
import type { ItemError, PlanNode } from '../../../plan/plan.js';
import type { Label } from '../../../guard/label.js';
import type { Question } from '../../ports/durable.js';
import type { Given, PolicedStep, Policy } from './policy.js';

/**
 * A node whose result can be endorsed as vetted: `endorse`. A person sees all of a result that an untrusted text influenced, with the next
 * node if the step chose it, and the failed items of a map. The question contains a digest of what it shows, so a yes counts for nothing
 * else. A schema needs no person: a result that does not match fails the attempt.
 */
export function endorse(node: PlanNode): Policy | undefined {
  if (node.endorse === undefined) return undefined;
  const found = endorsingSchema(node);
  if (found === undefined) return { gave: (step, given, out) => askPerson(step, node.id, given, out) };
  return {
    gave(step, { output }, out) {
      if (step.givenLabel.level !== 'untrusted') return out();
      const findings = schemaFindings(found.schema ?? false, jsonOf(output));
      if (findings.length === 0) {
        step.endorsed('schema');
        return out();
      }
      const message = `what '${node.id}' gave does not match the schema that endorses it: ${findings.join('; ')}`;
      step.fail({ code: 'SKEIN_NOT_ENDORSED', message, hint: 'nothing of it was used' });
    },
  };
}

const CHOICES = ['allow', 'deny'] as const;

function askPerson(step: PolicedStep, id: string, given: Given, out: () => void): void {
  const { givenLabel: label } = step;
  if (label.level !== 'untrusted') return out();
  step.ask('endorse:guard#1', questionOf(id, given, step.itemErrors, label), (answer) => {
    if (answer === 'allow') {
      step.endorsed('person');
      out();
      return;
    }
    const message = `a person did not vouch for what '${id}' gave`;
    step.fail({ code: 'SKEIN_NOT_ENDORSED', message, hint: 'nothing of it was used', retryable: false });
  });
}

function questionOf(
  id: string,
  { output, writes = [], goto }: Given,
  errors: readonly ItemError[],
  { isPrivate, sources, more }: Label,
): Question {
  const shown = {
    value: jsonOf(output),
    ...(writes.length === 0
      ? {}
      : { also: Object.fromEntries(writes.map(({ channel, value }) => [channel, jsonOf(value)])) }),
    ...(goto === undefined ? {} : { next: jsonOf(goto) }),
    ...(errors.length === 0 ? {} : { errors: jsonOf(errors) }),
  };
  return {
    text: `Do you vouch for the result of "${id}"? Untrusted text influenced it.`,
    choices: CHOICES,
    evidence: {
      ...shown,
      digest: digestText(recordText(shown)),
      sources: more === true ? [...sources, 'and more'] : sources,
      private: isPrivate,
    },
  };
}

function jsonOf(value: unknown): Json {
  return value === undefined ? null : asRecorded(value);
}

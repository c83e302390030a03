import { quoteShort } from '../../../lang/value-text.js';
import type { ModelSettings, ProviderSpec } from '../../../plan/agent-spec.js';
import type { Findings } from '../../../text/findings.js';
import type { SourceScalar } from '../../../text/nodes.js';
import { modelNamed, type ModelDef } from './read-models.js';
import type { ProviderDef } from './read-providers.js';

export interface ModelTable {
  /** Models of the section `models`. Undefined for an entry with a mistake. */
  readonly models: ReadonlyMap<string, ModelDef | undefined>;
  readonly providers: ReadonlyMap<string, ProviderDef>;
}

/** The models of one agent, in the order of use. */
export interface AgentModels {
  readonly models: readonly string[];
  readonly settings: ModelSettings | undefined;
  readonly provider: ProviderSpec | undefined;
}

interface Choice extends ModelDef {
  readonly written: SourceScalar;
}

/**
 * Finds the models that an agent names: names of the section `models`, or `provider/model`, several separated by commas. `auto` leaves the
 * choice to the environment. All models of an agent share the settings and at most one address, those of the first model that has them.
 * Problem codes: `unknown-model`, `unknown-provider`, `model-order`, `not-supported`.
 */
export function findModels(
  written: readonly SourceScalar[],
  table: ModelTable,
  agent: string,
  findings: Findings,
): AgentModels {
  for (const text of written) warnOfOrder(text, agent, findings);
  const choices = written.flatMap((text) => choicesOf(text, table, findings));
  const [first] = choices;
  const kept: Choice[] = [];
  let provider: ProviderSpec | undefined;
  for (const choice of choices) {
    if (!fits(choice, kept, provider)) {
      const message = `${agent} can't use ${quoteShort(choice.name)} together with its other models: they have another address`;
      findings.warning('not-supported', message, choice.written.at, 'an agent has one base_url; make it two agents');
      continue;
    }
    provider ??= choice.provider;
    kept.push(choice);
    if (first !== undefined && differs(first.settings, choice.settings)) {
      const message = `the settings of ${quoteShort(choice.name)} are not used: ${agent} has those of its first model`;
      findings.warning('not-supported', message, choice.written.at, 'give both models the same settings');
    }
  }
  const settings = first === undefined || Object.keys(first.settings).length === 0 ? undefined : first.settings;
  return { models: [...new Set(kept.map((choice) => choice.name))], settings, provider };
}

/** Warns about several models: cagent chooses one of them at random for each turn. */
function warnOfOrder({ text, at }: SourceScalar, agent: string, findings: Findings): void {
  const names = text.split(',').filter((name) => name.trim() !== '');
  if (names.length < 2) return;
  const message = `${agent} tries the models ${quoteShort(text)} in order; for cagent they mean one at random for each turn`;
  const hint = 'write one model, and the others under fallback: {models: [...]}';
  findings.warning('model-order', message, at, hint);
}

function choicesOf(written: SourceScalar, table: ModelTable, findings: Findings): readonly Choice[] {
  const names = written.text.split(',').map((name) => name.trim());
  return names.flatMap((name) => {
    if (name === '' || name.toLowerCase() === 'auto') return [];
    if (table.models.has(name)) {
      const model = table.models.get(name);
      return model === undefined ? [] : [{ ...model, written }];
    }
    if (name.includes('/')) {
      const found = modelNamed(name, { providers: table.providers, at: written.at }, findings);
      return found === undefined ? [] : [{ ...found, settings: {}, written }];
    }
    const hint = findings.near(name, table.models.keys()) ?? 'write provider/model, or declare the model under models';
    findings.error('unknown-model', `there is no model ${quoteShort(name)}`, written.at, hint);
    return [];
  });
}

/** Whether a model fits the single address of the agent, to which all models of its provider are sent. */
function fits(choice: Choice, kept: readonly Choice[], provider: ProviderSpec | undefined): boolean {
  const type = choice.name.slice(0, choice.name.indexOf('/'));
  if (provider !== undefined && choice.provider !== undefined) return sameAddress(provider, choice.provider);
  if (provider !== undefined) return provider.type !== type;
  return choice.provider === undefined || kept.every((one) => !one.name.startsWith(`${type}/`));
}

function sameAddress(a: ProviderSpec, b: ProviderSpec): boolean {
  return a.type === b.type && a.baseUrl === b.baseUrl && a.apiKeyEnv === b.apiKeyEnv;
}

function differs(a: ModelSettings, b: ModelSettings): boolean {
  const keys = Object.keys(b) as (keyof ModelSettings)[];
  return keys.some((key) => a[key] !== b[key]);
}

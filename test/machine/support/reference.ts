import type { Context, Spec } from 'skein/machine';

/** What happened to a machine, in order, each with the time that it had been alive and the time of the clock. */
export type Deed =
  | { readonly kind: 'start'; readonly at: number }
  | { readonly kind: 'enter'; readonly from: string; readonly to: string; readonly event: string; readonly at: number }
  | { readonly kind: 'artifact'; readonly name: string; readonly value: string }
  | { readonly kind: 'calls'; readonly n: number };

/** What an event gives: a result, or the name of an error and its message. */
export type Answer = object | readonly [name: string, message: string];

const timeOf = (at: number): string => new Date(at).toISOString();

/**
 * A machine that keeps all deeds and works everything out from them anew, each time it is asked: slow and obvious. It knows no bounds of
 * bytes.
 */
export class ReferenceMachine {
  private readonly deeds: Deed[] = [];
  aliveMs = 0;

  constructor(
    private readonly spec: Spec,
    now: number,
  ) {
    this.deeds.push({ kind: 'start', at: now });
  }

  fire(event: string, now: number): Answer {
    const { budget = {} } = this.spec.engine ?? {};
    const used = {
      max_total_visits: this.entered().length,
      max_tool_calls: this.calls(),
      max_wall_time_sec: Math.floor(this.aliveMs / 1000),
    };
    for (const limit of ['max_total_visits', 'max_tool_calls', 'max_wall_time_sec'] as const) {
      const max = budget[limit] ?? 0;
      if (max === 0 || used[limit] < max) continue;
      return ['BudgetExhaustedError', `workflow budget exhausted: ${limit} ${used[limit]} reached limit ${max}`];
    }
    const from = this.current();
    const invalid = 'invalid event for current state: ';
    if (!this.has(from)) return ['InvalidEventError', `${invalid}state "${from}" not found in spec`];
    const { on_event = {}, terminal = false } = this.spec.states[from] ?? {};
    const events = Object.keys(on_event).toSorted();
    if (terminal || events.length === 0) {
      const text = `current state is terminal (no outgoing transitions): state "${from}" is terminal`;
      return ['TerminalStateError', text];
    }
    if (!events.includes(event)) {
      const text = `event "${event}" not defined for state "${from}" (available: [${events.join(' ')}])`;
      return ['InvalidEventError', invalid + text];
    }
    const target = on_event[event] ?? '';
    const answer = this.follow(target, []);
    if (!('to' in answer)) return answer;
    const { to, passed } = answer;
    this.deeds.push({ kind: 'enter', from, to, event, at: now });
    if (passed.length === 0) return { from, to, event };
    const redirect_reason = passed.map((one) => `max_visits (${this.most(one)}) reached for "${one}"`).join(', ');
    return { from, to, event, redirected: true, redirect_reason, original_target: target };
  }

  setArtifact(name: string, value: string): void {
    const declaring = [this.current(), ...Object.keys(this.spec.states)].find(
      (state) => this.has(state) && Object.hasOwn(this.spec.states[state]?.artifacts ?? {}, name),
    );
    const mode = declaring === undefined ? 'replace' : this.spec.states[declaring]?.artifacts?.[name]?.mode;
    const before = mode === 'append' ? (this.artifacts().get(name) ?? '') : '';
    this.deeds.push({ kind: 'artifact', name, value: before + value });
  }

  countCalls(n: number): void {
    this.deeds.push({ kind: 'calls', n });
  }

  context(): Context {
    const entries = this.entries();
    const history = entries.map(({ from, to, event, at }) => ({ from, to, event, timestamp: timeOf(at) }));
    const snapshots = this.deeds.flatMap((deed, at) => {
      const values = this.artifacts(at);
      if (deed.kind !== 'enter' || values.size === 0) return [];
      const { from: from_state, to: to_state, event } = deed;
      return [{ from_state, to_state, event, values: Object.fromEntries(values), timestamp: timeOf(deed.at) }];
    });
    const counts = new Map<string, number>();
    for (const state of this.entered()) counts.set(state, (counts.get(state) ?? 0) + 1);
    const times = this.deeds.flatMap((deed) => ('at' in deed ? [timeOf(deed.at)] : []));
    const artifacts = this.artifacts();
    return {
      current_state: this.current(),
      history,
      ...(this.aliveMs === 0 ? {} : { metadata: { 'skein.alive_ms': this.aliveMs } }),
      visit_counts: Object.fromEntries(counts),
      ...(this.calls() === 0 ? {} : { total_tool_calls: this.calls() }),
      ...(artifacts.size === 0 ? {} : { artifacts: Object.fromEntries(artifacts) }),
      ...(snapshots.length === 0 ? {} : { artifact_history: snapshots }),
      started_at: times[0] ?? '',
      updated_at: times.at(-1) ?? '',
    };
  }

  events(): string[] {
    const state = this.has(this.current()) ? this.spec.states[this.current()] : {};
    return state?.terminal === true ? [] : Object.keys(state?.on_event ?? {}).toSorted();
  }

  private follow(
    state: string,
    passed: readonly string[],
  ): readonly [string, string] | { to: string; passed: readonly string[] } {
    if (!this.has(state))
      return ['InvalidEventError', `invalid event for current state: state "${state}" not found in spec`];
    const visits = this.entered().filter((one) => one === state).length;
    const most = this.most(state);
    if (most === 0 || visits < most) return { to: state, passed };
    const text = `max visits exceeded: state "${state}" visited ${visits} times (max ${most})`;
    if (passed.includes(state)) {
      const loop = [...passed.slice(passed.indexOf(state)), state].join(' -> ');
      return ['MaxVisitsExceededError', `${text}, and its redirects form a loop: ${loop}`];
    }
    const next = this.spec.states[state]?.on_max_visits;
    if (next === undefined) return ['MaxVisitsExceededError', text];
    return this.follow(next, [...passed, state]);
  }

  private has(state: string): boolean {
    return Object.keys(this.spec.states).includes(state);
  }

  private most(state: string): number {
    return this.spec.states[state]?.max_visits ?? 0;
  }

  private entries(): Extract<Deed, { kind: 'enter' }>[] {
    return this.deeds.filter((deed) => deed.kind === 'enter');
  }

  private entered(): string[] {
    return [this.spec.entry, ...this.entries().map(({ to }) => to)];
  }

  private current(): string {
    return this.entered().at(-1) ?? '';
  }

  private calls(): number {
    return this.deeds.reduce((sum, deed) => sum + (deed.kind === 'calls' ? deed.n : 0), 0);
  }

  private artifacts(until = this.deeds.length): Map<string, string> {
    return new Map(
      this.deeds
        .slice(0, until)
        .flatMap((deed) => (deed.kind === 'artifact' ? [[deed.name, deed.value] as const] : [])),
    );
  }
}

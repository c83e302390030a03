import { vi } from 'vitest';
import type { Plan } from '../../../src/plan/plan.js';
import type { EventBody } from '../../../src/events/event.js';
import { RunLog } from '../../../src/cli/view/run-log.js';
import { createStyle } from '../../../src/cli/view/style.js';
import type { View } from '../../../src/cli/view/view.js';
import { createView } from '../../../src/cli/view/view.js';
import { Screen } from './screen.js';

/** A live view on a terminal of its own. Time stands still (fake timers) until `frame` or `later`. */
export interface Live {
  readonly view: View;
  readonly screen: Screen;
  happens(path: string, body: EventBody, parent?: string): void;
  starts(path: string, kind?: string, parent?: string): void;
  ends(path: string, kind?: string, parent?: string, outcome?: 'succeeded' | 'failed' | 'skipped'): void;
  says(path: string, text: string): void;
  /** Lets the next frame be drawn. */
  frame(): void;
  later(ms: number): void;
  /** Another size, which no terminal has when it is none. `told`: the signal has come that says so. */
  resize(columns: number | undefined, rows: number | undefined, told?: boolean): void;
  /** Everything that was written. */
  text(): string;
}

export interface LiveOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly breaks?: boolean;
  readonly unicode?: boolean;
}

export function liveOf(plan: Plan, { columns = 80, rows = 30, breaks = true, unicode = true }: LiveOptions = {}): Live {
  const log = new RunLog(plan);
  const screen = new Screen({ columns, rows, breaks });
  let all = '';
  let seq = 0;
  let size: { readonly columns: number | undefined; readonly rows: number | undefined } = { columns, rows };
  const terminal = {
    isTTY: true,
    columns,
    rows,
    _refreshSize: () => void Object.assign(terminal, size),
    write(text: string) {
      all += text;
      // A terminal turns line ends into two characters.
      screen.write(text.replaceAll('\n', '\r\n'));
    },
  };
  const style = createStyle(false, unicode);
  const env = { TERM: breaks ? 'xterm-256color' : 'linux' };
  const view = createView({ log, style, quiet: false, verbose: false, stream: false, screen: terminal, env });
  const happens: Live['happens'] = (path, body, parent = '') => {
    const event = { runId: 'r', seq: seq++, at: 0, path, parent, ...body };
    log.listen(event);
    view.listen(event);
  };
  const idOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  happens('', { type: 'run.started', plan: plan.name, nodes: plan.nodes.length });
  return {
    view,
    screen,
    happens,
    starts: (path, kind = 'agent', parent) =>
      happens(path, { type: 'step.started', node: idOf(path), kind, visit: 1 }, parent),
    ends: (path, kind = 'agent', parent = '', outcome = 'succeeded') =>
      happens(path, { type: 'step.ended', node: idOf(path), kind, outcome, attempts: 1 }, parent),
    says: (path, text) => happens(path, { type: 'step.note', note: { kind: 'model.delta', text } }),
    frame: () => void vi.advanceTimersByTime(100),
    later: (ms) => void vi.advanceTimersByTime(ms),
    resize(width, height, told = true) {
      size = { columns: width, rows: height };
      if (told) Object.assign(terminal, size);
      if (width !== undefined && height !== undefined && width > 0) screen.resize(width, height);
    },
    text: () => all,
  };
}

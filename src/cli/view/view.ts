import type { SkeinEvent } from '../../events/event.js';
import { createAnnouncer } from './announce.js';
import type { BoardScreen } from './board.js';
import { createBoard } from './board.js';
import type { RunLog } from './run-log.js';
import { liveLines } from './live-lines.js';
import type { ScreenTraits, Style } from './style.js';
import { breaksLines, isLive } from './style.js';

/** Shows how a run goes on. The log must have taken an event before. */
export interface View {
  listen(event: SkeinEvent): void;
  /** Writes a line that stays, at once. */
  say(line: string): void;
  /** Lets something be written to another stream, which may be the same terminal; while a person is asked something, later. */
  aside(body: () => void): void;
  /** Nothing is drawn until `resume`: a person is asked something. */
  suspend(): void;
  resume(): void;
  /** Takes away what was only for the time of the run. */
  stop(): void;
}

/** What a view is made for. */
export interface ViewOptions {
  readonly log: RunLog;
  readonly style: Style;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly stream: boolean;
  /** Tool calls are reported, too, unless it is quiet. */
  readonly tools?: boolean;
  /** The stream that it is written to. */
  readonly screen: Screen;
  readonly env: NodeJS.ProcessEnv;
  /** What commands call a run; undefined when it is not recorded. */
  readonly nameOfRun?: (runId: string) => string | undefined;
}

/** A terminal, or a file or pipe instead. */
export type Screen = BoardScreen & ScreenTraits;

/**
 * The view for a stream: on a terminal the steps are lines that change in place, anywhere else every start and end is one line.
 * A quiet one shows only warnings.
 */
export function createView(options: ViewOptions): View {
  const { log, quiet, screen, env } = options;
  if (quiet) return quietView(options);
  const live = isLive(screen, env);
  // Where steps change in place, how they ended is said once: at the end of the run. Beside all that happened, it belongs to its time.
  const ends = !live || options.verbose || options.stream;
  const announce = createAnnouncer(log, { ...options, starts: !live, ends });
  if (!live) return plainView(screen, announce);
  const board = createBoard({
    screen,
    picture: (moment) => (log.startedAt === 0 ? [] : liveLines(log, options.style, moment)),
    breaksLines: breaksLines(env),
  });
  return { ...board, listen: (event) => board.write(announce(event)) };
}

function plainView(screen: Screen, linesOf: (event: SkeinEvent) => readonly string[]): View {
  return {
    listen(event) {
      for (const line of linesOf(event)) screen.write(`${line}\n`);
    },
    say: (line) => void screen.write(`${line}\n`),
    aside: (body) => body(),
    suspend: () => undefined,
    resume: () => undefined,
    stop: () => undefined,
  };
}

function quietView({ log, style, screen }: ViewOptions): View {
  const announce = createAnnouncer(log, { starts: false, ends: false, verbose: false, stream: false, style });
  return plainView(screen, (event) => {
    const warns = event.type === 'run.warning' || (event.type === 'step.note' && event.note.kind === 'warning');
    return warns ? announce(event) : [];
  });
}

import type { SkeinEvent } from '../../events/event.js';
import { createAnnouncer, type AnnounceOptions } from './announce.js';
import { createBoard, type Board, type BoardScreen } from './board.js';
import type { RunLog } from './run-log.js';
import { liveLines } from './live-lines.js';
import { breaksLines, isLive, type ScreenTraits } from './style.js';

/** Shows the progress of a run. The log must have received an event first. */
export interface View extends Omit<Board, 'write'> {
  listen(event: SkeinEvent): void;
}

export interface ViewOptions extends Omit<AnnounceOptions, 'starts' | 'ends'> {
  readonly log: RunLog;
  readonly quiet: boolean;
  readonly screen: Screen;
  readonly env: NodeJS.ProcessEnv;
}

/** A terminal, or a file or pipe instead. */
export type Screen = BoardScreen & ScreenTraits;

/** Creates the view for a stream: lines that change in place on a terminal, a line for each start and end elsewhere. */
export function createView(options: ViewOptions): View {
  const { log, quiet, screen, env } = options;
  if (quiet) return quietView(options);
  const live = isLive(screen, env);
  // If steps change in place, their ends are reported only at the end of the run, except in a full report of all events.
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

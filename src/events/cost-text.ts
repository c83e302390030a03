import { present } from '../base/json.js';
import { countText } from '../base/text.js';
import { percentText } from './step-notes.js';
import { addUsd, type Cost, type Dollars, type Usage } from './cost.js';

/** Formats dollars with cents: `$0.31`. Amounts below a cent keep their first two significant digits: `$0.0004`. */
export function usdText(usd: number): string {
  if (usd === 0) return '$0';
  const decimals = Math.min(9, Math.max(2, 1 - Math.floor(Math.log10(usd))));
  return `$${usd.toFixed(decimals).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}

/** Formats the cost of calls: `about $0.31`, `$0.31 and 2 calls of unknown price`, `would have cost $0.31`. May be empty. */
export function costText({ usd, pretendedUsd, unpricedCalls, estimated }: Dollars): string {
  const about = estimated === true ? 'about ' : '';
  const billed = billedOf({ usd, ...present({ pretendedUsd }) });
  const isKnown = billed > 0 || (unpricedCalls === 0 && pretendedUsd === undefined);
  const unknown = `${countText(unpricedCalls, 'call')} of unknown price`;
  const real = [
    ...(isKnown ? [about + usdText(billed)] : []),
    ...(unpricedCalls === 0 ? [] : [isKnown ? unknown : 'cost unknown']),
  ].join(' and ');
  if (pretendedUsd === undefined || pretendedUsd === 0) return real;
  const pretended = `would have cost ${about}${usdText(pretendedUsd)}`;
  return real === '' ? pretended : `${real}; mock answers ${pretended}`;
}

/** Formats the cost of one call; `cost unknown` without a cost. */
export function callCostText(cost: Cost | undefined): string {
  if (cost === undefined) return 'cost unknown';
  const { usd, estimated, pretended } = cost;
  return costText({
    usd,
    unpricedCalls: 0,
    ...present({ estimated, pretendedUsd: pretended === true ? usd : undefined }),
  });
}

/** The part that was really billed, without what mock models would have cost. */
export function billedOf({ usd, pretendedUsd = 0 }: Pick<Dollars, 'usd' | 'pretendedUsd'>): number {
  return addUsd(usd, -pretendedUsd);
}

/** `62% of input from cache`. Empty if no input came from a cache. */
export function cachedText({ inputTokens, cachedTokens = 0 }: Usage): string {
  if (cachedTokens === 0 || inputTokens === 0) return '';
  return `${percentText(Math.min(1, cachedTokens / inputTokens))} of input from cache`;
}

import { present } from '../base/json.js';
import { percentText } from './step-notes.js';
import type { Cost, Dollars, Usage } from './cost.js';
import { addUsd } from './cost.js';

/**
 * Dollars as people read them: with cents, and small amounts with the first two digits that say something.
 *
 * @example
 * usdText(0.31); // '$0.31'
 * usdText(0.0004); // '$0.0004'
 */
export function usdText(usd: number): string {
  if (usd === 0) return '$0';
  const decimals = Math.min(9, Math.max(2, 1 - Math.floor(Math.log10(usd))));
  return `$${usd.toFixed(decimals).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}

/**
 * What calls have cost, in words: `$0.31`, `about $0.31` where part of it is estimated, `$0.31 and 2 calls of unknown price`, `would have cost $0.31` where
 * mock models answered; empty where there is nothing to say.
 *
 * @example
 * costText({ usd: 0.31, unpricedCalls: 0 }); // '$0.31'
 */
export function costText({ usd, pretendedUsd, unpricedCalls, estimated }: Dollars): string {
  const about = estimated === true ? 'about ' : '';
  const billed = billedOf({ usd, ...present({ pretendedUsd }) });
  const isKnown = billed > 0 || (unpricedCalls === 0 && pretendedUsd === undefined);
  const unknown = `${unpricedCalls} ${unpricedCalls === 1 ? 'call' : 'calls'} of unknown price`;
  const real = [
    ...(isKnown ? [about + usdText(billed)] : []),
    ...(unpricedCalls === 0 ? [] : [isKnown ? unknown : 'cost unknown']),
  ].join(' and ');
  if (pretendedUsd === undefined || pretendedUsd === 0) return real;
  const pretended = `would have cost ${about}${usdText(pretendedUsd)}`;
  return real === '' ? pretended : `${real}; mock answers ${pretended}`;
}

/** The same of one call; `cost unknown` without a cost. */
export function callCostText(cost: Cost | undefined): string {
  if (cost === undefined) return 'cost unknown';
  const { usd, estimated, pretended } = cost;
  return costText({
    usd,
    unpricedCalls: 0,
    ...present({ estimated, pretendedUsd: pretended === true ? usd : undefined }),
  });
}

/** What was really billed of it: the part that mock models would have cost is not. */
export function billedOf({ usd, pretendedUsd = 0 }: Pick<Dollars, 'usd' | 'pretendedUsd'>): number {
  return addUsd(usd, -pretendedUsd);
}

/** `62% of input from cache`; empty where nothing was. */
export function cachedText({ inputTokens, cachedTokens = 0 }: Usage): string {
  if (cachedTokens === 0 || inputTokens === 0) return '';
  return `${percentText(Math.min(1, cachedTokens / inputTokens))} of input from cache`;
}

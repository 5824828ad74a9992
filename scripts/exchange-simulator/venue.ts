import { type Fault, hits } from './faults.ts'
import { isTight, type Market } from './market.ts'

/** A pair as one venue names it. */
export type BookName = readonly [id: string, base: string, quote: string]

/** One book as it goes on the wire. */
export interface Book {
  readonly id: string
  readonly bid: string
  readonly ask: string
  readonly last: string
}

/** What a format needs to print an answer. */
export interface Scene {
  readonly market: Market
  readonly fault: Fault | null
  readonly now: number
  readonly request: URL
}

const TEN_MINUTES_MS = 600_000

/** The time a format prints: now, or ten minutes ago while the source is stale. */
export function stampOf(scene: Scene): number {
  return scene.fault?.kind === 'stale' ? scene.now - TEN_MINUTES_MS : scene.now
}

/** The books of a venue that always stands `bps` beside the market and shows a book of ± `half` basis points. */
export function booksOf(
  scene: Scene,
  names: readonly BookName[],
  bias: { readonly bps: number; readonly half: number },
  pad = 0,
): readonly Book[] {
  if (scene.fault?.kind === 'empty') return []
  return names
    .filter(([, base]) => !hits(scene.fault, 'missing_pair', base))
    .map(([id, base, quote]) => {
      const mid = priceOf(scene, base, quote) * (isTight(base, quote) ? 1 : 1 + bias.bps / 10_000)
      const half = (mid * bias.half) / 10_000
      const [low, high] = hits(scene.fault, 'crossed', base) ? [mid + half, mid - half] : [mid - half, mid + half]
      return {
        id,
        bid: hits(scene.fault, 'nan', base) ? 'nan' : printed(low, pad),
        ask: printed(high, pad),
        last: hits(scene.fault, 'nan', base) ? 'nan' : printed(mid, pad),
      }
    })
}

/** The market's price, ten times as high where the source is off by a digit. */
export function priceOf(scene: Scene, base: string, quote: string): number {
  const price = scene.market.price(base, quote)
  return hits(scene.fault, 'ten_times', base) || hits(scene.fault, 'ten_times', quote) ? price * 10 : price
}

/** A number as exchanges print it: fewer decimals for dear coins; `pad` is the least number of decimals. */
export function printed(value: number, pad = 0): string {
  const decimals = value >= 1_000 ? 3 : value >= 1 ? 6 : 9
  return value.toFixed(Math.max(decimals, pad))
}

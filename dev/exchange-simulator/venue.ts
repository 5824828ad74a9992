import { type Fault, type FaultKind, hits } from './faults.ts'
import { isTight, type Market } from './market.ts'

/** A pair under a venue's own name. */
export type BookName = readonly [id: string, base: string, quote: string]

/** One book as sent; null and malformed texts only where a fault causes them. */
export interface Book {
  readonly id: string
  readonly bid: string | null
  readonly ask: string | null
  readonly last: string | null
}

/** Input of a format for a response. */
export interface Scene {
  readonly market: Market
  readonly fault: Fault | null
  readonly now: number
  readonly request: URL
}

const TEN_MINUTES_MS = 600_000
const TWO_HOURS_MS = 7_200_000

/** The time that a format prints: now, or the time according to a timestamp fault. */
export function stampOf(scene: Scene): number {
  if (scene.fault?.kind === 'stale') return scene.now - TEN_MINUTES_MS
  return scene.fault?.kind === 'future' ? scene.now + TWO_HOURS_MS : scene.now
}

/** The time as Unix seconds or milliseconds, or in the other unit where the source mixes them up. */
export function unixStamp(scene: Scene, unit: 'seconds' | 'milliseconds'): number {
  const seconds = (unit === 'seconds') !== (scene.fault?.kind === 'wrong_unit')
  return seconds ? Math.floor(stampOf(scene) / 1_000) : stampOf(scene)
}

/** The time as ISO 8601 with this mark of UTC, or without one where the source omits it. */
export function isoStamp(scene: Scene, zone: 'Z' | '+00:00'): string {
  const text = new Date(stampOf(scene)).toISOString()
  return text.replace(/\.\d+Z$/, scene.fault?.kind === 'no_zone' ? '' : zone)
}

/** The books of a venue with a constant bias of `bps` to the market and a book of ± `half` basis points. */
export function recordsOf(
  scene: Scene,
  names: readonly BookName[],
  bias: { readonly bps: number; readonly half: number },
  pad = 0,
): readonly Book[] {
  const { fault } = scene
  if (fault?.kind === 'empty') return []
  return names
    .filter(([, base]) => !hits(fault, 'missing_pair', base))
    .flatMap(([id, base, quote]) => {
      const mid = priceOf(scene, base, quote) * (isTight(base, quote) ? 1 : 1 + bias.bps / 10_000)
      const kind = fault !== null && hits(fault, fault.kind, base) ? fault.kind : undefined
      const book = bookAround(id, mid, (mid * bias.half) / 10_000, pad, kind)
      return kind === 'duplicate_pair' ? [book, bookAround(id, mid * 1.001, mid / 10_000, pad, kind)] : [book]
    })
}

function bookAround(id: string, mid: number, half: number, pad: number, kind: FaultKind | undefined): Book {
  const print = (value: number) => bent(printed(value, pad), kind)
  const gap = kind === 'locked' ? 0 : kind === 'crossed' ? -half : kind === 'wide' ? mid * 0.04 : half
  return {
    id: kind === 'renamed_pair' ? `OLD${id}` : id,
    bid: kind === 'zero_bid' ? '0' : print(mid - gap),
    ask: kind === 'zero_bid' || kind === 'blank_side' || kind === 'nan' ? printed(mid + gap, pad) : print(mid + gap),
    last: kind === 'stale_last' ? printed(mid * 0.8, pad) : print(mid),
  }
}

/** The text of a price after a fault of its pair. */
function bent(text: string, kind: FaultKind | undefined): string | null {
  switch (kind) {
    case 'zero':
      return '0.00000000'
    case 'negative':
      return `-${text}`
    case 'nan':
      return 'nan'
    case 'null_side':
      return null
    case 'blank_side':
      return ''
    case 'commas':
      return text.replace(/(?=\.|$)/, ',000')
    case 'exponents':
      return Number(text).toExponential()
    case 'long_digits':
      return `${text}${'0'.repeat(20)}`
    default:
      return text
  }
}

const FACTORS: Partial<Readonly<Record<FaultKind, number>>> = { ten_times: 10, hundred_times: 100, flash_crash: 0.6 }

/** The market's price, or the price according to a fault of the pair. */
export function priceOf(scene: Scene, base: string, quote: string): number {
  const { fault, market } = scene
  const price = market.price(base, quote)
  if (fault === null || !(hits(fault, fault.kind, base) || hits(fault, fault.kind, quote))) return price
  if (fault.kind === 'inverse') return 1 / price
  if (fault.kind === 'euros_as_dollars') return market.price(base, 'EUR')
  return price * (FACTORS[fault.kind] ?? 1)
}

/** A number as exchanges print it: fewer decimals for expensive coins; `pad` is the minimum number of decimals. */
export function printed(value: number, pad = 0): string {
  const decimals = value >= 1_000 ? 3 : value >= 1 ? 6 : 9
  return value.toFixed(Math.max(decimals, pad))
}

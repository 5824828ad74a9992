import { type ErrorDetail, PaymeshError } from '../errors.ts'

/** Why one leg of a price is missing. `published` = no prices are published at all, or the last ones are too old. */
export type MissingBecause = 'published' | 'sources' | 'jump' | 'peg'

/** A leg of a price that is missing: a coin, in USD, or a currency, per USD. */
export interface MissingLeg {
  readonly kind: 'coin' | 'fiat'
  /** Ticker symbol or currency code. */
  readonly name: string
  readonly because: MissingBecause
}

/** Whole seconds after which it makes sense to ask again: a round of sources, an operator's look, and the ten minutes that a peg must hold. */
const RETRY_AFTER: Readonly<Record<MissingBecause, number>> = { published: 30, sources: 60, jump: 300, peg: 600 }

const WHY: Readonly<Record<MissingBecause, (name: string) => string>> = {
  published: () => 'No current prices are published.',
  sources: (name) => `There is no current price of ${name}: too few sources agree on it.`,
  jump: (name) => `The price of ${name} jumped and waits for a confirmation.`,
  peg: (name) => `${name} is off its peg of one dollar, or was within the last ten minutes.`,
}

/** `RATES_UNAVAILABLE` that names each missing leg in `details`, and when to ask again. */
export class RatesUnavailable extends PaymeshError {
  readonly missing: readonly MissingLeg[]
  /** Whole seconds. */
  readonly retryAfter: number

  /** `advice` is about a leg that is missing; `fiatPath` is the parameter that names the currency. */
  constructor(missing: readonly MissingLeg[], { advice = '', fiatPath = 'currency', internal = '' } = {}) {
    super('RATES_UNAVAILABLE', { details: missing.map((leg) => detailOf(leg, advice, fiatPath)), internal })
    this.missing = missing
    this.retryAfter = Math.max(...missing.map(({ because }) => RETRY_AFTER[because]), 1)
  }

  /** Whether the currency itself has no price, so that no coin has one in it. */
  get isOfEveryCoin(): boolean {
    return this.missing.some(({ kind, because }) => kind === 'fiat' || because === 'published')
  }
}

function detailOf({ kind, name, because }: MissingLeg, advice: string, fiatPath: string): ErrorDetail {
  const path = kind === 'coin' ? 'asset' : fiatPath
  const rest = kind === 'fiat' && because !== 'published' ? ` No asset has a price in ${name} until then.` : advice
  return { path, message: `${WHY[because](name)}${rest}` }
}

import { z } from 'zod'
import { trimmedText } from '#shared/contracts/bounded-text.ts'
import { RATE_SYMBOLS } from '#shared/domain/rates/crypto-board.ts'
import { FX_SERIES } from '#shared/domain/rates/fiat-board.ts'
import { isOffPeg, waitingJump } from '#shared/domain/rates/guard.ts'
import { quorumOf } from '#shared/domain/rates/pair-use.ts'
import { DROP_REASONS } from '#shared/domain/rates/quote.ts'
import type { PublishedPrice, RateSnapshot } from '#shared/ports/rates.ts'
import { confirmRate } from '#shared/usecases/rates/confirm-rate.ts'
import { newestSnapshot } from '#shared/usecases/rates/newest-snapshot.ts'
import { RATE_MAX_AGE_MS } from '#shared/usecases/rates/read-rate.ts'
import { derivedUuid } from '#shared/usecases/requests/begin-operation.ts'
import { actionOf } from '../action.ts'
import { operatorMutation, operatorQuery, router } from '../trpc.ts'

const RATES = [...RATE_SYMBOLS, ...FX_SERIES] as const

const priceWire = z.object({
  /** Ticker symbol, or fiat code with its series. */
  name: z.enum(RATES),
  /** USD per unit for coins, units per USD for fiats; null when none was published. */
  price: z.string().nullable(),
  sources: z.array(z.string()),
  outliers: z.array(z.string()),
  /** Sources that vote on it while all is well, and without how many it has no price. */
  expected: z.number(),
  sourcesMin: z.number(),
  /** Age of its oldest price. */
  ageMs: z.number().nullable(),
  /** It is not used for prices now. */
  refused: z.boolean(),
  /** A jump that is held back until it is confirmed, and since when. */
  waiting: z.object({ price: z.string(), since: z.number() }).nullable(),
  /** A stablecoin that is stopped because it is off its peg. */
  offPeg: z.boolean(),
})
const sourceWire = z.object({
  name: z.string(),
  /** Null when it has not responded since the process started. */
  ageMs: z.number().nullable(),
  expected: z.number(),
  used: z.number(),
  dropped: z.array(z.object({ pair: z.string(), because: z.enum(DROP_REASONS) })),
})

/** Rates and their sources, and an operator's word about a jump. */
export const ratesRouter = router({
  board: operatorQuery()
    .output(
      z.object({
        /** Null before the first cycle. */
        at: z.number().nullable(),
        ageMs: z.number().nullable(),
        maxAgeMs: z.number(),
        /** How far the clocks of order books are ahead of ours; null while too few agree. */
        clockOffsetMs: z.number().nullable(),
        coins: z.array(priceWire),
        fiats: z.array(priceWire),
        sources: z.array(sourceWire),
      }),
    )
    .query(async ({ ctx }) => {
      const now = ctx.deps.clock.now()
      const snapshot = await newestSnapshot(ctx.deps.instance.rates, now)
      return {
        at: snapshot?.at ?? null,
        ageMs: snapshot === null ? null : Math.max(0, now - snapshot.at),
        maxAgeMs: RATE_MAX_AGE_MS,
        clockOffsetMs: snapshot?.clockOffsetMs ?? null,
        coins: RATE_SYMBOLS.map((name) => priceToWire(name, snapshot, now)),
        fiats: FX_SERIES.map((name) => priceToWire(name, snapshot, now)),
        sources: Object.entries(snapshot?.sources ?? {}).map(([name, { heardAt, expected, used, dropped }]) => ({
          ...{ name, expected, used },
          ageMs: heardAt === null ? null : Math.max(0, now - heardAt),
          dropped: Object.entries(dropped).map(([pair, because]) => ({ pair, because })),
        })),
      }
    }),

  /** Confirms the price that a jump waits with. Needs a reason. */
  confirm: operatorMutation({ stepUp: true })
    .input(z.object({ name: z.enum(RATES), price: trimmedText(40), reason: trimmedText(500).min(1) }))
    .output(z.object({ name: z.enum(RATES), price: z.string() }))
    .mutation(async ({ ctx, input }) => {
      const { name, price } = input
      const opId = derivedUuid('rate', name, input.opId)
      const deps = { clock: ctx.deps.clock, rateSnapshots: ctx.deps.instance.rates }
      return { name, ...(await confirmRate(deps, { name, price, ...actionOf(ctx, { ...input, opId }) })) }
    }),
})

function priceToWire(
  name: (typeof RATES)[number],
  snapshot: RateSnapshot | null,
  now: number,
): z.output<typeof priceWire> {
  const isCoin = RATE_SYMBOLS.some((symbol) => symbol === name)
  const prices: Readonly<Record<string, PublishedPrice | undefined>> =
    (isCoin ? snapshot?.usdPerSymbol : snapshot?.fiatPerUsd) ?? {}
  const published = prices[name]
  const memory = snapshot?.guards[name]
  const candidate = snapshot === null ? null : waitingJump(memory, snapshot.at)
  // A daily table is always old; an outdated fiat rate is not published at all.
  const ageMs = published === undefined ? null : now - published.oldestAt
  return {
    name,
    price: published?.price ?? null,
    sources: [...(published?.sources ?? [])],
    outliers: [...(published?.outliers ?? [])],
    expected: snapshot?.expected[name] ?? 0,
    sourcesMin: quorumOf(name),
    ageMs,
    refused: ageMs === null || (isCoin && ageMs >= RATE_MAX_AGE_MS),
    waiting: candidate === null ? null : { price: candidate.price, since: candidate.since },
    offPeg: snapshot !== null && published === undefined && isOffPeg(memory, snapshot.at),
  }
}

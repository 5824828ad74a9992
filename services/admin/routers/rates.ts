import { z } from 'zod'
import { RATE_SYMBOLS } from '#shared/domain/rates/crypto-board.ts'
import { FX_SERIES } from '#shared/domain/rates/fiat-board.ts'
import type { PublishedPrice } from '#shared/ports/rates.ts'
import { newestSnapshot } from '#shared/usecases/rates/newest-snapshot.ts'
import { RATE_MAX_AGE_MS } from '#shared/usecases/rates/read-rate.ts'
import { operatorQuery, router } from '../trpc.ts'

/** Minimum number of sources of a price. */
const SOURCES_MIN = 3
/** A source without a response for this long is down: the slowest one is updated once a day. */
const SILENT_AFTER_MS = 10 * 60_000

const priceWire = z.object({
  /** Ticker symbol, or fiat code with its series. */
  name: z.string(),
  /** USD per unit for coins, units per USD for fiats; null when none was published. */
  price: z.string().nullable(),
  sources: z.array(z.string()),
  outliers: z.array(z.string()),
  /** Age of its oldest price. */
  ageMs: z.number().nullable(),
  /** It is not used for prices now. */
  refused: z.boolean(),
})

/** Rates and their sources. */
export const ratesRouter = router({
  board: operatorQuery()
    .output(
      z.object({
        /** Null before the first cycle. */
        at: z.number().nullable(),
        ageMs: z.number().nullable(),
        maxAgeMs: z.number(),
        sourcesMin: z.number(),
        coins: z.array(priceWire),
        fiats: z.array(priceWire),
        sources: z.array(
          z.object({ name: z.string(), ageMs: z.number(), outlierOf: z.array(z.string()), up: z.boolean() }),
        ),
      }),
    )
    .query(async ({ ctx }) => {
      const now = ctx.deps.clock.now()
      const snapshot = await newestSnapshot(ctx.deps.instance.rates, now)
      const coins: Readonly<Record<string, PublishedPrice>> = snapshot?.usdPerSymbol ?? {}
      const fiats: Readonly<Record<string, PublishedPrice | undefined>> = snapshot?.fiatPerUsd ?? {}
      const board = [...Object.entries(coins), ...Object.entries(fiats)]
      const outlierOf = (source: string) =>
        board.filter(([, price]) => price?.outliers?.includes(source)).map(([name]) => name)
      return {
        at: snapshot?.at ?? null,
        ageMs: snapshot === null ? null : Math.max(0, now - snapshot.at),
        maxAgeMs: RATE_MAX_AGE_MS,
        sourcesMin: SOURCES_MIN,
        coins: RATE_SYMBOLS.map((name) => priceToWire(name, coins[name], now, RATE_MAX_AGE_MS)),
        // A daily table is always old; an outdated fiat rate is not published at all.
        fiats: FX_SERIES.map((name) => priceToWire(name, fiats[name], now, Number.POSITIVE_INFINITY)),
        sources: Object.entries(snapshot?.heardAt ?? {})
          .map(([name, heardAt]) => ({
            ...{ name, ageMs: now - heardAt, outlierOf: outlierOf(name) },
            up: now - heardAt < SILENT_AFTER_MS || isInUse(board, name),
          }))
          .sort((left, right) => (left.name < right.name ? -1 : 1)),
      }
    }),
})

function isInUse(board: readonly (readonly [string, PublishedPrice | undefined])[], source: string): boolean {
  return board.some(([, price]) => price?.sources.includes(source))
}

function priceToWire(
  name: string,
  published: PublishedPrice | undefined,
  now: number,
  maxAgeMs: number,
): z.output<typeof priceWire> {
  if (published === undefined) {
    return { name, price: null, sources: [], outliers: [], ageMs: null, refused: true }
  }
  const { price, sources, outliers, oldestAt } = published
  const ageMs = now - oldestAt
  return { name, price, sources: [...sources], outliers: [...(outliers ?? [])], ageMs, refused: ageMs >= maxAgeMs }
}

import { z } from 'zod'
import { epochMs } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, SourceFault } from '#services/rates/rate-source.ts'
import { fiatTablePairs, fiatTableReadings } from './fiat-table.ts'

/** `GET /v6/latest/USD` of open.er-api.com: a daily table, times are Unix seconds; numbers are bare in the format. */
const openErApiAnswer = z.object({
  result: z.literal('success'),
  base_code: z.literal('USD'),
  time_last_update_unix: z.string(),
  rates: z.record(z.string(), z.unknown()),
})

const PAIRS = fiatTablePairs('ARS:official')

/** open.er-api.com: a table updated once a day at about 00:00 UTC; one request an hour is never limited. */
export const openErApi: RateSource = {
  name: 'open-er-api',
  feed: 'daily',
  defaultUrl: 'https://open.er-api.com',
  pollMs: 3_600_000,
  pairs: PAIRS,
  read: { on: '2026-08-05', from: 'www.exchangerate-api.com/docs/free' },
  // A table of one day; its own date says how old it is.
  frozenAfterMs: Number.POSITIVE_INFINITY,
  path: () => '/v6/latest/USD',
  parse(body, receivedAt) {
    const answer = readBody(openErApiAnswer, body)
    const sourceAt = epochMs(answer.time_last_update_unix, 'seconds')
    if (sourceAt === null) throw new SourceFault('bad_body', body)
    const origin = { source: 'open-er-api', feed: 'daily', receivedAt } as const
    return { readings: fiatTableReadings(origin, PAIRS, answer.rates, sourceAt), pulse: null }
  },
}

import { epochMs } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, SourceFault } from '#services/rates/rate-source.ts'
import { openErApiAnswer } from '#shared/contracts/rates/open-er-api.ts'
import { fiatTableQuotes } from './fiat-table.ts'

/** open.er-api.com: a table updated once a day at about 00:00 UTC; one request an hour is never limited. */
export const openErApi: RateSource = {
  name: 'open-er-api',
  feed: 'daily',
  defaultUrl: 'https://open.er-api.com',
  pollMs: 3_600_000,
  pairs: [],
  path: () => '/v6/latest/USD',
  parse(body, receivedAt) {
    const answer = readBody(openErApiAnswer, body)
    const sourceAt = epochMs(answer.time_last_update_unix, 'seconds')
    if (sourceAt === null) throw new SourceFault('bad_body', body)
    return fiatTableQuotes({ source: 'open-er-api', feed: 'daily', receivedAt }, answer.rates, 'ARS:official', sourceAt)
  },
}

import { epochMs } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, SourceFault } from '#services/rates/rate-source.ts'
import { yadioAnswer } from '#shared/contracts/rates/yadio.ts'
import { fiatTableQuotes } from './fiat-table.ts'

/** Yadio: street and P2P prices per USD, updated within minutes. ARS is the crypto price. */
export const yadio: RateSource = {
  name: 'yadio',
  feed: 'rolling',
  defaultUrl: 'https://api.yadio.io',
  pollMs: 60_000,
  pairs: [],
  path: () => '/exrates/USD',
  parse(body, receivedAt) {
    const answer = readBody(yadioAnswer, body)
    const sourceAt = epochMs(answer.timestamp, 'milliseconds')
    if (sourceAt === null) throw new SourceFault('bad_body', body)
    return fiatTableQuotes({ source: 'yadio', feed: 'rolling', receivedAt }, answer.USD, 'ARS:crypto', sourceAt)
  },
}

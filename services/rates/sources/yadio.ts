import { z } from 'zod'
import { epochMs } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, SourceFault } from '#services/rates/rate-source.ts'
import { bitcoinPulse, fiatTablePairs, fiatTableReadings, TABLE_FROZEN_MS } from './fiat-table.ts'

/** `GET /exrates/USD` of Yadio: units per USD; `timestamp` is Unix milliseconds. Numbers are bare in the format. */
const yadioAnswer = z.object({
  base: z.literal('USD'),
  timestamp: z.string(),
  USD: z.record(z.string(), z.unknown()),
  /** USD per bitcoin, which moves with every update. */
  BTC: z.unknown(),
})

const PAIRS = fiatTablePairs('ARS:crypto')

/** Yadio: street and P2P prices per USD, updated within minutes. ARS is the crypto price. */
export const yadio: RateSource = {
  name: 'yadio',
  feed: 'rolling',
  defaultUrl: 'https://api.yadio.io',
  pollMs: 60_000,
  pairs: PAIRS,
  read: {
    on: '2026-08-05',
    from: 'github.com/cuervoshi/yadio-sdk; github.com/btcpayserver/btcpayserver 03345c2, YadioRateProvider',
  },
  frozenAfterMs: TABLE_FROZEN_MS,
  path: () => '/exrates/USD',
  parse(body, receivedAt) {
    const answer = readBody(yadioAnswer, body)
    const sourceAt = epochMs(answer.timestamp, 'milliseconds')
    if (sourceAt === null) throw new SourceFault('bad_body', body)
    const readings = fiatTableReadings({ source: 'yadio', feed: 'rolling', receivedAt }, PAIRS, answer.USD, sourceAt)
    return { readings, pulse: bitcoinPulse(answer.BTC) }
  },
}

import { z } from 'zod'
import { bookReading, dropped, isoMs } from '#services/rates/quote-readers.ts'
import { type Pair, type Pulse, type RateSource, readBody, readRows } from '#services/rates/rate-source.ts'
import { priceText } from '#shared/contracts/rates/price-text.ts'
import type { Decimal } from '#shared/domain/money/money.ts'
import { deviatesMoreThan, mean, parsePrice } from '#shared/domain/rates/price.ts'

/** `GET /v1/dolares` of dolarapi.com: one row per kind of dollar in Argentina. */
const dolarApiAnswer = z.array(z.unknown())

/** One kind: `compra` = bid, `venta` = ask in pesos per USD; `fechaActualizacion` is ISO 8601 in UTC. */
const dolarApiRow = z.object({
  casa: z.string(),
  compra: priceText,
  venta: priceText,
  fechaActualizacion: z.string(),
})

/** The wholesale dollar is the official price; `tarjeta` includes a tax and `blue` is neither of the two series. */
const PAIRS: Readonly<Record<string, Pair>> = {
  mayorista: ['USD', 'ARS:official'],
  cripto: ['USD', 'ARS:crypto'],
}

/**
 * The two prices of the state's dollar come from two sites (DolarHoy and Ámbito), and one of them stood still for weeks (dolarapi.com#31, 2024-10). They are
 * 1 to 3 % apart on a normal day; further apart, it is unclear which of them is wrong.
 */
const RETAIL_APART: Decimal = { digits: 5n, scale: 2 }

/** The dollar of the coin market is traded day and night; it once stood still for weeks (dolarapi.com#54, 2025-11). */
const CRYPTO_STILL_MS = 6 * 60 * 60_000

type Row = z.output<typeof dolarApiRow>

/** DolarAPI: the kinds of dollar of Argentina, copied from other sites every five minutes while its markets are open. So its own prices check one another. */
export const dolarApi: RateSource = {
  name: 'dolar-api',
  feed: 'rolling',
  defaultUrl: 'https://dolarapi.com',
  pollMs: 60_000,
  pairs: PAIRS,
  read: { on: '2026-11-29', from: 'dolarapi.com/docs; github.com/enzonotario/dolarapi.com#31 and #54' },
  frozenAfterMs: Number.POSITIVE_INFINITY,
  path: () => '/v1/dolares',
  parse(body, receivedAt) {
    const origin = { source: 'dolar-api', feed: 'rolling', receivedAt } as const
    const rows = readRows(dolarApiRow, readBody(dolarApiAnswer, body))
    const retail = middleOf(rows.find(({ casa }) => casa === 'oficial'))
    const readings = rows.flatMap((row) => {
      const middle = middleOf(row)
      const isDoubtful = retail === null || middle === null || deviatesMoreThan(middle, retail, RETAIL_APART)
      if (row.casa === 'mayorista' && middle !== null && isDoubtful)
        return dropped(origin, PAIRS[row.casa], 'contradicted')
      const sourceAt = isoMs(row.fechaActualizacion)
      return bookReading(origin, PAIRS[row.casa], { bid: row.compra, ask: row.venta, sourceAt })
    })
    return { readings, pulse: pulseOf(rows.find(({ casa }) => casa === 'cripto')) }
  },
}

function middleOf(row: Row | undefined): Decimal | null {
  const [bid, ask] = [parsePrice(row?.compra ?? ''), parsePrice(row?.venta ?? '')]
  return bid === null || ask === null ? null : mean(bid, ask)
}

function pulseOf(row: Row | undefined): Pulse | null {
  return row === undefined ? null : { text: `${row.compra} ${row.venta}`, stillMs: CRYPTO_STILL_MS }
}

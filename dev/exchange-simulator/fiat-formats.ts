import { type FaultKind, hits } from './faults.ts'
import { type BookName, isoStamp, priceOf, recordsOf, type Scene, stampOf, unixStamp } from './venue.ts'

const CODES = ['EUR', 'GBP', 'BRL', 'MXN', 'COP', 'CLP', 'PEN', 'DOP', 'ARS'] as const
const DAY_MS = 86_400_000

/** Bitso `ticker/`: the peso books and an unused one. */
export function bitsoBody(scene: Scene): unknown {
  const names: readonly BookName[] = [
    ['usd_mxn', 'USD', 'MXN'],
    ['usdt_cop', 'USDT', 'COP'],
    ['usdt_ars', 'USDT', 'ARS:crypto'],
    ['btc_usdt', 'BTC', 'USDT'],
  ]
  const payload = recordsOf(scene, names, { bps: 0, half: 2 }).map(({ id, bid, ask, last }) => ({
    book: id,
    last,
    bid,
    ask,
    volume: '7.29',
    created_at: isoStamp(scene, '+00:00'),
  }))
  return { success: true, payload }
}

/** Coinbase v2 exchange rates: strings per USD, coins among them; the Argentine price is the official one. */
export function coinbaseFxBody(scene: Scene): unknown {
  const rates = mapEntries(tableOf(scene, 'ARS:official'), String)
  const coins = scene.fault?.kind === 'empty' ? {} : { BTC: String(1 / priceOf(scene, 'BTC', 'USD')) }
  return { data: { currency: 'USD', rates: { ...rates, ...coins } } }
}

/** Yadio: bare numbers per USD; the Argentine price is the crypto one. */
export function yadioBody(scene: Scene): unknown {
  return {
    USD: tableOf(scene, 'ARS:crypto'),
    BTC: scene.market.price('BTC', 'USD'),
    base: 'USD',
    timestamp: unixStamp(scene, 'milliseconds') - 60_000,
  }
}

/** open.er-api.com: a daily table stamped shortly after midnight UTC, three days ago while it is stale. */
export function openErApiBody(scene: Scene): unknown {
  const day = Math.floor(scene.now / DAY_MS) * DAY_MS - (scene.fault?.kind === 'stale' ? 3 * DAY_MS : 0)
  const updatedAt = scene.fault?.kind === 'future' ? stampOf(scene) : Math.min(day + 151_000, scene.now)
  return {
    result: 'success',
    provider: 'https://www.exchangerate-api.com',
    time_last_update_unix: Math.floor(updatedAt / 1_000),
    time_last_update_utc: new Date(updatedAt).toUTCString().replace('GMT', '+0000'),
    time_next_update_unix: Math.floor((updatedAt + DAY_MS) / 1_000),
    time_eol_unix: 0,
    base_code: 'USD',
    rates: { USD: 1, ...tableOf(scene, 'ARS:official') },
  }
}

/** DolarAPI: kinds of dollar, including unused ones. */
export function dolarApiBody(scene: Scene): unknown {
  if (scene.fault?.kind === 'empty') return []
  const kinds = [
    ['oficial', 'ARS:official', 0.97, 1.003],
    ['mayorista', 'ARS:official', 0.999, 1.001],
    ['cripto', 'ARS:crypto', 0.9999, 1.0001],
    ['tarjeta', 'ARS:official', 1.3, 1.304],
  ] as const
  return kinds.map(([casa, series, low, high]) => ({
    moneda: 'USD',
    casa,
    nombre: casa.charAt(0).toUpperCase() + casa.slice(1),
    compra: priceOf(scene, 'USD', series) * (scene.fault?.kind === 'crossed' ? high * 1.01 : low),
    venta: priceOf(scene, 'USD', series) * high,
    fechaActualizacion: isoStamp(scene, 'Z'),
  }))
}

const PAPRIKA_IDS = [
  'btc-bitcoin',
  'eth-ethereum',
  'usdt-tether',
  'bnb-binance-coin',
  'sol-solana',
  'usdc-usd-coin',
  'trx-tron',
  'doge-dogecoin',
  'ltc-litecoin',
  'pol-polygon-ecosystem-token',
] as const

/** CoinPaprika `/v1/tickers`: an aggregate of the whole market for each coin. */
export function coinPaprikaBody(scene: Scene): unknown {
  if (scene.fault?.kind === 'empty') return []
  return PAPRIKA_IDS.map((id, rank) => {
    const symbol = id.slice(0, id.indexOf('-')).toUpperCase()
    const price = priceOf(scene, symbol, 'USD')
    return {
      ...{ id, symbol, rank: rank + 1 },
      last_updated: isoStamp(scene, 'Z'),
      quotes: { USD: { price, volume_24h: 1.0e10 } },
    }
  })
}

function tableOf(scene: Scene, arsSeries: string): Record<string, number | string | null> {
  const { fault } = scene
  if (fault?.kind === 'empty') return {}
  const series = fault?.kind === 'other_peso' ? otherPeso(arsSeries) : arsSeries
  const codes = CODES.filter((code) => !hits(fault, 'missing_pair', code))
  return Object.fromEntries(
    codes.map((code) => {
      const kind = fault !== null && hits(fault, fault.kind, code) ? fault.kind : undefined
      const odd = kind === undefined ? undefined : ODD_ENTRIES[kind]
      return [code, odd === undefined ? priceOf(scene, 'USD', code === 'ARS' ? series : code) : odd]
    }),
  )
}

const ODD_ENTRIES: Partial<Readonly<Record<FaultKind, number | string | null>>> = {
  nan: 'nan',
  zero: 0,
  zero_bid: 0,
  negative: -1,
  null_side: null,
  blank_side: '',
  commas: '1,234.5',
}

function otherPeso(series: string): string {
  return series === 'ARS:crypto' ? 'ARS:official' : 'ARS:crypto'
}

function mapEntries<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}

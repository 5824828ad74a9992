import { describe, expect, it } from 'vitest'
import { parseDecimal } from '#shared/domain/money/money.ts'
import type { HttpGetResult } from '#shared/runtime/http/http-get.ts'
import { createJumpConfirmation } from './jump-confirmation.ts'

const SILENT = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }
const MONTH_MS = 31 * 24 * 3_600_000
const COINS = ['btc-bitcoin', 'eth-ethereum', 'pol-polygon-ecosystem-token']

/** A confirmation over an aggregator that lists these prices, leases that end by the same clock, and what an operator confirmed. */
function build() {
  const clock = { at: Date.UTC(2026, 9, 1), now: () => clock.at }
  const world = { price: '100', ageMs: 60_000, status: 200, requests: 0, confirmed: null as string | null }
  const until = new Map<string, number>()
  const leases = {
    acquire: async (id: string, _owner: string, leaseMs: number) => {
      if ((until.get(id) ?? 0) > clock.at) return false
      until.set(id, clock.at + leaseMs)
      return true
    },
    release: async () => undefined,
  }
  const body = () => {
    const last_updated = new Date(clock.at - world.ageMs).toISOString()
    return JSON.stringify(COINS.map((id) => ({ id, last_updated, quotes: { USD: { price: Number(world.price) } } })))
  }
  const get = async (): Promise<HttpGetResult> => {
    world.requests += 1
    return { outcome: 'answer', status: world.status, body: body(), retryAfterMs: null, ageSeconds: 0 }
  }
  const random = { uuid: () => crypto.randomUUID(), bytes: (count: number) => new Uint8Array(count) }
  const rates = { confirmed: async () => world.confirmed }
  const process = () =>
    createJumpConfirmation({ clock, logger: SILENT, leases, random, rates, http: { get }, baseUrl: '' })
  return { clock, world, process }
}

const opinion = (of: ReturnType<ReturnType<typeof build>['process']>, price: string, name = 'BTC') =>
  of.agrees(name, parseDecimal(price))

describe('a second opinion', () => {
  it('agrees within 3 %, contradicts beyond, and has none without a young price', async () => {
    const { process, world, clock } = build()
    const confirmation = process()
    expect(await opinion(confirmation, '102.9')).toBe(true)
    expect(await opinion(confirmation, '104')).toBe(false)
    expect(await opinion(confirmation, '1490', 'ARS:official')).toBeNull()
    for (const ageMs of [16 * 60_000, -16 * 60_000, -30 * 365 * 24 * 3_600_000]) {
      world.ageMs = ageMs
      clock.at += 200_000
      expect([ageMs, await opinion(confirmation, '100')]).toEqual([ageMs, null])
    }
    world.status = 500
    expect(await opinion(build().process(), '100', 'DOGE')).toBeNull()
  })

  it('is the operator’s word where there is one about this price, for currencies and against the aggregator', async () => {
    const { process, world } = build()
    world.confirmed = '800'
    expect(await opinion(process(), '812', 'ARS:official')).toBe(true)
    expect(await opinion(process(), '850', 'ARS:official')).toBeNull()
    world.confirmed = '150'
    expect(await opinion(process(), '150')).toBe(true)
  })

  it('costs one request for every coin of a cycle', async () => {
    const { process, world } = build()
    const confirmation = process()
    for (const name of ['BTC', 'ETH', 'POL', 'LTC', 'TRX']) await opinion(confirmation, '100', name)
    expect(world.requests).toBe(1)
  })

  // What the aggregator allows in a month must last a month: ten coins that jump and wait, cycle after cycle, and a process that restarts each time.
  it.each([false, true])(
    'lasts a month of jumps that wait; restarts: %j',
    async (restarts) => {
      const { process, world, clock } = build()
      world.status = 500
      let confirmation = process()
      const startedAt = clock.at
      while (clock.at - startedAt < MONTH_MS) {
        if (restarts) confirmation = process()
        await opinion(confirmation, '150')
        clock.at += 15_000
      }
      expect(world.requests).toBeLessThanOrEqual(20_000)
      expect(world.requests).toBeGreaterThan(19_000)
    },
    20_000,
  )
})

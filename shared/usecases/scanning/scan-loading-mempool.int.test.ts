import { describe, expect, it } from 'vitest'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { DROP_AFTER_MS, useMempoolStage } from '#test/support/mempool-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { scanTick } from './scan-tick.ts'

const { at, transfer, see, look, states, stored } = useMempoolStage(useStores())

const MINUTE_MS = 60_000

describe('a node that was restarted', () => {
  const wait = (ms: number) => at.engine.advance(ms)
  const status = async () => {
    await advanceInvoice(at.engine.deps, at.invoice.terms.id)
    const state = await stored()
    return state === undefined ? null : `${state.status}${state.paidLate ? ' late' : ''}`
  }
  const load = (transfers: readonly RawTransfer[] = []) => {
    see(transfers)
    at.view = { ...at.view, loading: true }
  }
  const afterLook = async () => {
    await look()
    return status()
  }

  // Guarantee: a paid invoice does not expire because its node reads its mempool again.
  it('ends no payment and no invoice while it loads its mempool around the deadline', async () => {
    const seen = transfer('r1', ['in:20'])
    see([seen])
    expect(await afterLook()).toBe('confirming')
    wait(25 * MINUTE_MS)
    expect(await afterLook()).toBe('confirming')
    load()
    for (let minute = 0; minute < 5; minute += 1) {
      expect(await afterLook()).toBe('confirming')
      wait(MINUTE_MS)
    }
    see([seen])
    expect(await afterLook()).toBe('confirming')
    expect(await states()).toEqual(['r1 detected'])
  })

  it('begins the grace again once it has loaded', async () => {
    see([transfer('r2', ['in:21'])])
    await look()
    see([])
    await look()
    wait(DROP_AFTER_MS / 2)
    load()
    await look()
    wait(DROP_AFTER_MS)
    see([])
    await look()
    wait(DROP_AFTER_MS / 2)
    await look()
    expect(await states()).toEqual(['r2 detected'])
    wait(DROP_AFTER_MS / 2)
    await look()
    expect(await states()).toEqual(['r2 dropped'])
  })

  it('still shows who replaced a payment', async () => {
    see([transfer('r3', ['in:22'])])
    await look()
    load()
    at.view = { ...at.view, spent: new Map([['in:22', 'r4']]) }
    await look()
    expect(await states()).toEqual(['r3 replaced'])
  })

  // Guarantee: what one node forgot is not gone while another one has it, or may have it.
  it('drops nothing that another node has, and asks nobody before the grace is over', async () => {
    const requests: (readonly string[])[] = []
    let held = new Set(['r5'])
    const client = {
      ...at.session.source.client,
      heldUnconfirmed: async (txids: readonly string[]) => {
        requests.push(txids)
        return held
      },
    }
    at.session = { ...at.session, source: { ...at.session.source, client } }
    see([transfer('r5', ['in:23'])])
    await look()
    see([])
    await look()
    expect(requests).toEqual([])
    wait(DROP_AFTER_MS)
    await look()
    expect(await states()).toEqual(['r5 detected'])
    expect(requests).toEqual([['r5']])
    held = new Set()
    await look()
    expect(await states()).toEqual(['r5 dropped'])
  })

  /** The scanner reads one more block, which comes at this moment. */
  async function scanBlock(height: number, transfers: readonly RawTransfer[], agesMs?: ReadonlyMap<string, number>) {
    const hash = `restart-${height}-${at.session.cursor.hash}`
    const block = {
      ...{ height, hash, parentHash: at.session.cursor.hash, time: at.engine.deps.clock.now(), transfers },
      ...(agesMs !== undefined && { agesMs }),
    }
    const client: ChainClient = {
      ...at.session.source.client,
      head: async () => ({ height, hash, finalizedHeight: null }),
      scan: async () => [block],
    }
    at.session = { ...at.session, source: { ...at.session.source, client } }
    await scanTick(at.session)
  }

  // Guarantee: a payment that was announced in time is on time, although a block came before anybody could see it.
  it('lets no block pass the deadline before its mempool was looked through', async () => {
    see([])
    expect(await afterLook()).toBe('pending')
    load()
    wait(25 * MINUTE_MS)
    await scanBlock(11, [])
    expect(await status()).toBe('pending')
    wait(MINUTE_MS)
    await scanBlock(12, [])
    expect(await afterLook()).toBe('pending')
    // The node took it in 20 minutes ago, which is before the deadline.
    see([transfer('r6', ['in:24'])])
    at.view = { ...at.view, agesMs: new Map([['r6', 20 * MINUTE_MS]]) }
    await look()
    expect(await status()).toBe('confirming')
    expect(await states()).toEqual(['r6 detected'])
  })

  it('passes the deadline once its mempool was looked through and holds no payment', async () => {
    see([])
    await look()
    wait(25 * MINUTE_MS)
    load()
    await scanBlock(11, [])
    expect(await status()).toBe('pending')
    see([])
    expect(await afterLook()).toBe('expired')
  })

  it('takes what it had listed in time and a late block holds for a payment in time', async () => {
    see([])
    await look()
    wait(25 * MINUTE_MS)
    await scanBlock(11, [transfer('r7', ['in:25'])], new Map([['r7', 20 * MINUTE_MS]]))
    expect(await status()).toBe('confirming')
    const [payment] = await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)
    expect(payment?.firstSeenAt).toBeLessThan(at.invoice.state.expiresAt)
  })

  // Guarantee: no node makes a payment older than the last look at all of its mempool, which did not show it.
  it('cannot make a late payment early by the age that it gives', async () => {
    wait(25 * MINUTE_MS)
    see([])
    await look()
    wait(MINUTE_MS)
    see([transfer('r8', ['in:26'])])
    at.view = { ...at.view, agesMs: new Map([['r8', 60 * MINUTE_MS]]) }
    await look()
    const [payment] = await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)
    expect(payment?.firstSeenAt).toBeGreaterThan(at.invoice.state.expiresAt)
  })
})

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { ChainClient, MempoolView, RawTransfer } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type Engine, lockOf, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { scanMempool } from './scan-mempool.ts'
import type { ScanSession } from './scan-session.ts'
import { scanTick } from './scan-tick.ts'

const stores = useStores()
const DROP_AFTER_MS = 60_000
const POSITION = { mode: 'test', network: 'ethereum', epoch: 1 } as const
let engine: Engine
let invoice: Invoice
let view: MempoolView
let headHash: string
let session: ScanSession

beforeAll(async () => {
  engine = await openEngine(stores)
})

beforeEach(async () => {
  await engine.publishRates()
  await engine.watchEverything()
  await engine.setCursor(10, engine.deps.clock.now())
  invoice = await engine.open({ asset: 'usdt_ethereum' })
  const cursor = await engine.deps.cursors.find('test', 'ethereum')
  if (cursor === null) throw new Error('no cursor')
  headHash = cursor.hash
  const client: Partial<ChainClient> = {
    head: async () => ({ height: 10, hash: headHash, finalizedHeight: null }),
    mempool: async () => view,
  }
  const source = {
    mode: 'test',
    network: 'ethereum',
    family: 'evm',
    client: client as ChainClient,
    createIndex: createWatchIndex,
    pollMs: 10,
    dropAfterMs: DROP_AFTER_MS,
    finalityDepth: 10,
    batchMax: 10,
    development: false,
  } as const
  const lease = { epoch: cursor.lease?.epoch ?? 0, isHeld: () => true, release: async () => {} }
  const deps = engine.deps as unknown as ScanSession['deps']
  session = { deps, source, lease, index: createWatchIndex(), missingSince: new Map(), cursor }
})

function transfer(txHash: string, spends: readonly string[], amountBase = 25_000_000n): RawTransfer {
  const { matchKey, address } = lockOf(invoice)
  return {
    key: `test:ethereum:${txHash}:0`,
    matchKey,
    toAddress: address,
    fromAddress: null,
    asset: 'usdt_ethereum',
    contract: null,
    amountBase,
    txHash,
    outputIndex: 0,
    spends,
  }
}

function see(transfers: readonly RawTransfer[], spent: readonly (readonly [string, string])[] = []): void {
  view = { transfers, txids: new Set(transfers.map(({ txHash }) => txHash)), spent: new Map(spent) }
}

async function look(): Promise<void> {
  await scanMempool(session)
  await advanceInvoice(engine.deps, invoice.terms.id)
}

const states = async () =>
  (await engine.deps.payments.listByInvoice(invoice.terms.id)).map(({ txHash, state }) => `${txHash} ${state}`)
const stored = async () => (await engine.deps.invoices.findById(invoice.terms.id))?.state

describe('a payment in the mempool', () => {
  // Guarantee: an unconfirmed payment that nobody had time to look at keeps its invoice from expiring.
  it('moves no deadline by a view that is not whole, and credits what is in it', async () => {
    see([transfer('a9', ['in:9'])])
    view = { ...view, partial: true }
    await look()
    expect(await states()).toEqual(['a9 detected'])
    expect((await engine.deps.cursors.find('test', 'ethereum'))?.mempoolAt).toBeUndefined()
  })

  // Guarantee: unconfirmed money is shown and never settles anything.
  it('is detected once, however often it is seen, and confirms nothing', async () => {
    see([transfer('a1', ['in:0'])])
    await look()
    await look()
    expect(await states()).toEqual(['a1 detected'])
    expect(await stored()).toMatchObject({ status: 'confirming' })
    const [payment] = await engine.deps.payments.listByInvoice(invoice.terms.id)
    expect(payment).toMatchObject({ block: null, confirmAt: null, version: 1, spends: ['in:0'] })
  })

  // Guarantee: a replacement is never counted together with what it replaces (full RBF: every payment can be replaced).
  it('is replaced by a transaction that spends the same output, which keeps its time', async () => {
    see([transfer('b1', ['in:1'])])
    await look()
    const [first] = await engine.deps.payments.listByInvoice(invoice.terms.id)
    engine.advance(5_000)
    see([transfer('b2', ['in:1', 'in:9'])], [['in:1', 'b2']])
    await look()
    expect(await states()).toEqual(['b1 replaced', 'b2 detected'])
    const payments = await engine.deps.payments.listByInvoice(invoice.terms.id)
    expect(payments.map(({ replacedBy, firstSeenAt }) => ({ replacedBy, firstSeenAt }))).toEqual([
      { replacedBy: 'b2', firstSeenAt: first?.firstSeenAt },
      { replacedBy: null, firstSeenAt: first?.firstSeenAt },
    ])
    expect(await stored()).toMatchObject({ status: 'confirming' })
  })

  // Guarantee: nodes may hold different versions of a payment; whichever is asked, one of them counts.
  it('counts again when the node asked next has it and not its replacement', async () => {
    const [first, bump] = [transfer('h1', ['in:6']), transfer('h2', ['in:6'])]
    see([first])
    await look()
    see([bump], [['in:6', 'h2']])
    await look()
    see([first], [['in:6', 'h1']])
    await look()
    expect(await states()).toEqual(['h1 detected', 'h2 replaced'])
    see([bump], [['in:6', 'h2']])
    await look()
    expect(await states()).toEqual(['h1 replaced', 'h2 detected'])
    expect(await stored()).toMatchObject({ status: 'confirming' })
  })

  it('steps the invoice back when the replacement pays somebody else', async () => {
    see([transfer('c1', ['in:2'])])
    await look()
    see([], [['in:2', 'c2']])
    await look()
    expect(await states()).toEqual(['c1 replaced'])
    expect(await stored()).toMatchObject({ status: 'pending' })
  })

  it('is replaced by a mined conflict, and counts again when a block holds it after all', async () => {
    see([transfer('d1', ['in:3'])])
    await look()
    const unconfirmed = await engine.deps.payments.unconfirmed('test', 'ethereum')
    const time = engine.deps.clock.now()
    const block = (
      height: number,
      transfers: readonly RawTransfer[],
      spent: readonly (readonly [string, string])[],
    ) => ({
      height,
      hash: `d-block-${height}`,
      parentHash: `d-block-${height - 1}`,
      time,
      transfers,
      spent: new Map(spent),
    })
    const conflict = block(11, [], [['in:3', 'd2']])
    await recordBlockTransfers(engine.deps, { ...POSITION, blocks: [conflict], unconfirmed })
    await advanceInvoice(engine.deps, invoice.terms.id)
    expect(await states()).toEqual(['d1 replaced'])
    expect(await stored()).toMatchObject({ status: 'pending' })
    await recordBlockTransfers(engine.deps, { ...POSITION, blocks: [block(12, [transfer('d1', ['in:3'])], [])] })
    await advanceInvoice(engine.deps, invoice.terms.id)
    expect(await states()).toEqual(['d1 detected'])
    expect(await stored()).toMatchObject({ status: 'confirming' })
  })

  it('is dropped only after it was missing for the whole grace, and comes back when it is seen again', async () => {
    const seen = transfer('e1', ['in:4'])
    see([seen])
    await look()
    see([])
    await look()
    engine.advance(DROP_AFTER_MS / 2)
    await look()
    expect(await states()).toEqual(['e1 detected'])
    see([seen])
    await look()
    see([])
    await look()
    engine.advance(DROP_AFTER_MS)
    await look()
    expect(await states()).toEqual(['e1 dropped'])
    expect(await stored()).toMatchObject({ status: 'pending' })
    see([seen])
    await look()
    expect(await states()).toEqual(['e1 detected'])
  })

  // Guarantee: a transaction that left the mempool because it was mined is never taken for a lost one.
  it('judges nothing by a view during which a block came in', async () => {
    see([transfer('f1', ['in:5'])])
    await look()
    see([], [['in:5', 'f2']])
    headHash = 'another'
    await look()
    expect(await states()).toEqual(['f1 detected'])
  })

  it('lets the deadline wait no longer than the last look at the whole mempool', async () => {
    see([])
    engine.advance(90_000)
    await look()
    const cursor = await engine.deps.cursors.find('test', 'ethereum')
    expect(cursor?.mempoolAt).toBeGreaterThanOrEqual(engine.deps.clock.now() - 30_000)
  })
})

const MINUTE_MS = 60_000

describe('a node that was restarted', () => {
  const wait = (ms: number) => engine.advance(ms)
  const status = async () => {
    await advanceInvoice(engine.deps, invoice.terms.id)
    const state = await stored()
    return state === undefined ? null : `${state.status}${state.paidLate ? ' late' : ''}`
  }
  const load = (transfers: readonly RawTransfer[] = []) => {
    see(transfers)
    view = { ...view, loading: true }
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
    view = { ...view, spent: new Map([['in:22', 'r4']]) }
    await look()
    expect(await states()).toEqual(['r3 replaced'])
  })

  // Guarantee: what one node forgot is not gone while another one has it, or may have it.
  it('drops nothing that another node has, and asks nobody before the grace is over', async () => {
    const asked: (readonly string[])[] = []
    let held = new Set(['r5'])
    const client = {
      ...session.source.client,
      heldUnconfirmed: async (txids: readonly string[]) => {
        asked.push(txids)
        return held
      },
    }
    session = { ...session, source: { ...session.source, client } }
    see([transfer('r5', ['in:23'])])
    await look()
    see([])
    await look()
    expect(asked).toEqual([])
    wait(DROP_AFTER_MS)
    await look()
    expect(await states()).toEqual(['r5 detected'])
    expect(asked).toEqual([['r5']])
    held = new Set()
    await look()
    expect(await states()).toEqual(['r5 dropped'])
  })

  /** The scanner reads one more block, which comes at this moment. */
  async function scanBlock(height: number, transfers: readonly RawTransfer[], agesMs?: ReadonlyMap<string, number>) {
    const hash = `restart-${height}-${session.cursor.hash}`
    const block = {
      ...{ height, hash, parentHash: session.cursor.hash, time: engine.deps.clock.now(), transfers },
      ...(agesMs !== undefined && { agesMs }),
    }
    const client: ChainClient = {
      ...session.source.client,
      head: async () => ({ height, hash, finalizedHeight: null }),
      scan: async () => [block],
    }
    session = { ...session, source: { ...session.source, client } }
    await scanTick(session)
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
    view = { ...view, agesMs: new Map([['r6', 20 * MINUTE_MS]]) }
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
    const [payment] = await engine.deps.payments.listByInvoice(invoice.terms.id)
    expect(payment?.firstSeenAt).toBeLessThan(invoice.state.expiresAt)
  })

  // Guarantee: no node makes a payment older than the last look at all of its mempool, which did not show it.
  it('cannot make a late payment early by the age that it gives', async () => {
    wait(25 * MINUTE_MS)
    see([])
    await look()
    wait(MINUTE_MS)
    see([transfer('r8', ['in:26'])])
    view = { ...view, agesMs: new Map([['r8', 60 * MINUTE_MS]]) }
    await look()
    const [payment] = await engine.deps.payments.listByInvoice(invoice.terms.id)
    expect(payment?.firstSeenAt).toBeGreaterThan(invoice.state.expiresAt)
  })
})

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/invoices/advance-invoice.ts'
import { resolveReorg } from '#shared/usecases/scanning/scan-reorg.ts'
import type { ScanSession } from '#shared/usecases/scanning/scan-session.ts'
import { scanTick } from '#shared/usecases/scanning/scan-tick.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { recordBlockTransfers, recordFindings } from './record-payments.ts'

const stores = useStores()
const POSITION = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const DUE = 25_000_000n
let engine: Engine
let invoice: Invoice

beforeAll(async () => {
  engine = await openEngine(stores)
})

beforeEach(async () => {
  await engine.publishRates()
  await engine.setCursor(10, engine.deps.clock.now())
  invoice = await engine.open({ asset: 'usdt_ethereum' })
})

const record = (block: ScannedBlock) => recordBlockTransfers(engine.deps, { ...POSITION, blocks: [block] })
const payments = () => engine.deps.payments.listByInvoice(invoice.terms.id)

async function settled(): Promise<Invoice['state']> {
  await advanceInvoice(engine.deps, invoice.terms.id)
  const stored = await engine.deps.invoices.findById(invoice.terms.id)
  if (stored === null) throw new Error('no invoice')
  return stored.state
}

function transfer(txHash: string, spends: readonly string[], amountBase = DUE): RawTransfer {
  const { matchKey, address: toAddress } = paymentMethodOf(invoice)
  const same = { fromAddress: null, asset: 'usdt_ethereum', contract: null, outputIndex: 0 } as const
  return { ...same, key: `test:ethereum:${txHash}:0`, matchKey, toAddress, amountBase, txHash, spends }
}

describe('a block that carries a time in the future', () => {
  // Guarantee: miners may set clocks two hours ahead; whoever paid in time is never late because of that.
  it('was not seen later than now', async () => {
    const before = engine.deps.clock.now()
    await record(blockWith(1, before + 5_400_000, paymentMethodOf(invoice), [{ key: 'ahead', amountBase: DUE }]))
    expect(await settled()).toMatchObject({ status: 'confirming', paidLate: false })
    expect((await payments())[0]?.firstSeenAt).toBeLessThanOrEqual(engine.deps.clock.now())
  })

  // Guarantee: no deadline passes over a time at which nobody had looked at the chain.
  it('lets no deadline pass before the chain was looked at', async () => {
    await engine.setCursor(10, engine.deps.clock.now() + 5_400_000)
    engine.advance(invoice.state.expiresAt - engine.deps.clock.now() + 1_000)
    expect(await overdueInvoices(engine.deps)).not.toContain(invoice.terms.id)
    await engine.setCursor(10, engine.deps.clock.now() + 5_400_000)
    expect(await overdueInvoices(engine.deps)).toContain(invoice.terms.id)
  })
})

describe('a replacement', () => {
  // Guarantee: a crash between two writes never makes a payment late.
  it('keeps the time of what it replaces when storing it failed at first', async () => {
    const seenAt = engine.deps.clock.now()
    await recordFindings(engine.deps, POSITION, {
      found: [{ transfer: transfer('g1', ['in:1']), block: null, seenAt }],
      outcomes: [],
    })
    engine.advance(invoice.state.expiresAt - seenAt + 60_000)
    const unconfirmed = await engine.deps.payments.unconfirmed('test', 'ethereum')
    const time = engine.deps.clock.now()
    const bump = transfer('g2', ['in:1'])
    const block = {
      height: 20,
      hash: 'g20',
      parentHash: 'g19',
      time,
      transfers: [bump],
      spent: new Map([['in:1', 'g2']]),
    }
    const failing = {
      ...engine.deps,
      invoices: { ...engine.deps.invoices, findByClaims: () => Promise.reject(new Error('the store is away')) },
    }
    await expect(recordBlockTransfers(failing, { ...POSITION, blocks: [block], unconfirmed })).rejects.toThrow('away')
    const left = await engine.deps.payments.unconfirmed('test', 'ethereum')
    await recordBlockTransfers(engine.deps, { ...POSITION, blocks: [block], unconfirmed: left })
    expect(await payments()).toMatchObject([
      { txHash: 'g1', state: 'replaced' },
      { txHash: 'g2', state: 'detected', firstSeenAt: seenAt },
    ])
    expect(await settled()).toMatchObject({ status: 'confirming', paidLate: false })
  })
})

describe('a transaction that moves another amount when it is mined again elsewhere', () => {
  // Guarantee: what a swap pays out depends on its block. The network goes on, and exactly what stands is counted.
  it('counts with what it moved in the block that stands', async () => {
    const [paymentMethod, now] = [paymentMethodOf(invoice), engine.deps.clock.now()]
    const swap = (height: number, hash: string, amountBase: bigint) => ({
      ...blockWith(height, now, paymentMethod, [{ key: 'test:tron:swap:l0', amountBase }]),
      hash,
    })
    await record(swap(30, 'swap-a', DUE))
    expect(await settled()).toMatchObject({ status: 'confirming' })
    await record(swap(30, 'swap-b', DUE - 1_000_000n))
    await record(swap(30, 'swap-b', DUE - 1_000_000n))
    const live = async () => (await payments()).filter(({ state }) => state === 'detected')
    expect(await live()).toMatchObject([{ amountBase: DUE - 1_000_000n, block: { hash: 'swap-b' } }])
    expect(await settled()).toMatchObject({ status: 'partial' })
    await record(swap(30, 'swap-a', DUE))
    expect(await live()).toMatchObject([{ amountBase: DUE, block: { hash: 'swap-a' } }])
    expect(await settled()).toMatchObject({ status: 'confirming' })
  })

  // Guarantee: one block never holds two amounts under one key; a node that says so is not believed.
  it('is refused when the very same block is told with another amount', async () => {
    const [paymentMethod, now] = [paymentMethodOf(invoice), engine.deps.clock.now()]
    await record(blockWith(40, now, paymentMethod, [{ key: 'test:tron:lie:l0', amountBase: DUE }]))
    await expect(
      record(blockWith(40, now, paymentMethod, [{ key: 'test:tron:lie:l0', amountBase: DUE * 2n }])),
    ).rejects.toThrow(/base units/)
    expect(await payments()).toMatchObject([{ amountBase: DUE, state: 'detected' }])
  })
})

describe('a transaction that pays somebody else when it is mined again elsewhere', () => {
  // Guarantee: what a contract pays, to whom and in which token may depend on its block, and a key of TRON names the place of a log alone. Money
  // counts for who got it in the block that stands.
  it.each(['another invoice', 'another token'] as const)('counts for %s as it stands', async (other) => {
    const [now, second] = [engine.deps.clock.now(), await engine.open({ asset: 'usdt_ethereum' })]
    const key = `test:tron:${other}:l0`
    const ours = blockWith(50, now, paymentMethodOf(invoice), [{ key, amountBase: DUE }])
    const to = paymentMethodOf(other === 'another invoice' ? second : invoice)
    const paid = blockWith(50, now, to, [{ key, amountBase: DUE, ...(other === 'another token' && { asset: null }) }])
    const theirs = {
      ...paid,
      hash: 'theirs',
      transfers: paid.transfers.map((one) => (other === 'another token' ? { ...one, contract: '0xworthless' } : one)),
    }
    const of = async ({ terms }: Invoice) =>
      (await engine.deps.payments.listByInvoice(terms.id)).map(({ state, block, contract }) => [
        state,
        block?.hash,
        contract,
      ])
    await record(ours)
    expect(await settled()).toMatchObject({ status: 'confirming' })
    await record(theirs)
    await record(theirs)
    const gone = ['orphaned', undefined, '0xtoken']
    if (other === 'another invoice') {
      expect(await of(invoice)).toEqual([gone])
      expect(await of(second)).toEqual([['detected', 'theirs', '0xtoken']])
    } else expect(await of(invoice)).toEqual([gone, ['detected', 'theirs', '0xworthless']])
    expect(await settled()).toMatchObject({ status: 'pending' })
    await record(ours)
    expect((await of(invoice))[0]).toEqual(['detected', ours.hash, '0xtoken'])
    const rest = [...(await of(invoice)).slice(1), ...(await of(second))]
    expect(rest.map(([state]) => state)).toEqual(['orphaned'])
    expect(await settled()).toMatchObject({ status: 'confirming' })
  })

  it('is refused when the very same block is told with another receiver', async () => {
    const [now, second] = [engine.deps.clock.now(), await engine.open({ asset: 'usdt_ethereum' })]
    const at = (of: Invoice) => blockWith(60, now, paymentMethodOf(of), [{ key: 'test:tron:two:l0', amountBase: DUE }])
    await record(at(invoice))
    await expect(record(at(second))).rejects.toThrow(paymentMethodOf(second).address)
    expect(await engine.deps.payments.listByInvoice(second.terms.id)).toEqual([])
  })
})

describe('a reorganisation', () => {
  // Guarantee: an invoice whose payment went back to the mempool does not expire before that was looked at again.
  it('takes back that the mempool was seen, so that no deadline passes before the new branch is read', async () => {
    const { expiresAt } = invoice.state
    await engine.setCursor(110, expiresAt - 60_000)
    await record(blockWith(110, expiresAt - 60_000, paymentMethodOf(invoice), [{ key: 'undone', amountBase: DUE }]))
    await settled()
    engine.advance(expiresAt - engine.deps.clock.now() + 30_000)
    const session = await sessionAt(110)
    await resolveReorg(session, 111)
    expect(await payments()).toMatchObject([{ state: 'orphaned' }])
    await settled()
    expect(await overdueInvoices(engine.deps)).not.toContain(invoice.terms.id)
    expect(await settled()).toMatchObject({ status: 'pending' })
  })

  // Guarantee: a scanner that dies between taking payments back and moving its cursor lets no invoice expire.
  it('holds deadlines back before it takes anything back', async () => {
    const { expiresAt } = invoice.state
    await engine.setCursor(110, expiresAt + 60_000)
    await record(blockWith(110, expiresAt - 60_000, paymentMethodOf(invoice), [{ key: 'halfway', amountBase: DUE }]))
    await settled()
    engine.advance(expiresAt - engine.deps.clock.now() + 90_000)
    const session = await sessionAt(110)
    const { payments: store } = session.deps
    const dying: ScanSession['deps']['payments'] = {
      ...store,
      orphanAbove: async (scope) => {
        await store.orphanAbove(scope)
        throw new Error('killed')
      },
    }
    const killed = { ...session, deps: { ...session.deps, payments: dying } }
    await expect(resolveReorg(killed, 111)).rejects.toThrow('killed')
    await settled()
    expect(await overdueInvoices(engine.deps)).not.toContain(invoice.terms.id)
    expect(await settled()).toMatchObject({ status: 'pending' })
  })

  // Guarantee: a payment in a block that stands is never left orphaned, wherever a scanner died and whichever branch is back.
  it.each(['before it moved the cursor again', 'before it took anything back'] as const)(
    'counts what stands in our block when the scanner died %s and the node is back on our branch',
    async (moment) => {
      await engine.setCursor(110, engine.deps.clock.now())
      const ours = blockWith(110, engine.deps.clock.now(), paymentMethodOf(invoice), [
        { key: `${moment} ours`, amountBase: DUE },
      ])
      await record(ours)
      const session = await sessionAt(110)
      await expect(resolveReorg(dyingIn(session, moment), 111)).rejects.toThrow('killed')
      const next = await successorOf(session, { ...ours, parentHash: 'fork' })
      await scanTick(next)
      expect(await payments()).toMatchObject([{ state: 'detected', block: { hash: ours.hash } }])
      expect(next.cursor).toMatchObject({ height: 110, hash: ours.hash })
      expect(next.cursor.recheckThrough ?? null).toBeNull()
    },
  )

  // Guarantee: what only a lost branch held does not count, also when it was confirmed and the scanner died before it took it back.
  it.each(['before it moved the cursor again', 'before it took anything back'] as const)(
    'takes back what was confirmed in the lost block when the scanner died %s',
    async (moment) => {
      const now = engine.deps.clock.now()
      await engine.setCursor(110, now)
      await record(blockWith(110, now, paymentMethodOf(invoice), [{ key: `${moment} lost`, amountBase: DUE }]))
      await stores.db.connection
        .collection('payments')
        .updateMany({ invoiceId: invoice.terms.id }, { $set: { state: 'confirmed' } })
      const session = await sessionAt(110)
      await expect(resolveReorg(dyingIn(session, moment), 111)).rejects.toThrow('killed')
      const other = { height: 110, hash: 'other', parentHash: 'fork', time: now, transfers: [] }
      await scanTick(await successorOf(session, other))
      expect(await payments()).toMatchObject([{ state: 'orphaned', block: null }])
    },
  )
})

/** The session of a scanner that is killed while it takes payments back. */
function dyingIn(
  session: ScanSession,
  moment: 'before it moved the cursor again' | 'before it took anything back',
): ScanSession {
  const { payments: store } = session.deps
  const orphanAbove: typeof store.orphanAbove = async (scope) => {
    if (moment === 'before it moved the cursor again') await store.orphanAbove(scope)
    throw new Error('killed')
  }
  return { ...session, deps: { ...session.deps, payments: { ...store, orphanAbove } } }
}

/** The session of the next holder, whose node has this block as its newest one. */
async function successorOf(session: ScanSession, newest: ScannedBlock): Promise<ScanSession> {
  const { height, hash } = newest
  const cursor = await engine.deps.cursors.find('test', 'ethereum')
  if (cursor === null) throw new Error('no cursor')
  const client: Partial<ChainClient> = {
    head: async () => ({ height, hash, finalizedHeight: null }),
    blockAt: async (at) => (at === height ? newest : { height: at, hash: 'fork', parentHash: '', time: newest.time }),
    scan: async () => [newest],
  }
  return { ...session, source: { ...session.source, client: client as ChainClient }, cursor }
}

/** A session whose cursor stands at a height that the node has another block for, after a look at the whole mempool. */
async function sessionAt(height: number): Promise<ScanSession> {
  const { cursors, clock } = engine.deps
  const stored = await cursors.find('test', 'ethereum')
  if (stored === null) throw new Error('no cursor')
  const epoch = stored.lease?.epoch ?? 0
  const time = stored.time - 180_000
  const window = [
    [height - 1, 'fork'],
    [height, stored.hash],
  ] as const
  const seen = { window, mempoolAt: clock.now(), headSeenAt: clock.now() }
  await cursors.advance('test', 'ethereum', { hash: stored.hash, epoch }, seen)
  const client: Partial<ChainClient> = {
    blockAt: async (at) => ({ height: at, hash: at < height ? 'fork' : 'other', parentHash: 'fork', time }),
  }
  return {
    deps: engine.deps as unknown as ScanSession['deps'],
    source: {
      mode: 'test',
      network: 'ethereum',
      family: 'evm',
      client: client as ChainClient,
      createIndex: createWatchIndex,
      pollMs: 10,
      dropAfterMs: 60_000,
      finalityDepth: 10,
      batchMax: 10,
      development: false,
    },
    lease: { epoch, isHeld: () => true, release: async () => {} },
    index: createWatchIndex(),
    missingSince: new Map(),
    cursor: { ...stored, ...seen },
  }
}

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SuccessfulTransaction } from '#shared/chains/families/tron/check-block.ts'
import { extractTransfers } from '#shared/chains/families/tron/extract.ts'
import { infosSchema } from '#shared/chains/families/tron/wire.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { CURRENT_KEYS_OF_CALL_MOVES } from '#shared/db/schema/migrations/0002-current-keys-of-call-moves.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { previewRescan } from './preview-rescan.ts'
import type { ScanSession } from './scan-session.ts'
import { settleFormerKeys } from './settle-former-keys.ts'

const stores = useStores()
const POSITION = { mode: 'test', network: 'tron', epoch: 1 } as const
const PAYER = `41${'11'.repeat(20)}`
const hex = (text: string) => Buffer.from(text).toString('hex')
const HASH = 'b11'

let engine: Engine
let invoice: Invoice
let txId: string
let half: bigint
let transactions = 0

beforeAll(async () => {
  engine = await openEngine(stores)
  await engine.publishRates()
})

beforeEach(async () => {
  invoice = await engine.open({ asset: 'trx_tron' })
  half = (paymentMethodOf(invoice).quotes[0]?.amountBase ?? 0n) / 2n
  transactions += 1
  txId = transactions.toString(16).padStart(64, '0')
})

/** What a contract sends to the invoice: half of what is due. */
const call = () => ({
  caller_address: PAYER,
  transferTo_address: `41${paymentMethodOf(invoice).matchKey}`,
  callValueInfo: [{ callValue: Number(half) }],
  note: hex('call'),
})
/** A record that only nodes with `saveFeaturedInternalTx` keep, and that pays nobody. */
const reward = () => ({ ...call(), transferTo_address: '', callValueInfo: [{}], note: hex('withdrawReward') })

type Records = readonly object[]

function transfersOf(records: Records, watches: WatchIndex) {
  const [info] = infosSchema.parse([
    { id: txId, blockNumber: 11, blockTimeStamp: 1, receipt: {}, internal_transactions: records },
  ])
  const transaction = { id: txId, contracts: [], info } as unknown as SuccessfulTransaction
  return extractTransfers(transaction, {
    keyPrefix: 'test:tron',
    nativeAsset: 'trx_tron',
    tokens: new Map(),
    watches,
  })
}

function watching(): WatchIndex {
  const watches = createWatchIndex()
  watches.add(paymentMethodOf(invoice).matchKey)
  return watches
}

function blockOf(transfers: ScannedBlock['transfers']): ScannedBlock {
  return { height: 11, hash: HASH, parentHash: 'b10', time: engine.deps.clock.now(), transfers }
}

/** The block as a node shows it that keeps these records. */
const shownBy = (records: Records): ScannedBlock => blockOf(transfersOf(records, watching()))

/** The block as the version before stored it: under the place of each move among all records. */
function asBefore(...indexes: readonly number[]): ScannedBlock {
  const [one] = transfersOf([call()], watching())
  if (one === undefined) throw new Error('nothing moved')
  const { mayHaveFormerKey: _new, ...transfer } = one
  return blockOf(indexes.map((index) => ({ ...transfer, key: `test:tron:${txId}:x${index}` })))
}

const scanned = (block: ScannedBlock, more: { confirmedToo?: boolean } = {}) =>
  recordBlockTransfers(engine.deps, { ...POSITION, blocks: [block], ...more })

/** What the merchant sees of it. */
async function seen() {
  await advanceInvoice(engine.deps, invoice.terms.id)
  const stored = await engine.deps.invoices.findById(invoice.terms.id)
  const payments = await engine.deps.payments.listByInvoice(invoice.terms.id)
  const live = payments.filter(({ state }) => state === 'detected' || state === 'confirmed')
  return { status: stored?.state.status, payments: live.length }
}

const keys = async () =>
  (await engine.deps.payments.listByInvoice(invoice.terms.id)).map(({ key, state }) => {
    const part = key.slice(`test:tron:${txId}:`.length)
    return `${part.replace(/^i:.*:(\d+)$/, 'i:$1')} ${state}`
  })

/** Confirms at a height at which everything is final, with a node that keeps these records; null fails to answer. */
async function confirmed(records: Records | null) {
  const scan: ChainClient['scan'] = async (_from, _to, watches) => {
    if (records === null) throw new NodeUnreliable('away')
    return [blockOf(transfersOf(records, watches))]
  }
  const session = {
    deps: engine.deps,
    source: { ...POSITION, family: 'tron', client: { scan }, createIndex: createWatchIndex },
    lease: { epoch: 1, isHeld: () => true, release: async () => {} },
  } as unknown as ScanSession
  await confirmPayments(engine.deps, {
    ...POSITION,
    height: 100,
    finalizedHeight: 100,
    settleFormer: (due) => settleFormerKeys(session, due),
  })
}

const migrated = () =>
  CURRENT_KEYS_OF_CALL_MOVES.up({ db: stores.db, cursor: null, keep: async () => undefined, report: () => undefined })

describe('coins that a contract of TRON sends', () => {
  // Guarantee: which internal records a node keeps changes neither how often a transfer counts nor which payment it is.
  it('are one payment, whichever records the node keeps that is asked next', async () => {
    await scanned(shownBy([call()]))
    expect(await seen()).toEqual({ status: 'partial', payments: 1 })
    await scanned(shownBy([reward(), call()]))
    expect(await seen()).toEqual({ status: 'partial', payments: 1 })
    expect(await keys()).toEqual(['i:0 detected'])
  })

  // Guarantee: equal moves of one transaction are so many payments.
  it('are two payments when a contract sends the same twice', async () => {
    await scanned(shownBy([call(), reward(), call()]))
    await scanned(shownBy([call(), call()]))
    expect(await seen()).toMatchObject({ payments: 2 })
    expect(await keys()).toEqual(['i:0 detected', 'i:1 detected'])
  })
})

describe('a payment by a contract that the version before stored', () => {
  // Guarantee: an update in the middle of a payment credits it once.
  it.each([
    ['before the migration', false],
    ['after the migration', true],
  ])('stays the same payment when its block is read again %s', async (_when, isMigrated) => {
    await scanned(asBefore(3))
    if (isMigrated) await migrated()
    await scanned(shownBy([call()]))
    await scanned(shownBy([reward(), call()]))
    expect(await seen()).toEqual({ status: 'partial', payments: 1 })
    expect(await keys()).toEqual(['x3 detected'])
    await confirmed([call()])
    expect(await keys()).toEqual(['x3 confirmed'])
  })

  it('stays several payments when there were several equal moves', async () => {
    await scanned(asBefore(0, 2))
    await scanned(shownBy([reward(), reward(), call(), call(), call()]))
    expect(await keys()).toEqual(['x0 detected', 'x2 detected', 'i:2 detected'])
    expect((await seen()).payments).toBe(3)
  })

  // Guarantee: what the former key counted twice is taken back once the block is read.
  it('is credited once when it was stored under two keys', async () => {
    await scanned(asBefore(0))
    await scanned(asBefore(1))
    expect(await seen()).toMatchObject({ payments: 2 })
    await scanned(shownBy([reward(), call()]))
    expect(await keys()).toEqual(['x0 detected', 'x1 orphaned'])
    expect(await seen()).toEqual({ status: 'partial', payments: 1 })
  })

  // Guarantee: a scanner of the version before that still runs doubles nothing for good.
  it('is taken back before it confirms when this version had stored it already', async () => {
    await scanned(shownBy([call()]))
    await migrated()
    await scanned(asBefore(1))
    expect(await seen()).toMatchObject({ payments: 2 })
    await confirmed([reward(), call()])
    expect(await keys()).toEqual(['i:0 confirmed', 'x1 orphaned'])
    expect(await seen()).toEqual({ status: 'partial', payments: 1 })
  })

  // Guarantee: an unclear answer confirms nothing.
  it.each([
    ['cannot be read', null],
    ['is shown without records by the node that is asked', []],
  ])('waits when there are two equal ones and the block %s', async (_why, records) => {
    await scanned(asBefore(0))
    await scanned(asBefore(1))
    await confirmed(records)
    expect(await keys()).toEqual(['x0 detected', 'x1 detected'])
    await confirmed([call()])
    expect(await keys()).toEqual(['x0 confirmed', 'x1 orphaned'])
  })

  it('confirms as before when it has no equal and the node keeps no records', async () => {
    await scanned(asBefore(0))
    await confirmed([])
    expect(await keys()).toEqual(['x0 confirmed'])
  })

  // Guarantee: what a person was paid for is only taken back when a person moved the scanner back.
  it('is not taken back once it is confirmed, unless the scanner was moved back by hand', async () => {
    await scanned(asBefore(0, 1))
    await confirmPayments(engine.deps, { ...POSITION, height: 100, finalizedHeight: 100 })
    await migrated()
    await scanned(shownBy([call()]))
    expect(await keys()).toEqual(['x0 confirmed', 'x1 confirmed'])
    await scanned(shownBy([call()]), { confirmedToo: true })
    expect(await keys()).toEqual(['x0 confirmed', 'x1 orphaned'])
  })

  it('is known to whoever previews what reading the block again would change', async () => {
    await scanned(asBefore(0, 1))
    const client = {
      blockAt: async () => null,
      scan: async (_from: number, _to: number, watches: WatchIndex) => [blockOf(transfersOf([call()], watches))],
    }
    const preview = await previewRescan(
      { ...engine.deps, client: client as never },
      {
        ...{ mode: 'test', network: 'tron', from: 11, to: 11 },
        ...{ confirmedToo: false, acceptReorg: true, onProgress: () => undefined },
      },
    )
    expect(preview).toMatchObject({ known: 1, effects: { taken_back: 1 } })
    expect(await keys()).toEqual(['x0 detected', 'x1 detected'])
  })
})

describe('the migration of keys', () => {
  // Guarantee: an update may be stopped at any moment and started again.
  it('gives settled payments their current key, once, and changes nothing else', async () => {
    await scanned(asBefore(0, 4))
    await confirmPayments(engine.deps, { ...POSITION, height: 100, finalizedHeight: 100 })
    const rows = () => engine.deps.payments.listByInvoice(invoice.terms.id)
    const before = await rows()
    await migrated()
    const places = (await rows()).map(({ currentKey }) => currentKey?.split(':').at(-1))
    expect(places).toEqual(['0', '1'])
    await migrated()
    const after = (await rows()).map(({ currentKey: _place, ...same }) => same)
    expect(after).toEqual(before)
  })
})

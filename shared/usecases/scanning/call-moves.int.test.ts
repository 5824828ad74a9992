import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SuccessfulTransaction } from '#shared/chains/families/tron/check-block.ts'
import { extractTransfers } from '#shared/chains/families/tron/extract.ts'
import { infosSchema } from '#shared/chains/families/tron/wire.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

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

const scanned = (block: ScannedBlock) => recordBlockTransfers(engine.deps, { ...POSITION, blocks: [block] })

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

import { beforeAll, describe, expect, it } from 'vitest'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { orphanPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { answerPaidHash } from './answer-paid-hash.ts'
import type { ExplainTransactionDeps } from './explain-transaction.ts'

const stores = useStores()
const NODE = { rpcUrls: ['http://127.0.0.1:1'], chainId: 31337, confirmations: 3, contracts: {} }
const scope = { mode: 'test', network: 'ethereum', epoch: 1 } as const
let engine: Engine
let invoice: Invoice
let other: Invoice
let transactions = 0
let height = 1_000

beforeAll(async () => {
  engine = await openEngine(stores, { ethereum: NODE, base: { ...NODE, chainId: 31338 } })
  await engine.setCursor(height, engine.deps.clock.now())
  invoice = await engine.open({ asset: 'usdt_ethereum' })
  other = await engine.open({ asset: 'usdt_ethereum' })
})

type Client = ExplainTransactionDeps['client']
const NOTHING: Client = { locate: async () => null, scan: async () => [], blockAt: async () => null }

/** A node that has one block in which the transaction is. */
const having = (block: ScannedBlock, succeeded = true): Client => ({
  locate: async () => ({ height: block.height, blockHash: block.hash, succeeded }),
  scan: async () => [block],
  blockAt: async () => block,
})

function newBlock(to: Invoice, asset: 'usdt_ethereum' | 'usdc_ethereum' = 'usdt_ethereum') {
  transactions += 1
  height += 1
  const txHash = `0x${transactions.toString(16).padStart(64, '0')}`
  const key = `test:ethereum:${txHash}:0`
  const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(to), [
    { key, amountBase: 5_000_000n, asset },
  ])
  return { txHash, block: { ...block, transfers: block.transfers.map((transfer) => ({ ...transfer, txHash })) } }
}

const answer = async (txHash: string, nodes: Partial<Record<NetworkId, Client>> = {}) =>
  await answerPaidHash(
    { ...engine.deps, clientOf: (_mode, network) => nodes[network] ?? null },
    { invoiceId: invoice.terms.id, txHash },
  )

async function store({ block }: ReturnType<typeof newBlock>, to: Invoice): Promise<void> {
  await recordBlockTransfers(engine.deps, { ...scope, blocks: [block] })
  await advanceInvoice(engine.deps, to.terms.id)
}

describe('what is stored', () => {
  it('counts, with its confirmations, in whatever spelling it is asked for', async () => {
    const paying = newBlock(invoice)
    await store(paying, invoice)
    const known = { verdict: 'confirming', network: 'ethereum', requiredConfirmations: 3 }
    expect(await answer(paying.txHash)).toMatchObject(known)
    expect(await answer(paying.txHash.slice(2).toUpperCase())).toMatchObject(known)
    await orphanPayments(engine.deps, { ...scope, forkHeight: paying.block.height - 1 })
    expect((await answer(paying.txHash)).verdict).toBe('gone')
  })

  it('is of another coin', async () => {
    const paying = newBlock(invoice, 'usdc_ethereum')
    await store(paying, invoice)
    expect((await answer(paying.txHash)).verdict).toBe('wrong_asset')
  })

  /** Guarantee: whoever asks about a stranger's payment learns that it is a stranger's, and nothing else of it. */
  it('pays another invoice, of which nothing is told', async () => {
    const paying = newBlock(other)
    await store(paying, other)
    expect(await answer(paying.txHash)).toEqual({
      verdict: 'elsewhere',
      network: 'ethereum',
      confirmations: null,
      requiredConfirmations: null,
    })
  })
})

describe('what the nodes know', () => {
  it('tells a block that comes soon from one that was read', async () => {
    const soon = newBlock(invoice)
    expect((await answer(soon.txHash, { ethereum: having(soon.block) })).verdict).toBe('not_read_yet')
    await engine.setCursor(soon.block.height, engine.deps.clock.now())
    expect((await answer(soon.txHash, { ethereum: having(soon.block) })).verdict).toBe('not_counted')
  })

  it('finds it on another network, failed, paying somebody else, or in no block', async () => {
    const { txHash, block } = newBlock(invoice)
    const wrong = await answer(txHash, { ethereum: NOTHING, base: having(block) })
    expect([wrong.verdict, wrong.network]).toEqual(['wrong_network', 'base'])
    expect((await answer(txHash, { ethereum: having(block, false) })).verdict).toBe('failed')
    const away = {
      ...block,
      transfers: block.transfers.map((transfer) => ({ ...transfer, toAddress: '0x1', matchKey: '01' })),
    }
    expect((await answer(txHash, { ethereum: having(away) })).verdict).toBe('not_ours')
    const unconfirmed: Client = { ...NOTHING, locate: async () => 'unconfirmed' }
    expect((await answer(txHash, { ethereum: unconfirmed })).verdict).toBe('unconfirmed')
  })

  /** Guarantee: "no network knows it" is only said when the invoice's own network was asked and answered. */
  it('says that it cannot look rather than that there is nothing', async () => {
    const { txHash } = newBlock(invoice)
    const silent: Client = { ...NOTHING, locate: () => Promise.reject(new NodeUnreliable('no answer')) }
    expect((await answer(txHash, { ethereum: NOTHING, base: NOTHING })).verdict).toBe('unknown')
    expect((await answer(txHash, { ethereum: NOTHING, base: silent })).verdict).toBe('unknown')
    expect((await answer(txHash, { ethereum: silent, base: NOTHING })).verdict).toBe('cannot_look')
    expect((await answer(txHash, {})).verdict).toBe('cannot_look')
  })
})

it('refuses what is no transaction id, and unknown invoices', async () => {
  await expect(answer('0x1234')).rejects.toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'txHash' }] })
  const pending = answerPaidHash(
    { ...engine.deps, clientOf: () => null },
    { invoiceId: engine.workspace.id, txHash: `0x${'1'.repeat(64)}` },
  )
  await expect(pending).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

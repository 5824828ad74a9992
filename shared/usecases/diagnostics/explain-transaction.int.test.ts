import { beforeAll, describe, expect, it } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { orphanPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { explainTransaction } from './explain-transaction.ts'
import { transactionAnswer } from './transaction-answer.ts'

const stores = useStores()
let engine: Engine
beforeAll(async () => {
  engine = await openEngine(stores)
  await engine.setCursor(1_000, engine.deps.clock.now())
})

const scope = { mode: 'test', network: 'ethereum', epoch: 1 } as const
type TransactionPlace = Awaited<ReturnType<NonNullable<ChainClient['locate']>>>
let transactions = 0
const newHash = () => `0x${(++transactions).toString(16).padStart(64, '0')}`

/** A node that has one block and says where a transaction is. */
const nodeWith = (located: TransactionPlace, block?: ScannedBlock) => ({
  locate: async () => located,
  scan: async () => (block === undefined ? [] : [block]),
  blockAt: async (height: number) => (block?.height === height ? block : null),
})

/** A block in which one transaction pays the invoice its key's amounts. */
function paying(invoice: Invoice, height: number, txHash: string, amounts: readonly bigint[]): ScannedBlock {
  const sent = amounts.map((amountBase, index) => ({ key: `test:ethereum:${txHash}:${index}`, amountBase }))
  const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(invoice), sent)
  return { ...block, transfers: block.transfers.map((transfer) => ({ ...transfer, txHash })) }
}

const explained = (txHash: string, client: Parameters<typeof explainTransaction>[0]['client'], height?: number) =>
  explainTransaction({ ...engine.deps, client }, { mode: 'test', network: 'ethereum', txHash, height: height ?? null })
const at = (block: ScannedBlock) => ({ height: block.height, blockHash: block.hash, succeeded: true })

describe('explainTransaction', () => {
  it('says of every stored payment whether it counts and why not, and asks nobody', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const txHash = newHash()
    const block = paying(invoice, 1_001, txHash, [5_000_000n])
    const [transfer] = block.transfers
    if (transfer === undefined) throw new Error('no transfer')
    const wrong = { ...transfer, key: `test:ethereum:${txHash}:x`, asset: 'usdc_ethereum' as const }
    const nobodys = { ...transfer, key: `test:ethereum:${txHash}:y`, asset: null }
    const blocks = [{ ...block, transfers: [transfer, wrong, nobodys] }]
    await recordBlockTransfers(engine.deps, { ...scope, blocks })
    await advanceInvoice(engine.deps, invoice.terms.id)
    await engine.setCursor(1_001, engine.deps.clock.now())
    const known = await explained(txHash, nodeWith(null))
    expect(known.node).toBe('not_queried')
    expect(known.stored.map(({ words }) => words)).toEqual([
      '1 of 3 confirmations. It counts once it is confirmed.',
      expect.stringContaining('It does not count: the invoice is for another coin at this address.'),
      expect.stringContaining('It does not count:'),
    ])
  })

  it('asks the node again when everything stored is gone', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const txHash = newHash()
    await recordBlockTransfers(engine.deps, { ...scope, blocks: [paying(invoice, 2_001, txHash, [5_000_000n])] })
    await orphanPayments(engine.deps, { ...scope, forkHeight: 2_000 })
    const again = { ...paying(invoice, 2_002, txHash, [5_000_000n]), hash: 'other' }
    const known = await explained(txHash, nodeWith(at(again), again))
    expect(known.conclusion).toContain('its block left the chain')
    expect(known.conclusion).toContain('It pays 1 of our addresses in block 2002; the scanner is at block')
    expect(known.transfers).toMatchObject([{ ours: true, invoiceId: invoice.terms.id, amount: '5' }])
  })

  it('names the block to rescan when it was read without this payment', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const txHash = newHash()
    const missed = paying(invoice, 900, txHash, [5_000_000n])
    const { conclusion } = await explained(txHash, nodeWith(at(missed), missed))
    expect(conclusion).toContain('paymesh chain rescan ethereum --mode test --from 900 --to 900')
  })

  it('does not say that thrifty scanning read a block above its last look', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { deps } = engine
    const cursor = await deps.cursors.find('test', 'ethereum')
    if (cursor === null) throw new Error('no cursor')
    const place = { height: 899, hash: 'h899', time: 0, at: 0 }
    const looks = { ended: place, all: place, week: place, month: place }
    const looked = { ...cursor, source: 'thrifty', looks } as const
    const thrifty = { ...deps, cursors: { ...deps.cursors, find: async () => looked } }
    const conclusionAt = async (height: number) => {
      const txHash = newHash()
      const missed = paying(invoice, height, txHash, [5_000_000n])
      const client = nodeWith(at(missed), missed)
      const question = { mode: 'test', network: 'ethereum', txHash, height: null } as const
      return (await explainTransaction({ ...thrifty, client }, question)).conclusion
    }
    const unread = await conclusionAt(900)
    expect(unread).not.toContain('which was scanned')
    expect(unread).toContain('within a day')
    expect(unread).toContain('paymesh chain rescan ethereum --mode test --from 900 --to 900')
    expect(await conclusionAt(899)).toContain('which was scanned')
  })

  it('says what the node cannot tell, and takes a block from the person who asks', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const txHash = newHash()
    const block = paying(invoice, 901, txHash, [5_000_000n])
    const cannot = nodeWith('not_searchable', block)
    expect((await explained(txHash, cannot)).conclusion).toContain('try again with --block HEIGHT')
    expect((await explained(txHash, null)).node).toBe('cannot_be_queried')
    expect(await explained(txHash, cannot, 901)).toMatchObject({ node: at(block), transfers: [{ ours: true }] })
    expect((await explained(newHash(), cannot, 901)).node).toBe('not_in_block')
    expect((await explained(txHash, cannot, 902)).node).toBe('not_in_block')
  })

  it('tells unknown, unconfirmed, failed and unreachable apart', async () => {
    const conclusion = async (client: Parameters<typeof explained>[1]) =>
      (await explained(newHash(), client)).conclusion
    expect(await conclusion(nodeWith(null))).toContain('has no mined transaction with this ID')
    expect(await conclusion(nodeWith('unconfirmed'))).toContain('it is not in a block yet')
    const failed = { height: 7, blockHash: 'h', succeeded: false }
    expect(await conclusion(nodeWith(failed))).toBe('It was mined in block 7 and failed. No money was moved.')
    const silent = { ...nodeWith(null), locate: () => Promise.reject(new NodeUnreliable('no answer')) }
    expect(await conclusion(silent)).toContain('The node returned no usable response. Try again.')
  })

  // Wallets that read an EIP-681 link as a plain payment send the token to the first address in it.
  it.each([
    ['usdt_ethereum', ASSETS.usdt_ethereum.contract, '5 USDT'],
    ['usdc_ethereum', ASSETS.usdc_ethereum.contract.toLowerCase(), '5 USDC'],
    [
      null,
      '0xdead00000000000000000000000000000000beef',
      '5000000 base units of 0xdead00000000000000000000000000000000beef',
    ],
  ] as const)('names the mistake when a token went to its own contract: %s', async (asset, contract, amount) => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const txHash = newHash()
    const paid = paying(invoice, 902, txHash, [5_000_000n])
    const matchKey = contract.slice(2).toLowerCase()
    const lost = { toAddress: contract, matchKey, contract: asset === null ? contract : ASSETS[asset].contract, asset }
    const block = { ...paid, transfers: paid.transfers.map((transfer) => ({ ...transfer, ...lost })) }
    const known = await explained(txHash, nodeWith(at(block), block))
    expect(known.conclusion).toContain(`It sends ${amount} to the token’s own contract on Ethereum`)
    const found = { known, own: null, isOwn: false, looked: ['ethereum'], silent: [] } as const
    const answer = transactionAnswer({ found, invoice: null, exceptionId: null, catalog: engine.deps.catalog })
    expect(answer).toMatchObject({ verdict: 'token_contract', tone: 'bad', title: 'Sent to the token’s own contract' })
    expect(answer.sentence).toContain(amount)
    const elsewhere = {
      ...block,
      transfers: block.transfers.map((one) => ({ ...one, toAddress: `0x${'7'.repeat(40)}` })),
    }
    expect((await explained(txHash, nodeWith(at(elsewhere), elsewhere))).conclusion).toMatch(
      /no address on this server\.$/,
    )
  })

  it('refuses what is no transaction id of the network', async () => {
    const refused = { code: 'VALIDATION_ERROR', details: [{ path: 'txid', message: 'must be 64 hex digits' }] }
    await expect(explained('0x1234', null)).rejects.toMatchObject(refused)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTronNode, type TronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import type { UnsignedTransfer } from '#shared/chains/families/tron/transfer-message.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { type TronPayer, tronPayer } from '#test/support/tron-payer.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

// Wallets of TRON only sign: the checkout builds what they sign, and hands it on.
const stores = useStores()
const RICH_BASE = 100_000_000_000n
let node: TronNode
let stage: CheckoutStage
beforeAll(async () => {
  node = await startTronNode({ blockTimeMs: null })
  node.mine()
  stage = await openCheckout(stores, { nodes: { tron: { rpcUrls: [node.url], genesis: 'any' } } })
  const { wallets } = stage.engine.deps
  const rows = await wallets.unmarkedWatches('test', 'tron', 'tron', 1_000)
  const keys = rows.map(({ matchKey }) => matchKey)
  await wallets.markWatched('test', 'tron', 'tron', keys)
})
afterAll(async () => {
  await stage?.close()
  await node?.stop()
})

let visitors = 0
const visitor = () => {
  visitors += 1
  return `203.0.113.${visitors}`
}
const idOf = ({ terms }: Invoice) => terms.id

async function richPayer(): Promise<TronPayer> {
  const payer = tronPayer()
  for (const asset of ['trx_tron', 'usdt_tron'] as const)
    await node.pay({ asset, to: payer.account, amountBase: RICH_BASE })
  node.mine()
  return payer
}

/** What the payer's wallet signs, and what the page sends of it. */
async function signed(invoice: Invoice, payer: TronPayer) {
  const { status, body } = await stage.post(`/api/i/${idOf(invoice)}/wallet`, { account: payer.account }, visitor())
  expect(status).toBe(200)
  const prepared = String(body.transaction)
  const { transaction } = JSON.parse(prepared) as { readonly transaction: UnsignedTransfer }
  const signature = payer.sign(transaction)
  return { txID: transaction.txID, body: { account: payer.account, prepared, signature } }
}
const submit = (invoice: Invoice, body: unknown, from = visitor()) =>
  stage.post(`/api/i/${idOf(invoice)}/signed`, body, from)

describe('a transaction that the payer’s wallet signed', () => {
  // Guards money: what the page hands on pays this invoice, whole, in a block that the scanner reads, and nothing else.
  it.each(['trx_tron', 'usdt_tron'] as const)('pays the invoice: %s', async (asset) => {
    const invoice = await stage.engine.open({ asset })
    const payer = await richPayer()
    const { txID, body } = await signed(invoice, payer)
    expect((await submit(invoice, body)).body).toEqual({ outcome: 'sent' })
    node.mine()
    const paymentMethod = paymentMethodOf(invoice)
    const watches = createWatchIndex()
    watches.add(paymentMethod.matchKey)
    const client = stage.deps.nodes.clientOf('test', 'tron')
    const found = await client?.scan(node.height(), node.height(), watches)
    const { view } = (await stage.get(`/api/i/${idOf(invoice)}`)).body
    expect(found?.flatMap(({ transfers }) => transfers)).toMatchObject([
      { asset, matchKey: paymentMethod.matchKey, amountBase: BigInt(view.paymentMethod.remainingBase), txHash: txID },
    ])
    // Only the scanner's event would change it.
    expect(view.status).toBe('pending')
  })

  // Guards money: a transaction for one invoice, or of another amount, is never handed on for another.
  it('is handed on for its own invoice only, and never for one that expects nothing', async () => {
    const payer = await richPayer()
    const [invoice, other] = [
      await stage.engine.open({ asset: 'usdt_tron' }),
      await stage.engine.open({ asset: 'usdt_tron' }),
    ]
    const { body } = await signed(invoice, payer)
    expect((await submit(other, body)).body).toEqual({ outcome: 'different' })
    const stranger = { ...body, account: tronPayer().account }
    expect((await submit(invoice, stranger)).body).toEqual({ outcome: 'different' })
    const open = await stage.engine.open({})
    expect((await submit(open, body)).body.error.code).toBe('INVALID_STATE')
    stage.engine.advance(stage.engine.workspace.policy.quoteMs + 1)
    expect((await submit(invoice, body)).body.error.code).toBe('INVALID_STATE')
    stage.engine.advance(-stage.engine.workspace.policy.quoteMs - 1)
    const nowhere = await stage.post('/api/i/00000000-0000-4000-8000-000000000000/signed', body, visitor())
    expect(nowhere.status).toBe(404)
    const pending = await fetch(`${node.url}/wallet/gettransactionlistfrompending`, { method: 'POST', body: '{}' })
    expect(await pending.json()).toEqual({ txId: [] })
  })

  it('of a payer with too little is refused by the network', async () => {
    const invoice = await stage.engine.open({ asset: 'trx_tron' })
    const { body } = await signed(invoice, tronPayer())
    expect((await submit(invoice, body)).body).toEqual({ outcome: 'refused' })
  })

  it('is refused in another form', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_tron' })
    const { body } = await signed(invoice, await richPayer())
    for (const change of [{ prepared: 'x'.repeat(4_001) }, { signature: 'ff' }, { account: '' }, { extra: 1 }])
      expect((await submit(invoice, { ...body, ...change })).body.error.code).toBe('VALIDATION_ERROR')
    const account = paymentMethodOf(invoice).address
    expect((await submit(invoice, { ...body, account })).body.error.code).toBe('VALIDATION_ERROR')
  })

  // Guarantee: payers cannot have the installation's node asked as often as they like.
  it('costs its payer a token', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_tron' })
    const { body } = await signed(invoice, tronPayer())
    const from = visitor()
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => submit(invoice, { ...body, signature: '0'.repeat(130) }, from)),
    )
    const taken = answers.filter(({ status }) => status === 200).length
    expect(taken).toBeGreaterThanOrEqual(10)
    expect(taken).toBeLessThan(40)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40 - taken)
  })
})

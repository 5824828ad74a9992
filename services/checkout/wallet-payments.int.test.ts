import { Keypair, Transaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SurfpoolNode, startSurfpoolNode } from '#dev/local-chain/surfpool-node.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
const LAMPORTS = 10_000_000_000
const PATIENCE = { timeout: 20_000, interval: 100 }
let node: SurfpoolNode
let stage: CheckoutStage
beforeAll(async () => {
  node = await startSurfpoolNode({ slotTimeMs: 50 })
  stage = await openCheckout(stores, { nodes: { solana: { rpcUrls: [node.url], genesis: 'any' } } })
  const { wallets } = stage.engine.deps
  const rows = await wallets.unmarkedWatches('test', 'solana', 'solana', 1_000)
  const keys = rows.map(({ matchKey }) => matchKey)
  await wallets.markWatched('test', 'solana', 'solana', keys)
})
afterAll(async () => {
  await stage?.close()
  await node?.stop()
})

let payers = 0
const payer = () => {
  payers += 1
  return `203.0.113.${payers}`
}
const prepare = (id: string, account: string, from = payer()) => stage.post(`/api/i/${id}/wallet`, { account }, from)

/** A payer with coins and tokens on the local chain. */
async function richPayer(): Promise<Keypair> {
  const keys = Keypair.generate()
  const account = keys.publicKey.toBase58()
  await node.rpc('surfnet_setAccount', [account, { lamports: LAMPORTS }])
  await node.rpc('surfnet_setTokenAccount', [account, ASSETS.usdc_solana.contract, { amount: LAMPORTS }])
  return keys
}

/** What a scanner finds of the invoice's address in the block of the transaction. */
async function foundBy(signature: string, to: ReturnType<typeof paymentMethodOf>) {
  const client = stage.deps.nodes.clientOf('test', 'solana')
  if (client === null) throw new Error('no client')
  const index = createWatchIndex()
  index.add(to.matchKey)
  const place = await expect
    .poll(() => client.locate?.(signature), PATIENCE)
    .toMatchObject({ succeeded: true })
    .then(() => client.locate?.(signature))
  if (place === null || typeof place !== 'object') throw new Error('not in a block')
  const blocks = await client.scan(place.height, place.height, index)
  return blocks.flatMap(({ transfers }) => transfers)
}

describe('a transaction for the payer’s wallet', () => {
  // Guards money: what the page hands to a wallet pays this invoice, whole, on a real chain, and nothing else.
  it.each(['usdc_solana', 'sol_solana'] as const)(
    'signed by the payer pays the invoice: %s',
    async (asset: AssetId) => {
      const invoice = await stage.engine.open({ asset })
      const paymentMethod = paymentMethodOf(invoice)
      const keys = await richPayer()
      const { status, body } = await prepare(invoice.terms.id, keys.publicKey.toBase58())
      expect(status).toBe(200)
      const transaction = Transaction.from(Buffer.from(body.transaction, 'base64'))
      expect(transaction.signatures.map(({ publicKey }) => publicKey.toBase58())).toEqual([keys.publicKey.toBase58()])
      transaction.sign(keys)
      const signed = transaction.serialize().toString('base64')
      const signature = String(await node.rpc('sendTransaction', [signed, { encoding: 'base64' }]))
      const { view } = (await stage.get(`/api/i/${invoice.terms.id}`)).body
      expect(await foundBy(signature, paymentMethod)).toMatchObject([
        {
          asset,
          matchKey: paymentMethod.matchKey,
          amountBase: BigInt(view.paymentMethod.remainingBase),
          txHash: signature,
        },
      ])
      const said = await stage.post(`/api/i/${invoice.terms.id}/hint`, { txHash: signature }, payer())
      expect(said.body.view).toMatchObject({ status: 'pending', hints: [{ txHash: signature }] })
    },
  )

  it('is refused for what is no account, for invoices that expect nothing, and for unknown ones', async () => {
    const invoice = await stage.engine.open({ asset: 'usdc_solana' })
    const { id } = invoice.terms
    for (const wrong of ['x', '0x00000000000000000000000000000000000000aa', '1'.repeat(100), '../..'])
      expect((await prepare(id, wrong)).body.error.code, wrong).toBe('VALIDATION_ERROR')
    const own = paymentMethodOf(invoice).address
    expect((await prepare(id, own)).body.error.code).toBe('VALIDATION_ERROR')
    const account = Keypair.generate().publicKey.toBase58()
    const open = await stage.engine.open({})
    expect((await prepare(open.terms.id, account)).body.error.code).toBe('INVALID_STATE')
    expect((await prepare('00000000-0000-4000-8000-000000000000', account)).status).toBe(404)
    stage.engine.advance(stage.engine.workspace.policy.quoteMs + 1)
    expect((await prepare(id, account)).body.error.code).toBe('INVALID_STATE')
    stage.engine.advance(-stage.engine.workspace.policy.quoteMs - 1)
  })

  // Guarantee: payers cannot have the installation's node asked as often as they like.
  it('costs its payer a token each, and the node one call in five seconds', async () => {
    const { id } = (await stage.engine.open({ asset: 'usdc_solana' })).terms
    const from = payer()
    // More than refill while a slow machine answers them.
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => prepare(id, Keypair.generate().publicKey.toBase58(), from)),
    )
    const made = answers.filter(({ status }) => status === 200)
    expect(made.length).toBeGreaterThanOrEqual(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40 - made.length)
    expect(made.length).toBeLessThan(40)
    const hashes = made.map(({ body }) => Transaction.from(Buffer.from(body.transaction, 'base64')).recentBlockhash)
    expect(new Set(hashes).size).toBeLessThan(made.length)
  })
})

import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type LitecoinNode, startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { outputScript, unsignedTransaction } from '#dev/local-chain/output-script.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { type LitecoinScan, startLitecoinScan } from '#test/support/litecoin-scan.ts'
import { useStores } from '#test/support/stores.ts'

const INPUTS = 60
const OUTPUTS = 250
/** The limit below which Litecoin Core relays no output to a witness program is 2,940 (`GetDustThreshold` at its default rate). */
const DUST = 3_000n
const stores = useStores()
let node: LitecoinNode
let engine: Engine
let scan: LitecoinScan

beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null, flags: WITHOUT_MWEB })
  const networks = { litecoin: { rpcUrls: [node.url], genesis: 'any' } }
  engine = await openEngine(stores, networks)
  scan = await startLitecoinScan(stores, engine, networks)
})
afterAll(async () => {
  await scan?.stop()
  await node?.stop()
})

// Guarantee: one relayable transaction of a stranger costs the network one row, whatever it spends and however often it pays.
it('a transaction of dust is one payment with the whole sum, beside an honest one', async () => {
  await vi.waitFor(async () => expect((await scan.cursor()).mempoolAt).toBeDefined(), scan.patience)
  await engine.publishRates()
  const victim = await engine.open({ asset: 'ltc_litecoin' })
  const honest = await engine.open({ asset: 'ltc_litecoin' })
  const own = (await node.rpc('getnewaddress')) as string
  await node.pay(Array.from({ length: INPUTS }, () => ({ to: own, amountBase: 200_000n })))
  await node.mine()
  const coins = (await node.rpc('listunspent', [1, 9_999_999, [own]])) as { txid: string; vout: number }[]
  const change = BigInt(INPUTS) * 200_000n - 200_000n - BigInt(OUTPUTS) * DUST
  const dust = { script: paymentMethodOf(victim).matchKey, amountBase: DUST }
  const outputs = [...Array.from({ length: OUTPUTS }, () => dust), { script: outputScript(own), amountBase: change }]
  const raw = unsignedTransaction(coins, outputs)
  const { hex } = (await node.rpc('signrawtransactionwithwallet', [raw])) as { hex: string }
  const bomb = (await node.rpc('sendrawtransaction', [hex, 0])) as string
  const paid = await node.pay([{ to: paymentMethodOf(honest).address, amountBase: 25_000_000n }])
  const rowsOf = (txid: string) => engine.deps.payments.listByTransaction('test', 'litecoin', txid)
  const bothStored = async () => expect([(await rowsOf(bomb)).length, (await rowsOf(paid)).length]).toEqual([1, 1])
  await vi.waitFor(bothStored, scan.patience)
  await node.mine()
  const mined = async () => expect((await rowsOf(bomb)).map(({ block }) => block !== null)).toEqual([true])
  await vi.waitFor(mined, scan.patience)
  const [row] = await rowsOf(bomb)
  expect(row).toMatchObject({ amountBase: BigInt(OUTPUTS) * DUST, invoiceId: victim.terms.id })
  expect(row?.spends).toHaveLength(INPUTS)
}, 120_000)

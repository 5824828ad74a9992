import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { type LitecoinNode, startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { useFamilyStage } from '#test/support/family-stage.ts'
import { startLyingNode } from '#test/support/lying-node.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useFamilyStage(stores, 'litecoin', 'litecoin', 1_000)
let node: LitecoinNode

beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null, flags: WITHOUT_MWEB })
  await node.mine(20)
})
afterAll(() => node.stop())

// Guarantee: a stranger's transaction that a provider filters hides nobody else's payment, and the operator reads its name.
it('an unconfirmed transaction that the provider does not give waits alone', async () => {
  let poison = ''
  const refused = { error: { code: -32_603, message: 'response size exceeded' } }
  const proxy = await startLyingNode(node.url, ({ method, params }, truth) =>
    method === 'getrawtransaction' && params[0] === poison ? refused : truth,
  )
  onTestFinished(() => proxy.close())
  stage.scan([proxy.url])
  await stage.untilHeight((await node.rpc('getblockcount')) as number)
  poison = await node.pay([{ to: `0014${randomBytes(20).toString('hex')}`, amountBase: 9_000_000n }])
  const named = async () => expect((await stage.cursor())?.waitReason).toMatch(`${poison}`)
  await vi.waitFor(named, { timeout: 20_000, interval: 100 })
  const paid = await node.pay([{ to: stage.watched.matchKey, amountBase: 5_000_000n }])
  await stage.untilPayments([{ key: expect.stringContaining(paid), state: 'detected' }])
}, 60_000)

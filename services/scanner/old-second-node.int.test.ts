import { expect, it, onTestFinished, vi } from 'vitest'
import { startTronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { useFamilyStage } from '#test/support/family-stage.ts'
import { startLyingTronNode } from '#test/support/lying-tron-node.ts'
import { useStores } from '#test/support/stores.ts'

const STEP_MS = 20_000
const stores = useStores()
const stage = useFamilyStage(stores, 'tron', 'tron', STEP_MS)

/** Lets the clock of the nodes' pool run ahead with that of the scanner. */
function useFastClock() {
  const real = performance.now.bind(performance)
  const ahead = { ms: 0 }
  vi.spyOn(performance, 'now').mockImplementation(() => real() + ahead.ms)
  onTestFinished(() => {
    vi.restoreAllMocks()
  })
  return ahead
}

// Guarantee: an old answer of the second node holds payments back, but never silently: the cursor names it at once, the inbox after ten minutes.
it('names a second TRON node whose solid block stands still, until it goes on', async () => {
  const ahead = useFastClock()
  const node = await startTronNode({ blockTimeMs: null, solidLag: 2 })
  onTestFinished(() => node.stop())
  node.mine(3)
  const solid = await (await fetch(`${node.url}/walletsolidity/getnowblock`, { method: 'POST', body: '{}' })).text()
  const stoodAt = node.solidHeight()
  let isOld = true
  const second = await startLyingTronNode(node.url, ({ path }) =>
    isOld && path === '/walletsolidity/getnowblock' ? solid : undefined,
  )
  onTestFinished(() => second.close())
  const host = new URL(second.url).host
  stage.scan([node.url, second.url])
  await stage.untilHeight(3)
  await node.pay({ asset: 'trx_tron', to: stage.watched.address, amountBase: 5_000_000n })
  const until = (check: () => Promise<void>, aheadMs = 0) =>
    vi.waitFor(
      async () => {
        node.mine()
        ahead.ms += aheadMs
        await stage.untilHeight(node.height())
        await check()
      },
      { timeout: 30_000, interval: 10 },
    )
  const inbox = async () => await stores.db.connection.collection('exceptions').find({ kind: 'halted_chain' }).toArray()
  const named = expect.stringContaining(`the final block of ${host} stands still at ${stoodAt}`)
  await until(async () => expect((await stage.cursor())?.waitReason).toEqual(named), 10_000)
  expect(await stage.payments()).toMatchObject([{ state: 'detected' }])
  await until(async () => expect(await inbox()).toMatchObject([{ detail: named, closedAt: null }]), 10_000)
  isOld = false
  await until(async () => expect(await stage.payments()).toMatchObject([{ state: 'confirmed' }]))
  await until(async () => expect((await stage.cursor())?.waitReason ?? null).toBeNull())
  const closed = [{ _id: 'halted_chain:test:tron:unheard_node', closedAt: expect.anything() }]
  await until(async () => expect(await inbox()).toMatchObject(closed), 10_000)
}, 90_000)

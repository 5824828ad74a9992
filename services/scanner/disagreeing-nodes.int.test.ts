import { afterEach, describe, expect, it, vi } from 'vitest'
import { position } from '#shared/usecases/networks/chain-status.ts'
import { type Lie, startLyingNode } from '#test/support/lying-node.ts'
import { CONFIRMATIONS, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useScanStage(stores)
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const node of opened.splice(0)) await node.close()
})

/** A node that shows its own branch from a height on; null: the truth. */
async function branching() {
  const node = { from: null as number | null, url: '' }
  const bent = (hash: unknown) => `0xbad${String(hash).slice(5)}`
  const lie: Lie = ({ method }, truth) => {
    const block = truth.result as { number: string; hash: string; parentHash: string } | null
    if (node.from === null || method !== 'eth_getBlockByNumber' || block === null) return truth
    const height = Number(block.number)
    if (height < node.from) return truth
    const parentHash = height > node.from ? bent(block.parentHash) : block.parentHash
    return { result: { ...block, hash: bent(block.hash), parentHash } }
  }
  const server = await startLyingNode(stage.chain.url, lie)
  opened.push(server)
  node.url = server.url
  return node
}

/** A scanner of these nodes that has seen one payment, in the block that is given back. */
async function scanPayment(...urls: string[]): Promise<number> {
  stage.scan(stage.source({ development: false }, 31_337, urls))
  await stage.untilHeight(1)
  await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
  await stage.chain.mine()
  const mined = await stage.height()
  await stage.untilPayments([{ state: 'detected', height: mined }])
  await stage.untilHeight(mined)
  return mined
}

describe('a node that shows another branch than the others', () => {
  // Guarantee: one of three nodes that lies cannot take a payment back, and does not hold up the others.
  it('is left out when two others have our blocks', async () => {
    const liar = await branching()
    const mined = await scanPayment(liar.url, stage.chain.url, (await branching()).url)
    liar.from = mined
    await stage.chain.mine(CONFIRMATIONS)
    await stage.untilPayments([{ state: 'confirmed', height: mined }])
  })

  // Guarantee: two nodes that contradict each other change nothing, and whoever asks is told.
  it('stops everything when there is one other, until they agree again', async () => {
    const liar = await branching()
    const mined = await scanPayment(liar.url, stage.chain.url)
    liar.from = mined
    await vi.waitFor(async () => expect((await stage.cursor())?.waitReason).toMatch(`block ${mined}`), 8_000)
    await stage.chain.mine(CONFIRMATIONS)
    expect(await stage.payments()).toMatchObject([{ state: 'detected', height: mined }])
    expect(position(await stage.cursor(), { now: Date.now(), hasNode: true, blockTimeMs: 12_000 }).waitReason).toMatch(
      /^The nodes disagree about block \d+\. Scanning waits until they agree\./,
    )
    liar.from = null
    await stage.untilPayments([{ state: 'confirmed', height: mined }])
    expect((await stage.cursor())?.waitReason).toBeNull()
  })

  it('is believed when the other one sees it too', async () => {
    const other = await branching()
    await scanPayment(stage.chain.url, other.url)
    await stage.chain.reorg(1)
    await stage.untilPayments([{ state: 'orphaned' }])
    expect((await stage.cursor())?.waitReason ?? null).toBeNull()
  })
})

describe('a node that tells another amount of a transaction that is there', () => {
  const inflated = '0x4c4b40'
  const logs: Lie = ({ method }, truth) =>
    method === 'eth_getLogs'
      ? {
          result: (truth.result as object[]).map((log) => ({
            ...log,
            data: `0x${inflated.slice(2).padStart(64, '0')}`,
          })),
        }
      : truth
  const value: Lie = ({ method }, truth) => {
    const block = truth.result as { transactions: object[] } | null
    if (method !== 'eth_getBlockByNumber' || block === null) return truth
    return { result: { ...block, transactions: block.transactions.map((one) => toUs(one)) } }
  }
  const toUs = (one: { to?: string }) =>
    one.to?.toLowerCase() === `0x${WATCHED.matchKey}` ? { ...one, value: inflated } : one

  // Guarantee: one node's word about an amount confirms nothing where there is a second one.
  it.each([
    ['usdt_ethereum', logs],
    ['eth_ethereum', value],
  ] as const)('is not vouched for: %s', async (asset, lie) => {
    const liar = await startLyingNode(stage.chain.url, lie)
    opened.push(liar)
    stage.scan(stage.source({ development: false }, 31_337, [liar.url, stage.chain.url]))
    await stage.untilHeight(1)
    await stage.chain.pay({ asset, to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(CONFIRMATIONS + 1)
    await stage.untilHeight(await stage.height())
    await stage.chain.mine()
    await stage.untilHeight(await stage.height())
    expect(await stage.payments()).toMatchObject([{ state: 'detected', amount: String(Number(inflated)) }])
  })

  it.each(['usdt_ethereum', 'eth_ethereum'] as const)('and an honest one is: %s', async (asset) => {
    stage.scan(stage.source({ development: false }, 31_337, [stage.chain.url, (await branching()).url]))
    await stage.untilHeight(1)
    await stage.chain.pay({ asset, to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(CONFIRMATIONS)
    await stage.untilPayments([{ state: 'confirmed', amount: '5' }])
  })
})

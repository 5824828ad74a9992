import { afterEach, expect } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { proveDeadlines } from '#shared/usecases/scanning/prove-deadlines.ts'
import { acquireScanLease, type ScanLease } from '#shared/usecases/scanning/scan-lease.ts'
import type { ScanSession } from '#shared/usecases/scanning/scan-session.ts'
import { hydrateWatches } from '#shared/usecases/watches/watch-feed.ts'
import { type Lie, startLyingNode } from '#test/support/lying-node.ts'
import type { TestStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'
import type { Account } from './payers.ts'
import { useStoryStage } from './story-stage.ts'

export const USDT = 1_000_000n
export const MILLI = 10n ** 15n
const ETHER = 10n ** 18n
/** More than any proof here takes. */
export const STEPS = 40
const SCOPE = { mode: 'test', family: 'evm', network: 'ethereum' } as const

/** A story stage whose scanner is taken step by step. */
export function useStepStage(stores: TestStores) {
  const story = useStoryStage(stores)
  const opened: { close(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })

  const payments = () => stores.db.connection.collection('payments')
  const invoices = () => stores.db.connection.collection('invoices')

  async function liar(lie: Lie): Promise<string> {
    const node = await startLyingNode(story.stage.chain.url, lie)
    opened.push(node)
    return node.url
  }

  /** Reads up to the head as a scanner does, so that what the accounts have is stored with their invoices. */
  async function readUp(): Promise<void> {
    const scanner = story.attend()
    await story.untilHead()
    await scanner.stop()
  }

  /** Accounts begin with what they have now: their gas and their permissions are older than their invoices. */
  async function begin(): Promise<void> {
    await readUp()
    await stores.db.connection.collection('coin_balances').updateMany({}, { $unset: { starts: '' } })
    await story.stage.chain.mine()
    await readUp()
  }

  /** What the chain has since the accounts were first read is as if a node had never shown it. */
  async function hideAll(): Promise<void> {
    await readUp()
    await payments().deleteMany({ amountBase: { $ne: String(ETHER) } })
  }

  /** A session at the head whose deadlines wait for their proof, each step of which reads so many blocks. */
  async function session(urls: readonly string[] = [story.stage.chain.url], batchMax = 50): Promise<ScanSession> {
    const networks = { live: {}, test: { ethereum: { rpcUrls: urls, chainId: 31_337 } } }
    const client = createChainClient(networks, 'test', 'ethereum', stores.runtime.metrics)
    if (client === null) throw new Error('no client')
    opened.push(client)
    const { deps } = story.stage
    const looks = { endedLookMs: 1e9, allLookMs: 1e9, weekLookMs: 1e9, monthLookMs: 1e9 }
    const source = story.stage.source({ client, batchMax, finalityDepth: 65, thrifty: briskPace(looks) })
    const lease = (await acquireScanLease(deps, { ...source, owner: 'test' })) as ScanLease
    opened.push({ close: () => lease.release() })
    const unproven = new Date(Date.now() - 3_600_000)
    await stores.db.connection.collection('chain_cursors').updateOne({}, { $set: { unproven } })
    const cursor = await story.stage.cursor()
    if (cursor === null) throw new Error('no cursor')
    const index = source.createIndex()
    await hydrateWatches(deps, SCOPE, index)
    return { deps, source, lease, index, missingSince: new Map(), cursor }
  }

  /** Steps until nothing waits; fails when that does not end. */
  async function proveAll(one: ScanSession): Promise<void> {
    for (let step = 0; step < STEPS && one.cursor.unproven != null; step += 1) await proveDeadlines(one)
    expect({ unproven: one.cursor.unproven ?? null, reason: one.unprovenReason ?? null }).toEqual({
      unproven: null,
      reason: null,
    })
  }

  /** What is stored, without the coins from nowhere that pay for gas, which are older than all invoices. */
  const amounts = async () =>
    (
      await payments()
        .find({ state: { $ne: 'orphaned' } })
        .toArray()
    )
      .map(({ amountBase }) => BigInt(String(amountBase)))
      .filter((amount) => amount < ETHER)
      .sort((one, other) => (one < other ? -1 : 1))

  /** Pays coins, each sum in its own block. */
  async function pay(account: Account, ...sums: readonly bigint[]): Promise<void> {
    for (const sum of sums) {
      await story.payers.pay(account, 'eth_ethereum', sum)
      await story.stage.chain.mine()
    }
  }

  /** The account's key sends coins on, for a fee below the dust threshold: only the number of its transactions shows it for sure. */
  async function sendOn({ address: from }: Account, amountBase: bigint): Promise<void> {
    const { chain } = story.stage
    const { baseFeePerGas } = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { baseFeePerGas: string }
    const fees = { maxFeePerGas: `0x${(2n * BigInt(baseFeePerGas)).toString(16)}`, maxPriorityFeePerGas: '0x0' }
    const value = `0x${amountBase.toString(16)}`
    await chain.rpc('eth_sendTransaction', [{ from, to: `0x${'e5'.repeat(20)}`, value, gas: '0x5208', ...fees }])
    await chain.mine()
  }

  /** Two nodes that answer alike, so that no logs are asked for beside their balances. */
  const twoNodes = async (lie: Lie = (_, truth) => truth) => [await liar(lie), await liar(lie)]

  return { story, payments, invoices, liar, readUp, begin, hideAll, session, proveAll, amounts, pay, sendOn, twoNodes }
}

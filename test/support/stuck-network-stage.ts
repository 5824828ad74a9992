import { afterEach, expect, vi } from 'vitest'
import type { ChainStatus } from '#shared/contracts/chain-status.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/invoices/advance-invoice.ts'
import { chainStatus } from '#shared/usecases/networks/chain-status.ts'
import { createStuckReporter } from '#shared/usecases/networks/report-stuck-networks.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { startLyingNode } from '#test/support/lying-node.ts'
import { CONFIRMATIONS, useScanStage } from '#test/support/scan-stage.ts'
import type { useStores } from '#test/support/stores.ts'

export const MINUTE = 60_000

export const DUE = 25_000_000n

export const ETHEREUM = { mode: 'test', network: 'ethereum' } as const

export const WHY = { actor: 'user:olivia@example.com', reason: 'The provider cannot serve block data today.' }

/** An installation whose only node fails on one block from when a test says so. */
export function useStuckNetwork(stores: ReturnType<typeof useStores>) {
  const stage = useScanStage(stores)

  const ends: (() => Promise<void>)[] = []

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  /** An installation whose only node answers everything except one block, from when it is told. */
  async function openStage() {
    const node: { badHeight: number | null } = { badHeight: null }
    const lying = await startLyingNode(stage.chain.url, ({ method, params }, truth) =>
      method === 'eth_getBlockByNumber' && node.badHeight !== null && Number(params[0]) === node.badHeight
        ? { error: { code: -32_000, message: 'missing trie node' } }
        : truth,
    )
    ends.push(() => lying.close().catch(() => undefined))
    const engine = await openEngine(stores, {
      ethereum: { rpcUrls: [stage.chain.url], chainId: 31_337, confirmations: CONFIRMATIONS },
    })
    const scanner = () => scan(engine, { client: stage.source({}, 31_337, [lying.url]).client })
    return {
      engine,
      node,
      host: new URL(lying.url).host,
      killNode: lying.close,
      scanner,
      reporter: createStuckReporter(engine.deps),
    }
  }

  /** A scanner by the engine's clock. */
  function scan(engine: Engine, change: Partial<ScanSource>) {
    const { clock, notifier, catalog } = engine.deps
    const scanner = startChainScanner(
      { ...stage.deps, clock, notifier, catalog },
      stage.source({ development: false, ...change }),
    )
    ends.push(() => scanner.stop())
    return scanner
  }

  /** Moves the clock, and mines a block of that very time. */
  async function moveOn(engine: Engine, ms: number): Promise<void> {
    engine.advance(ms)
    await engine.publishRates()
    await stage.chain.rpc('evm_setNextBlockTimestamp', [Math.floor(engine.deps.clock.now() / 1_000)])
    await stage.chain.mine()
  }

  async function sweep(engine: Engine): Promise<void> {
    for (const id of await overdueInvoices(engine.deps)) await advanceInvoice(engine.deps, id)
  }

  const statusOf = async (engine: Engine, { terms }: Invoice) =>
    (await engine.deps.invoices.findById(terms.id))?.state.status

  async function shown(engine: Engine): Promise<ChainStatus> {
    const found = (await chainStatus(engine.deps)).find(({ network }) => network === 'ethereum')
    if (found === undefined) throw new Error('no status')
    return found
  }

  const rows = async (engine: Engine) =>
    (await engine.deps.exceptions.listOpen(null)).filter(({ kind }) => kind === 'halted_chain')

  type Stage = Awaited<ReturnType<typeof openStage>>

  /**
   * Invoices whose time is over by twenty minutes; one was paid in time, in the block that nobody can read, and one ended two
   * minutes after the others. The scanner has failed on that block for all that time.
   */
  async function stuckFor20Minutes({ engine, node, scanner }: Stage) {
    await moveOn(engine, MINUTE)
    const running = scanner()
    await stage.untilHeight(await stage.height())
    const paid = await engine.open({ asset: 'usdt_ethereum' })
    const unpaid = await engine.open({ asset: 'usdt_ethereum' })
    const last = (await stage.height()) + 1
    node.badHeight = last + 1
    await moveOn(engine, MINUTE)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: paymentMethodOf(paid).address, amountBase: DUE })
    await moveOn(engine, MINUTE)
    const later = await engine.open({ asset: 'usdt_ethereum' })
    for (let minute = 0; minute < 40; minute += 5) {
      await moveOn(engine, 5 * MINUTE)
      running.wake()
      await vi.waitFor(async () => {
        running.wake()
        expect((await stage.cursor())?.trouble?.lastAt).toBeGreaterThan(engine.deps.clock.now() - MINUTE)
      })
      await sweep(engine)
    }
    // A failure that goes on is written down every few seconds.
    engine.advance(10_000)
    const head = await stage.height()
    await vi.waitFor(async () => {
      running.wake()
      expect((await stage.cursor())?.headHeight).toBe(head)
    })
    return { paid, unpaid, later, last, running }
  }

  const goOn = async ({ node }: Stage, running: { wake(): void }) => {
    node.badHeight = null
    await stage.chain.mine(CONFIRMATIONS)
    const head = await stage.height()
    await vi.waitFor(
      async () => {
        running.wake()
        expect((await stage.cursor())?.height).toBe(head)
        // Payments are confirmed behind the move of the cursor.
        expect((await stage.payments()).filter(({ state }) => state === 'detected')).toEqual([])
      },
      { timeout: 60_000 },
    )
  }

  return { stage, ends, openStage, scan, moveOn, sweep, statusOf, shown, rows, stuckFor20Minutes, goOn }
}

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { deriveAhead } from '#shared/usecases/wallets/address-headroom.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import type { TestStores } from '#test/support/stores.ts'
import type { ChaosChain, Receiver } from './chaos-chain.ts'
import {
  depsOf,
  PATIENCE,
  POLL_MS,
  type RunningScanner,
  settled,
  startScanner,
  stopScanner,
  tipOf,
} from './chaos-scanner.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { livePayments } from './live-payments.ts'
import type { Action } from './sequences.ts'

const CONFIRMATIONS = 3
/** Blocks of a sequence before the first action: more than the deepest reorganisation. */
const MARGIN = 6
/** Blocks after which anvil calls a block final, and some. */
const FINAL_BLOCKS = 70
/** Addresses beyond those in use. */
const HEADROOM = 24
/** Where the addresses begin that nobody asks for. */
const UNUSED_INDEX = 1_000_000

/** Runs sequences on one chain that goes on from one to the next. */
export interface ChaosStage {
  /** Throws when what is stored in the end is not what a scan from scratch finds. */
  run(actions: readonly Action[]): Promise<void>
}

/**
 * Opens the chain, the stores and a scanner for the tests of a file; `scratch` are the stores of the scans from scratch. With `isThrifty` the scanner
 * reads only what invoices need, and the mode changes whenever a sequence settles.
 */
export function useChaosStage(
  stores: TestStores,
  scratch: TestStores,
  openChain: () => Promise<ChaosChain>,
  isThrifty = false,
): ChaosStage {
  let chain: ChaosChain
  let node: FaultyNode
  let engine: Engine
  let networks: NetworkSettings
  let current: RunningScanner
  let unused = 0

  beforeAll(async () => {
    chain = await openChain()
    node = await startFaultyNode(chain.url)
    networks = {
      live: {},
      test: { [chain.network]: { rpcUrls: [node.url], confirmations: CONFIRMATIONS, chainId: 31_337, genesis: 'any' } },
    }
    engine = await openEngine(stores, networks.test)
    current = start()
  })
  afterAll(async () => {
    await stopScanner(current)
    await node.close()
    await chain.stop()
  })

  const start = (asThrifty = isThrifty) => startScanner(chain, networks, depsOf(stores, engine), asThrifty)

  /** Waits until the head was read. A thrifty scanner rests below it: one that reads every block takes its place for so long. */
  async function settle(): Promise<void> {
    if (!isThrifty) return settled(chain, depsOf(stores, engine), current)
    await stopScanner(current)
    current = start(false)
    await settled(chain, depsOf(stores, engine), current)
    await stopScanner(current)
    current = start()
  }

  /** As if the lease of a dead holder had run out. */
  const expireLease = () =>
    stores.db.connection
      .collection('chain_cursors')
      .updateOne({ _id: `test:${chain.network}` as never }, { $set: { 'lease.until': new Date(0) } })

  async function kill(blow: 'before' | 'after' | 'hold', writes: number): Promise<void> {
    const old = current
    old.fuse.arm(writes, blow)
    await chain.mine(1)
    // Fewer writes than that: it dies in a pause.
    for (let waited = 0; waited < 20 && !old.fuse.isBlown; waited += 1) {
      old.scanner.wake()
      await delay(POLL_MS)
    }
    const isHeld = blow === 'hold' && old.fuse.isBlown
    if (!isHeld) {
      old.fuse.blow()
      await stopScanner(old)
    }
    await expireLease()
    current = start()
    if (!isHeld) return
    // The old holder believes in its lease and goes on with its write while the new one works.
    await settle()
    old.fuse.release()
    await stopScanner(old)
  }

  async function act(action: Action, receivers: readonly Receiver[], invoices: readonly Invoice[], base: number) {
    if (action.kind === 'pay') {
      const [first] = invoices
      if (first === undefined) throw new Error('no invoice')
      const wanted = paymentMethodOf(first).quotes[0]?.amountBase ?? 0n
      const to = action.to.flatMap((index) => receivers[index] ?? [])
      await chain.pay(to, (wanted * action.quarters) / 4n, action.asset % chain.assets.length)
    }
    if (action.kind === 'mine') await chain.mine(action.blocks)
    if (action.kind === 'reorg') {
      await chain.reorg(Math.min(action.depth, (await tipOf(chain)).height - base), action.keep)
    }
    if (action.kind === 'replace') await chain.replace(action.pays)
    if (action.kind === 'fault') node.fail(action.fault, action.answers)
    if (action.kind === 'kill') await kill(action.blow, action.writes)
    if (action.kind === 'restart') {
      await stopScanner(current)
      current = start()
    }
    if (action.kind === 'settle') await settle()
    await advance(invoices)
  }

  const advance = (invoices: readonly Invoice[]) =>
    Promise.all(invoices.map(({ terms }) => advanceInvoice(engine.deps, terms.id)))

  /** Everything new that says who is paid at which address. */
  async function copyClaims(): Promise<void> {
    for (const name of ['addresses', 'invoices']) {
      const [from, to] = [stores, scratch].map(({ db }) => db.connection.collection(name))
      const known = (await to?.distinct('_id')) ?? []
      const rows = (await from?.find({ _id: { $nin: known } }).toArray()) ?? []
      if (rows.length > 0) await to?.insertMany(rows)
    }
  }

  /** Three invoices and an address without one, all watched by the scanner that runs. */
  async function openReceivers(): Promise<{ receivers: readonly Receiver[]; invoices: readonly Invoice[] }> {
    const { wallets } = engine.deps
    const { family, network } = chain
    await deriveAhead({ ...engine.deps, ...engine }, HEADROOM)
    unused += 1
    const { xpub } = engine.addressBook.sandboxKey(family)
    const nobody = engine.addressBook.derive(family, 'test', xpub, UNUSED_INDEX + unused, 1)
    const row = { mode: 'test', family, materialId: `test:${family}:unused`, watchedOn: [] } as const
    await wallets.addDerived(
      row.materialId,
      nobody.map((address) => ({ ...address, ...row })),
      1,
    )
    await vi.waitFor(async () => {
      current.scanner.wake()
      expect(await wallets.unmarkedWatches('test', family, network, 1)).toEqual([])
    }, PATIENCE)
    const invoices: Invoice[] = []
    for (let index = 0; index < 3; index += 1) invoices.push(await engine.open({ asset: chain.assets[0] as AssetId }))
    await copyClaims()
    return { receivers: [...invoices.map(paymentMethodOf), ...nobody], invoices }
  }

  /** What a scanner with an empty database makes of the blocks above `base`, and of the mempool. */
  async function scanFromScratch(base: BlockRef): Promise<RunningScanner> {
    for (const name of ['payments', 'chain_cursors', 'exceptions'])
      await scratch.db.connection.collection(name).deleteMany({})
    const deps = depsOf(scratch, engine)
    const { height, hash, time } = base
    const running = current
    await deps.cursors.create({
      id: `test:${chain.network}`,
      mode: 'test',
      network: chain.network,
      height,
      hash,
      time,
      window: [[height, hash]],
      headHeight: height,
      headSeenAt: deps.clock.now(),
      finalizedHeight: null,
      status: 'catchup',
      haltReason: null,
      genesisHash: await running.client.genesisHash(),
      lease: null,
    })
    const fresh = startScanner(chain, networks, deps)
    await settled(chain, deps, fresh)
    return fresh
  }

  const compareInvoices = async (receivers: readonly Receiver[]): Promise<void> =>
    expect(await livePayments(stores, receivers)).toEqual(await livePayments(scratch, receivers))

  /** The money of a sequence, three times: stored, found from scratch, and by the chain's own books. */
  async function compare(receivers: readonly Receiver[], invoices: readonly Invoice[]): Promise<void> {
    const found = await livePayments(scratch, receivers)
    expect(await livePayments(stores, receivers)).toEqual(found)
    const [asset] = chain.assets
    const sumTo = (to: string) =>
      found.filter((row) => row.to === to && row.asset === asset).reduce((sum, row) => sum + BigInt(row.amount), 0n)
    for (const receiver of receivers) {
      const held = await chain.holdings(receiver)
      if (held !== null) expect(sumTo(receiver.matchKey)).toBe(held)
    }
    await advance(invoices)
    for (const invoice of invoices) {
      const stored = await engine.deps.invoices.findById(invoice.terms.id)
      expect(totals(stored?.state ?? invoice.state).receivedBase).toBe(sumTo(paymentMethodOf(invoice).matchKey))
    }
  }

  return {
    async run(actions) {
      node.mend()
      await chain.prepare(actions.reduce((sum, action) => sum + (action.kind === 'pay' ? action.to.length : 0), 0))
      const base = await tipOf(chain)
      await chain.mine(MARGIN)
      const { time } = await tipOf(chain)
      // Chains that mine on demand run ahead of the clock.
      engine.advance(Math.max(0, time - engine.deps.clock.now()))
      await engine.publishRates()
      await settle()
      const { receivers, invoices } = await openReceivers()
      for (const action of actions) await act(action, receivers, invoices, base.height)
      node.mend()
      // What a stopped holder wrote into a block that is gone ends when that block would confirm it.
      await chain.mine(CONFIRMATIONS)
      if (!isThrifty) await settle()
      const fresh = await scanFromScratch(base)
      try {
        // Everything that was paid to an invoice is found before any other scanner reads these blocks.
        if (isThrifty) await vi.waitFor(() => compareInvoices(receivers.slice(0, invoices.length)), PATIENCE)
        if (isThrifty) {
          // Money at an address that nobody asked for is looked for in final blocks.
          await chain.mine(FINAL_BLOCKS)
          await settle()
        }
        await vi.waitFor(() => compare(receivers, invoices), PATIENCE)
      } finally {
        await stopScanner(fresh)
      }
    },
  }
}

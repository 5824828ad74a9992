import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import type { NetworkSettings } from '#shared/chains/chain.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/watch-index.ts'
import { createChainCommandRepository } from '#shared/db/chain-command-repository.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createPaymentRepository } from '#shared/db/payment-repository.ts'
import { createWalletRepository } from '#shared/db/wallet-repository.ts'
import type { AssetId, Family, NetworkId } from '#shared/domain/enumerations.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import { deriveAhead } from '#shared/usecases/address-headroom.ts'
import { advanceInvoice } from '#shared/usecases/advance-invoice.ts'
import type { Invoice } from '#shared/usecases/ports/invoices.ts'
import type { BlockRef } from '#shared/usecases/ports/scanning.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scan-chain.ts'
import type { ScanDeps, ScanSource } from '#shared/usecases/scan-session.ts'
import { type Engine, lockOf, openEngine } from '#test/support/engine.ts'
import type { TestStores } from '#test/support/stores.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { createFuse, type Fuse } from './fuse.ts'
import type { Action } from './sequences.ts'

/** Somebody who can be paid. */
export interface Receiver {
  readonly matchKey: string
  readonly address: string
}

/** A real chain as the sequences drive it. */
export interface ChaosChain {
  readonly url: string
  readonly network: NetworkId
  readonly family: Family
  /** Assets that its payments move; invoices ask for the first. */
  readonly assets: readonly AssetId[]
  /** Everything that payments of one sequence need, in blocks that no reorganisation of it reaches. */
  prepare(): Promise<void>
  pay(to: readonly Receiver[], amountBase: bigint, asset: number): Promise<void>
  mine(blocks: number): Promise<void>
  /** Replaces blocks by others that hold some of their transactions. */
  reorg(depth: number, keep: number): Promise<void>
  /** Replaces an unconfirmed transaction, where that can be done. */
  replace(pays: 'same' | 'other'): Promise<void>
  /** Base units that a receiver holds by the chain's own books, unconfirmed ones included; null where nobody can be asked. */
  holdings(receiver: Receiver): Promise<bigint | null>
  stop(): Promise<void>
}

export const CONFIRMATIONS = 3
/** Blocks of a sequence before the first action: more than the deepest reorganisation. */
const MARGIN = 6
/** Addresses beyond those in use. */
const HEADROOM = 24
/** Where the addresses begin that nobody asks for. */
const UNASKED_INDEX = 1_000_000
const PATIENCE = { timeout: 20_000, interval: 15 }
const POLL_MS = 10

/** One scanner over its life. */
interface Running {
  readonly fuse: Fuse
  readonly scanner: ChainScanner
  readonly client: OpenChainClient
  /** Looks at the mempool that ended. */
  looks: number
}

/** Runs sequences on one chain that goes on from one to the next. */
export interface ChaosStage {
  /** Throws when what is stored in the end is not what a scan from scratch finds. */
  run(actions: readonly Action[]): Promise<void>
}

/** Opens the chain, the stores and a scanner for the tests of a file; `scratch` are the stores of the scans from scratch. */
export function useChaosStage(
  stores: TestStores,
  scratch: TestStores,
  openChain: () => Promise<ChaosChain>,
): ChaosStage {
  let chain: ChaosChain
  let node: FaultyNode
  let engine: Engine
  let networks: NetworkSettings
  let current: Running
  let unasked = 0

  beforeAll(async () => {
    chain = await openChain()
    node = await startFaultyNode(chain.url)
    networks = {
      live: {},
      test: { [chain.network]: { rpcUrls: [node.url], confirmations: CONFIRMATIONS, chainId: 31_337, genesis: 'any' } },
    }
    engine = await openEngine(stores, networks.test)
    current = start(depsOf(stores, engine))
  })
  afterAll(async () => {
    await stop(current)
    await node.close()
    await chain.stop()
  })

  function depsOf({ db, ambient }: TestStores, { deps: { clock, kicker, catalog } }: Engine): ScanDeps {
    return {
      ...ambient,
      clock,
      kicker,
      catalog,
      commands: createChainCommandRepository(db),
      cursors: createCursorRepository(db),
      exceptions: createExceptionRepository(db),
      invoices: createInvoiceRepository(db),
      payments: createPaymentRepository(db, ambient.random),
      wallets: createWalletRepository(db),
    }
  }

  function start(deps: ScanDeps): Running {
    const { network, family } = chain
    const client = createChainClient(networks, 'test', network, deps.metrics)
    if (client === null) throw new Error('no client')
    const fuse = createFuse(deps)
    const { mempool } = client
    const look: Pick<ScanSource['client'], 'mempool'> =
      mempool === undefined
        ? {}
        : {
            async mempool(watches, outpoints) {
              const view = await mempool(watches, outpoints)
              running.looks += 1
              return view
            },
          }
    const source: ScanSource = {
      mode: 'test',
      network,
      family,
      client: { ...client, ...look },
      createIndex: createWatchIndex,
      pollMs: POLL_MS,
      finalityDepth: 64,
      dropAfterMs: 150,
      batchMax: 4,
      development: false,
    }
    const running = { fuse, client, looks: 0, scanner: startChainScanner(fuse.deps, source) }
    return running
  }

  async function stop({ scanner, client }: Running): Promise<void> {
    await scanner.stop()
    await client.close()
  }

  /** As if the lease of a dead holder had run out. */
  const expireLease = () =>
    stores.db.connection
      .collection('chain_cursors')
      .updateOne({ _id: `test:${chain.network}` as never }, { $set: { 'lease.until': new Date(0) } })

  const tip = async (): Promise<BlockRef> => {
    const direct = createChainClient(
      { live: {}, test: { [chain.network]: { rpcUrls: [chain.url], chainId: 31_337, genesis: 'any' } } },
      'test',
      chain.network,
      stores.ambient.metrics,
    )
    if (direct === null) throw new Error('no client')
    try {
      const block = await direct.blockAt((await direct.head()).height)
      if (block === null) throw new Error('no head')
      return block
    } finally {
      await direct.close()
    }
  }

  /** Waits until a scanner stands at the chain's head and has looked at the mempool from there. */
  async function settled(deps: ScanDeps, running: Running): Promise<void> {
    const head = await tip()
    await vi.waitFor(async () => {
      running.scanner.wake()
      const cursor = await deps.cursors.find('test', chain.network)
      expect([cursor?.height, cursor?.hash]).toEqual([head.height, head.hash])
    }, PATIENCE)
    if (running.client.mempool === undefined) return
    const { looks } = running
    await vi.waitFor(() => expect(running.looks).toBeGreaterThan(looks + 1), PATIENCE)
  }

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
      await stop(old)
    }
    await expireLease()
    current = start(depsOf(stores, engine))
    if (!isHeld) return
    // The old holder believes in its lease and goes on with its write while the new one works.
    await settled(depsOf(stores, engine), current)
    old.fuse.release()
    await stop(old)
  }

  async function act(action: Action, receivers: readonly Receiver[], invoices: readonly Invoice[], base: number) {
    if (action.kind === 'pay') {
      const [first] = invoices
      if (first === undefined) throw new Error('no invoice')
      const asked = lockOf(first).quotes[0]?.amountBase ?? 0n
      const to = action.to.flatMap((index) => receivers[index] ?? [])
      await chain.pay(to, (asked * action.quarters) / 4n, action.asset % chain.assets.length)
    }
    if (action.kind === 'mine') await chain.mine(action.blocks)
    if (action.kind === 'reorg') {
      await chain.reorg(Math.min(action.depth, (await tip()).height - base), action.keep)
    }
    if (action.kind === 'replace') await chain.replace(action.pays)
    if (action.kind === 'fault') node.fail(action.fault, action.answers)
    if (action.kind === 'kill') await kill(action.blow, action.writes)
    if (action.kind === 'restart') {
      await stop(current)
      current = start(depsOf(stores, engine))
    }
    if (action.kind === 'settle') await settled(depsOf(stores, engine), current)
    await advance(invoices)
  }

  const advance = (invoices: readonly Invoice[]) =>
    Promise.all(invoices.map(({ terms }) => advanceInvoice(engine.deps, terms.id)))

  /** Everything that says who is paid at which address. */
  async function copyClaims(): Promise<void> {
    for (const name of ['addresses', 'invoices']) {
      const rows = await stores.db.connection.collection(name).find().toArray()
      await scratch.db.connection.collection(name).deleteMany({})
      await scratch.db.connection.collection(name).insertMany(rows)
    }
  }

  /** Three invoices and an address without one, all watched by the scanner that runs. */
  async function openReceivers(): Promise<{ receivers: readonly Receiver[]; invoices: readonly Invoice[] }> {
    const { wallets } = engine.deps
    const { family, network } = chain
    await deriveAhead({ ...engine.deps, ...engine }, HEADROOM)
    unasked += 1
    const { xpub } = engine.addressBook.sandboxKey(family)
    const nobody = engine.addressBook.derive(family, 'test', xpub, UNASKED_INDEX + unasked, 1)
    const row = { mode: 'test', family, materialId: `test:${family}:unasked`, watchedOn: [] } as const
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
    return { receivers: [...invoices.map(lockOf), ...nobody], invoices }
  }

  /** What a scanner with an empty database makes of the blocks above `base`, and of the mempool. */
  async function scanFromScratch(base: BlockRef): Promise<Running> {
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
    const fresh = start(deps)
    await settled(deps, fresh)
    return fresh
  }

  async function livePayments({ db }: TestStores, receivers: readonly Receiver[]): Promise<readonly Live[]> {
    const rows = await db.connection
      .collection('payments')
      .find({ matchKey: { $in: receivers.map(({ matchKey }) => matchKey) }, state: { $in: ['detected', 'confirmed'] } })
      .sort({ key: 1 })
      .toArray()
    return rows.map((row) => ({
      key: String(row['key']),
      state: String(row['state']),
      block: row['block'] === null ? null : `${row['block'].height} ${row['block'].hash}`,
      amount: String(row['amountBase']),
      asset: String(row['asset']),
      to: String(row['matchKey']),
      invoice: String(row['invoiceId']),
    }))
  }

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
      expect(totals(stored?.state ?? invoice.state).receivedBase).toBe(sumTo(lockOf(invoice).matchKey))
    }
  }

  return {
    async run(actions) {
      node.mend()
      await chain.prepare()
      const base = await tip()
      await chain.mine(MARGIN)
      const { time } = await tip()
      // Chains that mine on demand run ahead of the clock.
      engine.advance(Math.max(0, time - engine.deps.clock.now()))
      await engine.publishRates()
      await settled(depsOf(stores, engine), current)
      const { receivers, invoices } = await openReceivers()
      for (const action of actions) await act(action, receivers, invoices, base.height)
      node.mend()
      // What a stopped holder wrote into a block that is gone ends when that block would confirm it.
      await chain.mine(CONFIRMATIONS)
      await settled(depsOf(stores, engine), current)
      const fresh = await scanFromScratch(base)
      try {
        await vi.waitFor(() => compare(receivers, invoices), PATIENCE)
      } finally {
        await stop(fresh)
      }
    },
  }
}

interface Live {
  readonly key: string
  readonly state: string
  readonly block: string | null
  readonly amount: string
  readonly asset: string
  readonly to: string
  readonly invoice: string
}

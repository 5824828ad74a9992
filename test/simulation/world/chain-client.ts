import { RpcFailure } from '#shared/chains/nodes/rpc-failure.ts'
import { onlyReceiver, showsTransfer } from '#shared/chains/nodes/same-transfer.ts'
import type { BlockRef, RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'
import type { Prng } from '../kernel/prng.ts'
import type { SimProcess } from '../kernel/sim-process.ts'
import { createSimAccounts } from './account-reader.ts'
import { extractCallMoves } from './call-moves.ts'
import type { SimBlock, SimChain, SimTx } from './chain.ts'
import { createSimBalances, spentIn } from './coin-balances.ts'
import { outputTransfers, prunedBlock, unspentBlock } from './output-chain.ts'
import type { createPortCaller } from './port-call.ts'
import type { Sim } from './sim.ts'
import type { SimTransfer } from './sim-transfer.ts'

/** Blocks from the best one that an account chain calls final. */
const FINAL_DEPTH = 32
const DAY_MS = 24 * 3_600_000
/** How long nodes list a transaction without giving it, at most. */
const UNGIVEN_MS = 3_600_000
/** The coin whose moves inside of calls a node may not be able to show. */
const COIN = 'eth_ethereum'

/** In this time at the usual distance of the store, a scanner stores what it found in a block and moves its cursor. */
const DIES_WITHIN_MS = 16

/** What one of the two nodes shows: the best branch, some blocks behind it, or for a while the branch that lost. */
interface View {
  block(height: number): SimBlock | null
  readonly head: number
}

/**
 * Coins in a block that no node shows, because a contract paid them in a call: only the balance grew. An account that is paid twice in
 * the block is left alone, so that an increase is always the amount of one transfer.
 */
function hiddenIn(chain: SimChain, { txs }: SimBlock): readonly SimTransfer[] {
  if (chain.hasMempool) return []
  const coins = txs
    .flatMap((tx) => tx.transfers.map((transfer) => ({ tx, transfer })))
    .filter(({ transfer }) => transfer.asset === COIN)
  return coins.flatMap(({ tx, transfer }) => {
    const isAlone = coins.filter((one) => one.transfer.matchKey === transfer.matchKey).length === 1
    return tx.hidden && isAlone ? [transfer] : []
  })
}

/** Height of the newest block that a node can have, with or without peers. */
function newestOf(chain: SimChain, now: number): number {
  const newest = chain.blocks.length - 1
  const isolation = chain.isolated(now)
  if (isolation === null) return newest
  const before = chain.blocks.findLastIndex(({ minedAt }) => minedAt <= isolation.since)
  return before + Math.floor((newest - before) * isolation.share)
}

const spendingIn = (view: View, block: SimBlock) =>
  new Map([...spentIn(view, block)].map(([matchKey, spentBase]) => [matchKey, { spentBase, feesBase: 0n }]))

/** The nodes of one network as a process reaches them: two of them, each with its faults. */
export function createSimChainClient(
  sim: Sim,
  chain: SimChain,
  { call, process }: { readonly call: ReturnType<typeof createPortCaller>; readonly process: SimProcess },
  luck: Prng,
): ChainClient {
  let node = luck.between(0, 1)
  const deaths = luck.fork('deaths')
  const strange = luck.fork('outside world')
  /** What a node adds to the time of its newest block. */
  const aheadMs = (): number => {
    if (!strange.chance(sim.mix.aheadOfTime)) return 0
    sim.fault('F17 ahead')
    return DAY_MS
  }

  const viewOf = (which: number): View => {
    chain.sync(sim.scheduler.now)
    const { lostBranch, blocks } = chain
    if (which === 1 && lostBranch !== null && lostBranch.until > sim.scheduler.now && sim.mix.nodeDisagrees > 0) {
      const { fork, blocks: lost } = lostBranch
      sim.fault('F9 lost branch')
      return {
        block: (height) => (height <= fork ? (blocks[height] ?? null) : (lost[height - fork - 1] ?? null)),
        head: fork + lost.length,
      }
    }
    const lag = which === 1 && luck.chance(sim.mix.nodeFault / 3) ? luck.between(1, 4) : 0
    const head = Math.max(0, newestOf(chain, sim.scheduler.now) - lag)
    return { block: (height) => (height <= head ? (blocks[height] ?? null) : null), head }
  }

  const request = <T>(what: string, answer: (view: View) => T, show?: (outcome: T) => string): Promise<T> => {
    const faulty = luck.chance(sim.mix.nodeFault)
    const stall = faulty && luck.chance(0.1)
    if (luck.chance(sim.mix.nodeDisagrees)) node = 1 - node
    return call({
      what: `${chain.id} ${what}`,
      latencyMs: stall ? luck.between(2_000, 12_000) : luck.between(1, 12),
      crash: sim.mix.crashPerRead,
      effect: () => {
        if (sim.scheduler.now < chain.conditions.awayUntil)
          throw new RpcFailure('retry', 'no connection', { isSilent: true, isAway: true })
        if (faulty && !stall) {
          sim.fault('F9 node')
          node = 1 - node
          if (!strange.chance(sim.mix.refusals)) throw new NodeUnreliable('simulated fault of a node')
          sim.fault('F17 refusal')
          throw new RpcFailure(strange.pick(['refused', 'pruned', 'retry']), 'simulated words of a provider')
        }
        return answer(viewOf(node))
      },
      ...(show !== undefined && { show }),
    })
  }

  /** Ends the process while it stores what balances show, so that the next scanner reads the block again. */
  const dieSoon = (): void => {
    if (!deaths.chance(sim.mix.diesUnread)) return
    const withinMs = deaths.next() * DIES_WITHIN_MS * sim.mix.storeDistance
    sim.scheduler.at(withinMs, 'world', null, `${process.name} dies`, () => {
      if (!sim.healed) sim.supervisor.crash(process, 'after a block was read by balances')
    })
  }

  const blockRef = (block: SimBlock | null): BlockRef | null =>
    block === null ? null : { height: block.height, hash: block.hash, parentHash: block.parentHash, time: block.time }
  const scanned = (block: SimBlock, watches: WatchIndex): readonly RawTransfer[] => {
    const hidden = hiddenIn(chain, block)
    const transfers = block.txs.flatMap((tx) => matched(tx, watches))
    if (hidden.length === 0) return transfers
    sim.fault('F9 coins in a call')
    dieSoon()
    return transfers.filter(({ key }) => !hidden.some((one) => one.key === key))
  }
  const matched = (tx: SimTx, watches: WatchIndex, which = node): readonly RawTransfer[] => {
    if (tx.inside) {
      if (which === 1) sim.fault('F9 other records')
      return extractCallMoves(tx, chain.id, watches, which === 1)
    }
    if (chain.hasMempool) return outputTransfers(chain, tx, watches)
    return tx.transfers
      .filter(({ matchKey }) => watches.has(matchKey))
      .map((transfer) => ({
        ...transfer,
        fromAddress: null,
        txHash: tx.hash,
        spends: tx.spends,
      }))
  }
  /** Some of them are listed and not given, because of their size or a filter. */
  const givenOf = (txs: readonly SimTx[]): readonly SimTx[] => {
    const given = txs.filter(({ hash, sentAt }) => {
      const [share, time] = [0, 4].map((at) => Number.parseInt(hash.slice(at, at + 4), 16) / 2 ** 16)
      return (share ?? 1) >= sim.mix.ungiven || sim.scheduler.now > sentAt + (time ?? 0) * UNGIVEN_MS
    })
    if (given.length < txs.length) sim.fault('F18 not given')
    return given
  }
  /** What a node has of the mempool; of a restarted one not all, in its own order. */
  const mempoolOf = (which: number): { readonly txs: readonly SimTx[]; readonly loading: boolean } => {
    const { now } = sim.scheduler
    const share = chain.loaded(which, now)
    const { since = now } = chain.isolated(now) ?? {}
    const txs = [...chain.mempool.values()].filter((tx) => tx.sentAt <= since)
    if (share === null) return { txs, loading: false }
    // Nothing at first: it reads its blocks before its mempool.
    const listed = (2 * share - 1) * 2 ** 16
    return { txs: txs.filter(({ hash }) => Number.parseInt(hash.slice(0, 4), 16) < listed), loading: true }
  }
  const offersMempools = luck.chance(0.5)
  const spentBy = (txs: Iterable<SimTx>, outpoints: ReadonlySet<string> | undefined): Map<string, string> => {
    const spent = new Map<string, string>()
    if (outpoints === undefined || outpoints.size === 0) return spent
    for (const tx of txs) for (const outpoint of tx.spends) if (outpoints.has(outpoint)) spent.set(outpoint, tx.hash)
    return spent
  }

  const client: ChainClient = {
    verify: () => request('verify', () => []),
    genesisHash: () => request('genesis', (view) => view.block(0)?.hash ?? ''),
    head: () =>
      request(
        'head',
        (view) => ({
          height: view.head,
          hash: view.block(view.head)?.hash ?? '',
          finalizedHeight: chain.hasMempool ? null : Math.max(0, view.head - (sim.mix.finalAtHead ? 0 : FINAL_DEPTH)),
          time: (view.block(view.head)?.time ?? 0) + aheadMs(),
        }),
        (head) => `${head.height}`,
      ),
    blockAt: (height) => request(`block ${height}`, (view) => blockRef(view.block(height))),
    scan: (from, to, watches, outpoints, accounts) =>
      request(
        `scan ${from}-${to}`,
        (view) =>
          Array.from({ length: to - from + 1 }, (_, offset) => {
            const block = view.block(from + offset)
            const ref = blockRef(block)
            if (block === null || ref === null) throw new NodeUnreliable(`the node has no block ${from + offset}`)
            if (block.height < chain.conditions.keptFrom) throw prunedBlock(block)
            return {
              ...ref,
              transfers: scanned(block, watches),
              ...(accounts !== undefined && { spending: spendingIn(view, block) }),
              spent: spentBy(block.txs, outpoints),
            }
          }),
        (scanned) => `${scanned.reduce((sum, block) => sum + block.transfers.length, 0)} transfers`,
      ),
    disputed: (transactions) =>
      request('doubted', () => {
        const other = viewOf(1 - node)
        return new Set(
          transactions
            .filter(({ height, blockHash, txHash, transfer }) => {
              const block = other.block(height)
              const tx = block?.txs.find((one) => one.hash === txHash)
              if (block?.hash !== blockHash || tx === undefined) return true
              if (!tx.inside || transfer === undefined) return false
              return !showsTransfer(matched(tx, onlyReceiver(transfer), 1 - node), transfer)
            })
            .map(({ txHash }) => txHash),
        )
      }),
  }
  if (!chain.hasMempool) {
    const each = <T>(what: string, answer: (view: View) => T) =>
      request(what, () => [0, 1].map((which) => answer(viewOf(which))))
    return {
      ...client,
      balances: createSimBalances({ request, other: () => viewOf(1 - node) }),
      accounts: createSimAccounts({ request, each, aheadMs, isPruned: sim.scanPlans.get(chain.id)?.isPruned === true }),
    }
  }
  return {
    ...client,
    unspent: (scripts, { from, to }) =>
      request('unspent', (view) =>
        Array.from({ length: to - from + 1 }, (_, offset) => view.block(from + offset)).flatMap((block) =>
          block === null ? [] : unspentBlock(chain, block, scripts),
        ),
      ),
    mempool: (watches, outpoints) =>
      request('mempool', () => {
        const { txs, loading } = mempoolOf(node)
        if (loading) sim.fault('F9 mempool loading')
        const given = givenOf(txs)
        return {
          loading,
          partial: given.length < txs.length,
          unproven: chain.isolated(sim.scheduler.now) === null ? null : 'the node may lack what its network has',
          transfers: given.flatMap((tx) => matched(tx, watches)),
          ...(sim.trouble === 'wrong time' && { agesMs: new Map(given.map(({ hash }) => [hash, DAY_MS])) }),
          txids: new Set(txs.map((tx) => tx.hash)),
          spent: spentBy(given, outpoints),
        }
      }),
    ...(offersMempools && {
      heldUnconfirmed: (txids) =>
        request('held', () => {
          const views = [mempoolOf(0), mempoolOf(1)]
          if (views.some(({ loading }) => loading)) return new Set(txids)
          const held = new Set(views.flatMap(({ txs }) => txs.map(({ hash }) => hash)))
          return new Set(txids.filter((txid) => held.has(txid)))
        }),
    }),
  }
}

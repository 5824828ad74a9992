import { createHash } from 'node:crypto'
import type { AssetId, Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Prng } from '../kernel/prng.ts'
import { formOf } from './chain-forms.ts'
import { createNodeConditions, type NodeConditions } from './node-conditions.ts'
import type { Payout, SimTransfer } from './sim-transfer.ts'

/** A transaction as the network knows it. */
export interface SimTx {
  readonly hash: string
  readonly transfers: readonly SimTransfer[]
  /** Outpoints it spends; empty on account chains. */
  readonly spends: readonly string[]
  readonly sentAt: number
  /** Not mined before. */
  readonly minedFrom: number
  /** A contract sends it: nodes show it by records of their own choice. */
  readonly inside: boolean
  /** A contract sends it, and no node shows it: only balances do. */
  readonly hidden: boolean
  /** What leaves an account by it; nothing of it where the account does not have as much. Account chains only. */
  readonly outflow: SimOutflow | null
  /** Its outputs one by one, of which `transfers` makes what they are worth. */
  readonly payouts: readonly Payout[]
  /** Bytes of its own, hex. */
  readonly raw: string
}

/** Money that an account gives away: by its own key, or tokens to a collector that it allowed to take them. */
export interface SimOutflow {
  readonly matchKey: string
  readonly asset: AssetId
  readonly amountBase: bigint
  readonly byOwner: boolean
}

export interface SimBlock {
  /** Its place in the chain; nodes of some families call it by another number. */
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  /** As it says itself. */
  readonly time: number
  readonly minedAt: number
  readonly txs: readonly SimTx[]
}

/** A chain as it really is. Blocks come by virtual time, when somebody looks. */
export interface SimChain {
  readonly id: string
  readonly mode: Mode
  readonly network: NetworkId
  readonly family: Family
  readonly hasMempool: boolean
  /** What is wrong with its nodes. */
  readonly conditions: NodeConditions
  /** The block of the best branch that nodes call by this number. */
  at(height: number): SimBlock | undefined
  /** By which number nodes call a block. */
  heightOf(block: SimBlock): number
  /** Place of the newest block up to such a number. */
  placeAt(height: number): number
  /** The branch with the most work, from block 0. */
  readonly blocks: readonly SimBlock[]
  /** The branch that lost last, above its fork, and until when a node may still show it. */
  readonly lostBranch: { readonly fork: number; readonly blocks: readonly SimBlock[]; readonly until: number } | null
  readonly mempool: ReadonlyMap<string, SimTx>
  /** Every transaction ever sent, by hash. */
  readonly sent: ReadonlyMap<string, SimTx>
  /** Blocks of every branch that ever was, by hash. */
  readonly everMined: ReadonlyMap<string, SimBlock>
  /** Mines what is due by now. */
  sync(now: number): void
  readonly nextBlockAt: number
  /** Sends a transaction. */
  pay(
    now: number,
    payouts: readonly Payout[],
    options?: Partial<Pick<SimTx, 'minedFrom' | 'spends' | 'inside' | 'hidden'>>,
  ): SimTx
  /** Sends a transaction that takes money out of an account. */
  takeOut(now: number, outflow: SimOutflow): void
  /** Restarts a node at this moment: until then it reads the mempool that it kept, and nobody mines what is in it. */
  restartNode(which: number, now: number, until: number): void
  /** How much of its mempool a node has read again, from 0 to 1; null when it was not restarted. */
  loaded(which: number, now: number): number | null
  /** Takes its peers from every node at this moment: until then they get nothing, and until `back` they catch up. */
  isolate(now: number, until: number, back: number): void
  /** Since when the nodes have had nothing new, and how much of it they have got since, from 0 to 1; null while they have peers and everything. */
  isolated(now: number): { readonly since: number; readonly share: number } | null
  /** Takes an unconfirmed transaction away: another one spends its coins, or the network forgot it. */
  drop(hash: string): boolean
  /** Replaces the newest blocks by one more others. `fate` says when a transaction comes back; null for never. */
  reorg(now: number, depth: number, outcome: (tx: SimTx) => number | null): void
  /** The block of the best branch that holds a transaction. */
  blockOf(hash: string): SimBlock | null
  /** Lets the next block come at this very moment. */
  mineExactly(at: number): void
  /** True while a block would change what is known of somebody's money. */
  isWaiting(confirmations: number): boolean
}

/** After more than so many missing blocks, fewer are mined: nobody looked, and nothing depends on them. */
const CATCH_UP = 20

/** A chain with a few empty blocks before `startAt`. */
export function createSimChain(
  place: { readonly mode: Mode; readonly network: NetworkId; readonly family: Family; readonly blockMs: number },
  startAt: number,
  random: Prng,
): SimChain {
  const { mode, network, family, blockMs } = place
  const form = formOf(family)
  const conditions = createNodeConditions()
  const blocks: SimBlock[] = []
  const everMined = new Map<string, SimBlock>()
  const mempool = new Map<string, SimTx>()
  const sent = new Map<string, SimTx>()
  const minedIn = new Map<string, SimBlock>()
  let lostBranch: SimChain['lostBranch'] = null
  const restarts: { readonly from: number; readonly until: number }[] = []
  let isolation = { from: 0, until: 0, back: 0 }
  let branch = 0
  let nextBlockAt = startAt
  let counter = 0

  const hashOf = (text: string): string => createHash('sha256').update(`${mode}:${network}:${text}`).digest('hex')
  const mine = (time: number, txs: readonly SimTx[]): void => {
    const parent = blocks.at(-1)
    const height = blocks.length
    const hash = form.blockHash(hashOf(`${branch}/${height}`), form.heightOf(height))
    const shown = time + conditions.aheadMs
    const rounded = Math.floor(shown / form.timeUnit) * form.timeUnit
    const block = { height, hash, parentHash: parent?.hash ?? form.before, time: rounded, minedAt: time, txs }
    blocks.push(block)
    everMined.set(hash, block)
    for (const tx of txs) {
      minedIn.set(tx.hash, block)
      mempool.delete(tx.hash)
    }
  }
  const ready = (time: number): SimTx[] =>
    [...mempool.values()].filter((tx) => tx.sentAt <= time && tx.minedFrom <= time)
  const pause = (): number => blockMs * Math.min(3, Math.max(0.2, -Math.log(1 - random.next())))

  for (let one = 20; one >= 0; one -= 1) mine(startAt - one * blockMs - 1_000, [])
  nextBlockAt = startAt + pause()

  return {
    id: `${mode}:${network}`,
    mode,
    network,
    family,
    hasMempool: family === 'bitcoin',
    conditions,
    at: (height) => {
      const index = form.indexOf(height)
      return index === null ? undefined : blocks[index]
    },
    heightOf: (block) => form.heightOf(block.height),
    placeAt: (height) => form.indexOf(height) ?? form.indexOf(height - 1) ?? 0,
    blocks,
    get lostBranch() {
      return lostBranch
    },
    mempool,
    sent,
    everMined,
    get nextBlockAt() {
      return nextBlockAt
    },
    sync(now) {
      const missing = (now - nextBlockAt) / blockMs
      const step = missing > CATCH_UP ? (now - nextBlockAt) / CATCH_UP : null
      while (nextBlockAt <= now) {
        mine(Math.floor(nextBlockAt), ready(nextBlockAt))
        nextBlockAt += step ?? pause()
      }
    },
    restartNode(which, now, until) {
      restarts[which] = { from: now, until }
      for (const [hash, tx] of mempool) mempool.set(hash, { ...tx, minedFrom: Math.max(tx.minedFrom, until) })
    },
    loaded(which, now) {
      const restart = restarts[which]
      if (restart === undefined || now >= restart.until) return null
      return (now - restart.from) / (restart.until - restart.from)
    },
    isolate(now, until, back) {
      isolation = { from: now, until, back }
    },
    isolated(now) {
      const { from, until, back } = isolation
      if (now >= back) return null
      return { since: from, share: Math.max(0, (now - until) / (back - until)) }
    },
    pay(now, payouts, { minedFrom = now, spends, inside = false, hidden = false } = {}) {
      counter += 1
      const raw = hashOf(`tx/${counter}`)
      const hash = form.txHash(raw)
      const transfers = form.transfers({ place: `${mode}:${network}`, network, hash, payouts, inside })
      const own = family === 'bitcoin' ? [`${hashOf(`coin/${counter}`)}:0`] : []
      const shown = { hash, transfers, payouts, raw, spends: spends ?? own, inside, hidden }
      const tx = { ...shown, sentAt: now, minedFrom, outflow: null }
      mempool.set(hash, tx)
      sent.set(hash, tx)
      return tx
    },
    takeOut(now, outflow) {
      counter += 1
      const hash = hashOf(`tx/${counter}`)
      const nothing = { transfers: [], payouts: [], raw: hash, spends: [], inside: false, hidden: false }
      const tx = { ...nothing, hash, sentAt: now, minedFrom: now, outflow }
      mempool.set(hash, tx)
      sent.set(hash, tx)
    },
    drop: (hash) => mempool.delete(hash),
    reorg(now, depth, outcome) {
      const fork = blocks.length - 1 - depth
      if (fork < 1) return
      const lost = blocks.splice(fork + 1)
      branch += 1
      lostBranch = { fork, blocks: lost, until: now + random.next() ** 2 * 120_000 }
      const back: SimTx[] = []
      for (const block of lost) {
        for (const tx of block.txs) {
          minedIn.delete(tx.hash)
          const minedFrom = outcome(tx)
          if (minedFrom === null) continue
          const again = { ...tx, minedFrom }
          mempool.set(tx.hash, again)
          back.push(again)
        }
      }
      const from = blocks.at(-1)?.minedAt ?? now
      for (let one = 1; one <= lost.length + 1; one += 1) {
        const time = Math.floor(from + ((now - from) * one) / (lost.length + 1))
        mine(
          time,
          back.filter((tx) => tx.minedFrom <= now && mempool.has(tx.hash) && random.chance(one / (lost.length + 1))),
        )
      }
      nextBlockAt = Math.max(nextBlockAt, now + pause() / 2)
    },
    mineExactly(at) {
      nextBlockAt = Math.max(at, (blocks.at(-1)?.minedAt ?? 0) + 1)
    },
    blockOf: (hash) => minedIn.get(hash) ?? null,
    isWaiting(confirmations) {
      if (mempool.size > 0) return true
      return blocks.slice(-confirmations - 1).some((block) => block.txs.length > 0)
    },
  }
}

import { type BalanceLedger, NodeUnreliable, type SeenIncrease } from '#shared/ports/scanning.ts'
import type { BranchView } from './account-reader.ts'
import type { SimBlock } from './chain.ts'

/** The coin of account chains. */
const COIN = 'eth_ethereum'

/** Where the questions of a ledger go. */
export interface BalanceNodes {
  /** The answer of the node in use. */
  request<T>(what: string, answer: (view: BranchView) => T): Promise<T>
  /** What the other node shows. */
  other(): BranchView
}

/** What each account has at the end of a block. */
const received = new WeakMap<SimBlock, ReadonlyMap<string, bigint>>()

/** Coin balances of the simulated account chains, by the hash of a block. */
export function createSimBalances({ request, other }: BalanceNodes): BalanceLedger {
  return {
    asset: COIN,
    addressOf: (matchKey) => `0x${matchKey}`,
    read: (matchKeys, { height, hash }) =>
      request(`balances ${height}`, (view) => {
        const balances = balancesAt(view, height, hash)
        if (balances === null) throw new NodeUnreliable(`the node has no block ${height} of that hash`)
        const read = new Map(matchKeys.map((matchKey) => [matchKey, balances.get(matchKey) ?? 0n]))
        return Object.assign(read, { withCode: new Set<string>() })
      }),
    second: (increases) =>
      request('second balances', () => {
        const view = other()
        return new Map(
          increases.flatMap((increase) => {
            const figures = compare(view, increase)
            return figures === null ? [] : [[increase.key, figures] as const]
          }),
        )
      }).catch(() => new Map()),
    disputed: (increases) =>
      request('doubted balances', () => {
        const view = other()
        const isDisputed = (increase: SeenIncrease) =>
          increase.second === 'same'
            ? view.block(increase.height)?.hash !== increase.hash
            : compare(view, increase) !== 'same'
        return new Set(increases.filter(isDisputed).map(({ key }) => key))
      }),
  }
}

/** Null where the node has another branch. */
function compare(
  view: BranchView,
  { matchKey, height, hash, since, beforeBase, afterBase }: SeenIncrease,
): 'same' | 'other' | null {
  const [after, before] = [balancesAt(view, height, hash), balancesAt(view, since.height, since.hash)]
  if (after === null || before === null) return null
  return `${after.get(matchKey) ?? 0n}` === afterBase && `${before.get(matchKey) ?? 0n}` === beforeBase
    ? 'same'
    : 'other'
}

/** What accounts sent away in a block by their own keys. */
export function spentIn(view: BranchView, block: SimBlock): ReadonlyMap<string, bigint> {
  const spent = new Map<string, bigint>()
  const parent = view.block(block.height - 1)
  let balances =
    parent === null ? new Map<string, bigint>() : (balancesAt(view, parent.height, parent.hash) ?? new Map())
  for (const tx of block.txs) {
    const next = withBlock(balances, { ...block, txs: [tx] })
    const { outflow } = tx
    if (outflow?.byOwner === true && next.get(outflow.matchKey) !== balances.get(outflow.matchKey)) {
      spent.set(outflow.matchKey, (spent.get(outflow.matchKey) ?? 0n) + outflow.amountBase)
    }
    balances = next
  }
  return spent
}

function balancesAt(view: BranchView, height: number, hash: string): ReadonlyMap<string, bigint> | null {
  if (view.block(height)?.hash !== hash) return null
  let balances: ReadonlyMap<string, bigint> = new Map()
  let from = height
  for (; from >= 0; from -= 1) {
    const block = view.block(from)
    const known = block === null ? undefined : received.get(block)
    if (known === undefined) continue
    balances = known
    break
  }
  for (let at = Math.max(0, from + 1); at <= height; at += 1) {
    const block = view.block(at)
    if (block === null) continue
    balances = withBlock(balances, block)
    received.set(block, balances)
  }
  return balances
}

function withBlock(balances: ReadonlyMap<string, bigint>, { txs }: SimBlock): ReadonlyMap<string, bigint> {
  const next = new Map(balances)
  const change = (matchKey: string, byBase: bigint): void => {
    const sum = (next.get(matchKey) ?? 0n) + byBase
    if (sum >= 0n) next.set(matchKey, sum)
  }
  for (const { transfers, outflow } of txs) {
    for (const { matchKey, asset, amountBase } of transfers) if (asset === COIN) change(matchKey, amountBase)
    if (outflow?.asset === COIN) change(outflow.matchKey, -outflow.amountBase)
  }
  return next
}

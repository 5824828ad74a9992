import type { AssetId } from '#shared/domain/enumerations.ts'
import {
  type AccountFindings,
  type AccountQuestion,
  type AccountReader,
  type BlockPlace,
  growthBetween,
  type Holdings,
} from '#shared/ports/account-reader.ts'
import type { SimBlock } from './chain.ts'
import type { SimTransfer } from './sim-transfer.ts'

/** The coin and the tokens of account chains. */
const ASSETS: readonly AssetId[] = ['eth_ethereum', 'usdt_ethereum', 'usdc_ethereum']
/** A node that drops old balances keeps those of so many blocks. */
const KEPT_BLOCKS = 40

/** What a node shows of its branch. */
export interface BranchView {
  block(height: number): SimBlock | null
  readonly head: number
}

/** Where the questions of an account reader go. */
export interface AccountNodes {
  /** The answer of the node in use. */
  request<T>(what: string, answer: (view: BranchView) => T): Promise<T>
  /** The answers of all nodes. */
  each<T>(what: string, answer: (view: BranchView) => T): Promise<readonly T[]>
  /** What the node adds to the time of its newest block, milliseconds: mostly nothing. */
  aheadMs(): number
  /** Whether balances of old blocks are gone. */
  readonly isPruned: boolean
}

type Answer = AccountFindings | 'forked' | 'gone'

/** Balances of the simulated account chains: what each account received, without what was moved on. */
export function createSimAccounts({ request, each, aheadMs, isPruned }: AccountNodes): AccountReader {
  return {
    assets: ASSETS,
    glance: (matchKeys) =>
      request('glance', (view) => ({
        time: (view.block(view.head)?.time ?? 0) + aheadMs(),
        holdings: holdingsAt(view, matchKeys, view.head),
      })),
    async touched(question) {
      const answer = (view: BranchView) => search(view, question, isPruned)
      if (question.everywhere !== true) return request('touched', answer)
      return united(await each('touched everywhere', answer))
    },
    async everywhere(matchKeys, at) {
      const answers = await each('figures everywhere', (view) =>
        has(view, at) && !(isPruned && at.height < view.head - KEPT_BLOCKS)
          ? stateAt(view, matchKeys, at.height)
          : null,
      )
      return answers.flatMap((answer) => answer ?? [])
    },
    received: async ({ from, to, matchKeys }) =>
      request('logs', (view) =>
        heightsBetween(from, Math.min(to, view.head)).filter((height) =>
          transfersOf(view, height).some(({ matchKey, asset }) => asset !== ASSETS[0] && matchKeys.includes(matchKey)),
        ),
      ),
  }
}

function search(view: BranchView, question: AccountQuestion, isPruned: boolean): Answer {
  const { from, to, matchKeys, others = [], senders, exactly, before, stored, budget } = question
  if (!has(view, from) || !has(view, to)) return 'forked'
  const keys = [...matchKeys, ...others]
  const after = stateAt(view, keys, to.height, senders)
  const isSame = before !== undefined && keys.every((key) => areEqual(before.get(key), after.get(key)))
  if (!isSame && isPruned && from.height < view.head - KEPT_BLOCKS) return 'gone'
  const start = isSame ? before : stateAt(view, keys, from.height, senders)
  const isStored = (key: string) =>
    growthOf(start, after, key).every((base, at) => base === (stored?.get(key)?.[at] ?? 0n))
  const hasSent = (key: string) => start.get(key)?.at(-1) !== after.get(key)?.at(-1)
  const moved = keys.filter(
    (key) => !areEqual(start.get(key), after.get(key)) && (exactly || hasSent(key) || !isStored(key)),
  )
  const range = heightsBetween(from.height, to.height)
  // Logs show tokens whatever became of them.
  const logged = (key: string, asset: AssetId | null) =>
    range
      .flatMap((height) => transfersOf(view, height))
      .filter((one) => one.matchKey === key && one.asset === asset)
      .reduce((sum, { amountBase }) => sum + amountBase, 0n)
  const isNews = ({ matchKey, asset }: SimTransfer) =>
    asset !== null &&
    asset !== ASSETS[0] &&
    matchKeys.includes(matchKey) &&
    (exactly || logged(matchKey, asset) !== stored?.get(matchKey)?.[ASSETS.indexOf(asset)])
  const heights = range.filter((height) =>
    transfersOf(view, height).some((one) => isNews(one) || moved.includes(one.matchKey)),
  )
  const through = heights.length < budget.blocks ? to.height : (heights[budget.blocks - 1] ?? to.height)
  const state = stateAt(view, keys, through, senders)
  const holdings = new Map([...state].map(([key, figures]) => [key, figures.slice(0, ASSETS.length)]))
  const growth = new Map(moved.map((key) => [key, growthOf(start, state, key)]))
  const found = heights.slice(0, budget.blocks)
  return { heights: found, through, withLogs: true, start, holdings, state, ...(!exactly && { growth }) }
}

/** What any node found; nodes without the blocks or balances do not count while another one has them. */
function united(answers: readonly Answer[]): Answer {
  const found = answers.flatMap((answer) => (typeof answer === 'string' ? [] : [answer]))
  const [first] = found
  if (first === undefined) return answers.includes('gone') ? 'gone' : 'forked'
  const least = found.reduce((one, other) => (other.through < one.through ? other : one))
  const heights = [...new Set(found.flatMap((one) => one.heights))].sort((one, other) => one - other)
  return { ...least, heights: heights.filter((height) => height <= least.through) }
}

const heightsBetween = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => from + 1 + at)

const has = (view: BranchView, { height, hash }: BlockPlace): boolean => view.block(height)?.hash === hash

const transfersOf = (view: BranchView, height: number) =>
  (view.block(height)?.txs ?? []).flatMap(({ transfers }) => transfers)

/** Balances by the chain's own order: nobody can give away what is not there. */
export function holdingsAt(view: BranchView, matchKeys: readonly string[], height: number): Holdings {
  const figures = new Map(matchKeys.map((key) => [key, ASSETS.map(() => 0n)]))
  const change = (matchKey: string, asset: AssetId | null, byBase: bigint): void => {
    const row = figures.get(matchKey)
    const column = asset === null ? -1 : ASSETS.indexOf(asset)
    const sum = (row?.[column] ?? 0n) + byBase
    if (row !== undefined && column >= 0 && sum >= 0n) row[column] = sum
  }
  for (let at = 0; at <= height; at += 1) {
    for (const { transfers, outflow } of view.block(at)?.txs ?? []) {
      for (const { matchKey, asset, amountBase } of transfers) change(matchKey, asset, amountBase)
      if (outflow !== null) change(outflow.matchKey, outflow.asset, -outflow.amountBase)
    }
  }
  return figures
}

/** Balances, and behind them the number of transactions that `senders` sent. */
function stateAt(
  view: BranchView,
  matchKeys: readonly string[],
  height: number,
  senders: readonly string[] = matchKeys,
): Holdings {
  const sent = new Map<string, bigint>()
  for (let at = 0; at <= height; at += 1) {
    for (const { outflow } of view.block(at)?.txs ?? []) {
      if (outflow?.byOwner === true && senders.includes(outflow.matchKey))
        sent.set(outflow.matchKey, (sent.get(outflow.matchKey) ?? 0n) + 1n)
    }
  }
  return new Map([...holdingsAt(view, matchKeys, height)].map(([key, row]) => [key, [...row, sent.get(key) ?? 0n]]))
}

const growthOf = (before: Holdings, after: Holdings, key: string): readonly bigint[] =>
  ASSETS.map((_, at) => growthBetween(before.get(key)?.[at], after.get(key)?.[at]) ?? 0n)

const areEqual = <T>(one: readonly T[] = [], other: readonly T[] = []): boolean =>
  one.length === other.length && one.every((value, at) => value === other[at])

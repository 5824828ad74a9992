import {
  type AccountFindings,
  type AccountQuestion,
  type AccountReader,
  type BlockPlace,
  CODE_MARK,
  type Figure,
  growthBetween,
  type Holdings,
  isRead,
  type Sums,
} from '#shared/ports/account-reader.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { required } from '../../nodes/needs.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { type AccountLogs, checkGrowth, createAccountLogs, isLogged, loggedHeights, sumsOf } from './account-logs.ts'
import { createHoldingsReader, type HoldingsReader, holdingsAt } from './holdings.ts'
import type { EvmClientOptions } from './options.ts'
import { readHeader, toQuantity } from './rpc.ts'
import type { Log } from './wire.ts'

/** A newest block this much older than one seen before is that of a node that fell behind, milliseconds … */
const BEHIND_MS = 30_000
/** … for this long at most: a time that no other answer confirms was wrong. */
const NEWEST_MS = 60_000

/** Requests for logs of a range in which a token gave no balance, at least: more of them begin again too often when one fails. */
const UNKNOWN_LOGS_MAX = 100

type Findings = AccountFindings | 'forked' | 'gone'

/** Chooses blocks by balances, and by logs of tokens to the accounts. All answers about a range come from one node. */
export function createAccountReader(
  { tokens, nativeAsset, chain, mode }: Pick<EvmClientOptions, 'tokens' | 'nativeAsset' | 'chain' | 'mode'>,
  pool: RpcPool<RpcNode>,
  now: () => number = Date.now,
): AccountReader {
  const contracts = tokens.map(({ contract }) => contract.toLowerCase())
  const tools: Tools = {
    contracts,
    holdings: createHoldingsReader({ tokens: contracts, mayLackTokens: mode === 'test' }),
    logs: createAccountLogs(contracts),
    numbersAreParents: chain.numbersAreParents === true,
  }
  const checkNewest = createNewestCheck(now)

  return {
    assets: [nativeAsset, ...tokens.map(({ asset }) => asset)],
    glance: (matchKeys) =>
      pool.use(async (node) => {
        const seen = required(await tools.holdings.read(node, matchKeys, 'latest'), 'newest balances')
        checkNewest(node, seen.time)
        return seen
      }),
    async touched(question) {
      const { to, exactly } = question
      const request = (node: RpcNode) => findingsOf(node, tools, question)
      // Where the cursor waits for the answer, whole blocks say as much: they are read at once.
      if (question.everywhere === true) return united(await pool.each(request, 'balances', to.height))
      const search = exactly ? undefined : 'balances'
      return pool.use(request, { height: to.height, settles: (found) => found !== 'gone', search })
    },
    everywhere: async (matchKeys, at) => {
      const question = { matchKeys, senders: matchKeys, block: at }
      const answers = await pool.each((node) => stateAt(node, tools, question), 'balances', at.height)
      return answers.flatMap((answer) => answer ?? [])
    },
    received: async (range) => {
      const answers = await pool.each((node) => tools.logs.read(node, range), 'logs', range.to)
      const logs = answers.flatMap((answer) => answer ?? [])
      return answers.every((answer) => answer === null) ? null : loggedHeights(logs)
    },
  }
}

interface Tools {
  readonly contracts: readonly string[]
  readonly holdings: HoldingsReader
  readonly logs: AccountLogs
  /** Contracts see the numbers of a parent chain's blocks (Arbitrum): only times show which block an answer is about. */
  readonly numbersAreParents: boolean
}

/**
 * Refuses a newest block that is older than one seen in the last minute. Times in the future count as now, so that one wrong answer
 * keeps honest ones away for a minute at most.
 */
function createNewestCheck(now: () => number): (node: RpcNode, time: number) => void {
  let newest = { time: 0, seenAt: 0 }
  return (node, time) => {
    const at = now()
    const isCurrent = Math.abs(at - newest.seenAt) < NEWEST_MS
    if (isCurrent && time < newest.time - BEHIND_MS) throw new NodeUnreliable(`the node at ${node.host} fell behind`)
    if (!isCurrent || time >= newest.time) newest = { time: Math.min(time, at), seenAt: at }
  }
}

/** What any of the nodes found; those that lack blocks or balances do not count while another one has them. */
function united(answers: readonly Findings[]): Findings {
  const found = answers.flatMap((answer) => (typeof answer === 'string' ? [] : [answer]))
  const [first] = found
  if (first === undefined) return answers.includes('gone') ? 'gone' : 'forked'
  const least = found.reduce((one, other) => (other.through < one.through ? other : one))
  const heights = ascending(found.flatMap((one) => one.heights)).filter((height) => height <= least.through)
  const withLogs = found.some((one) => one.withLogs)
  return { ...least, heights, withLogs, ...(first.growth !== undefined && { growth: largest(found) }) }
}

/** The largest growth that any node reports. */
function largest(found: readonly AccountFindings[]): Sums {
  const all = new Map<string, readonly bigint[]>()
  for (const [matchKey, figures] of found.flatMap(({ growth }) => [...(growth ?? [])])) {
    const known = all.get(matchKey)
    all.set(
      matchKey,
      figures.map((base, at) => (known?.[at] !== undefined && known[at] > base ? known[at] : base)),
    )
  }
  return all
}

async function findingsOf(node: RpcNode, tools: Tools, question: AccountQuestion): Promise<Findings> {
  const { from, to, matchKeys, others = [], exactly } = question
  if (!(await hasBlock(node, from))) return 'forked'
  const ends = await readEnds(node, tools, question)
  if (ends === 'gone') return 'gone'
  // Money of a token that cannot be asked for balances shows in its logs alone.
  const isUnknown = hasUnknown(ends)
  const requests = isUnknown ? Math.max(UNKNOWN_LOGS_MAX, question.budget.logs) : question.budget.logs
  const range = { from: from.height, to: to.height, matchKeys, requests }
  const received = await tools.logs.read(node, range)
  if (received === null && isUnknown) return 'gone'
  const sums = received === null ? new Map<string, bigint>() : sumsOf(received)
  if (received !== null) checkGrowth(node, { contracts: tools.contracts, matchKeys, ends, sums })
  const moved = [...matchKeys, ...others].filter(
    (matchKey) =>
      differs(question, ends.before.get(matchKey), ends.after.get(matchKey)) &&
      (exactly || hasSent(ends, matchKey) || !isStored(question.stored?.get(matchKey), ends, matchKey)),
  )
  const isNews = (log: Log) => exactly || !isLogged(tools.contracts, question.stored, sums, log)
  const news = received === null ? null : received.filter(isNews)
  const found = await findChanges(node, tools, { question, moved, ends, received: news })
  // Answers by height are about this branch only if the node still is on it.
  const isByHeight = moved.length > 0 || received !== null || question.senders.length > 0
  if (isByHeight && !(await hasBlock(node, to))) return 'forked'
  const { state } = found
  const growth = new Map(moved.map((matchKey) => [matchKey, growthOf(ends.before, state, matchKey)]))
  return {
    ...found,
    withLogs: received !== null,
    start: ends.before,
    holdings: new Map([...state].map(([key, figures]) => [key, figures.slice(0, tools.contracts.length + 1)])),
    ...(!exactly && { growth }),
  }
}

/** Balances at both ends; behind them whether the account has code and, where that was requested, how many transactions it has sent. */
interface Ends {
  readonly before: Holdings
  readonly after: Holdings
}

async function readEnds(node: RpcNode, tools: Tools, question: AccountQuestion): Promise<Ends | 'gone'> {
  const { from, to, matchKeys, others = [], senders, before: known } = question
  const all = [...matchKeys, ...others]
  const remembered = known !== undefined && all.every((matchKey) => known.has(matchKey)) ? known : null
  const first = () => stateAt(node, tools, { matchKeys: all, senders, block: from })
  // The older state comes first: a node that has dropped it is asked for nothing else.
  const then = remembered ?? (await first())
  const after = then === null ? null : await stateAt(node, tools, { matchKeys: all, senders, block: to })
  if (then === null || after === null) return 'gone'
  // What was remembered may come from another node: a difference counts only against balances of this one, while it has them.
  const isSame = then !== remembered || all.every((matchKey) => same(then.get(matchKey), after.get(matchKey)))
  const before = isSame ? then : await first()
  return before === null ? 'gone' : { before, after }
}

interface StateQuestion {
  readonly matchKeys: readonly string[]
  readonly senders: readonly string[]
  /** With its hash and time where those are known. */
  readonly block: { readonly height: number; readonly hash?: string; readonly time?: number }
}

/** Null when the node has dropped the state. Throws `NodeUnreliable` when its answer is about another block than the one that was named. */
async function stateAt(
  node: RpcNode,
  { holdings, numbersAreParents }: Tools,
  { matchKeys, senders, block }: StateQuestion,
): Promise<Holdings | null> {
  const place = numbersAreParents && block.hash === undefined ? await placeAt(node, block.height) : block
  const { height, hash, time } = place
  const held =
    hash === undefined
      ? await holdings.read(node, matchKeys, toQuantity(height))
      : await holdingsAt(holdings, node, matchKeys, { height, hash, time, numbersAreParents })
  const sent = held === null ? null : await holdings.sent(node, senders, toQuantity(height))
  if (held === null || sent === null) return null
  const isNamed = numbersAreParents || held.number === height
  if (matchKeys.length > 0 && (!isNamed || (time !== undefined && held.time !== time))) {
    throw new NodeUnreliable(`the node at ${node.host} gave balances of another block than ${height}`)
  }
  return new Map(
    matchKeys.map((matchKey) => {
      const mark = BigInt(sent.get(matchKey) ?? 0) + (held.withCode.has(matchKey) ? CODE_MARK : 0n)
      return [matchKey, [...(held.holdings.get(matchKey) ?? []), mark]]
    }),
  )
}

const hasUnknown = ({ before, after }: Ends): boolean =>
  [before, after].some((end) => [...end.values()].some((figures) => !figures.every(isRead)))

/** An unknown figure equals none, so an account that has one differs, unless both ends are one reading. */
const same = (one: readonly Figure[] = [], other: readonly Figure[] = []): boolean =>
  one.length === other.length && one.every((base, at) => base === other[at])

/** Whether figures moved by at least what counts; what stands behind the balances counts from one on. Halving cannot place unknown ones. */
function differs(
  { least }: Pick<AccountQuestion, 'least'>,
  then: readonly Figure[] = [],
  now: readonly Figure[] = [],
): boolean {
  if (then.length !== now.length) return true
  return then.some((figure, at) => {
    const change = growthBetween(figure, now[at]) ?? 0n
    const size = change < 0n ? -change : change
    return size > 0n && size >= (least[at] ?? 1n)
  })
}

const growthOf = (before: Holdings, after: Holdings, matchKey: string): readonly bigint[] =>
  (after.get(matchKey) ?? []).map((figure, at) => growthBetween(before.get(matchKey)?.[at], figure) ?? 0n)

/** Whether the account sent something in the range, or its code changed. */
const hasSent = ({ before, after }: Ends, matchKey: string): boolean =>
  before.get(matchKey)?.at(-1) !== after.get(matchKey)?.at(-1)

function isStored(stored: readonly bigint[] | undefined, { before, after }: Ends, matchKey: string): boolean {
  const [then = [], now = []] = [before.get(matchKey), after.get(matchKey)]
  return stored?.every((base, at) => growthBetween(then[at], now[at]) === base) ?? false
}

interface ChangeQuestion {
  readonly question: AccountQuestion
  /** Accounts whose figures differ at both ends. */
  readonly moved: readonly string[]
  readonly ends: Ends
  /** Logs that place every token; null: balances must. */
  readonly received: readonly Log[] | null
}

type Changes = Pick<AccountFindings, 'heights' | 'through' | 'state'>

/**
 * Heights at which the state of the accounts differs from that of the block below, from left to right until the budget is used up, and the
 * state where the search ended.
 */
async function findChanges(
  node: RpcNode,
  tools: Tools,
  { question, moved, ends, received }: ChangeQuestion,
): Promise<Changes> {
  const { from, to, matchKeys, others = [], senders, budget, hint = from.height } = question
  const all = { matchKeys: [...matchKeys, ...others], senders }
  const logged = loggedHeights(received ?? [])
  const stateOf = async (height: number): Promise<Holdings> => {
    if (height === to.height) return ends.after
    const state = await stateAt(node, tools, { ...all, block: { height } })
    if (state === null) throw new NodeUnreliable(`the node at ${node.host} lacks balances between two that it has`)
    return state
  }
  const end = Math.min(to.height, logged[budget.blocks - 1] ?? to.height)
  const last = await stateOf(end)
  // With logs, tokens are placed already.
  const figures = (state: Holdings, matchKey: string) => {
    const own = state.get(matchKey) ?? []
    return received === null ? own : [own[0] ?? 0n, ...own.slice(tools.contracts.length + 1)]
  }
  const least = received === null ? question.least : question.least.slice(0, 1)
  const changed = (before: Holdings, after: Holdings) =>
    moved.some((matchKey) => differs({ least }, figures(before, matchKey), figures(after, matchKey)))
  const found: number[] = []
  let [through, state, reads] = [from.height, ends.before, 0]
  /** False when the budget is used up. */
  async function halve(low: number, before: Holdings, high: number, after: Holdings): Promise<boolean> {
    const isChanged = changed(before, after)
    if (!isChanged || high - low === 1) {
      if (isChanged) found.push(high)
      through = high
      state = after
      return found.length < budget.blocks
    }
    if (reads >= budget.reads && through > from.height) return false
    reads += 1
    const height = low < hint && hint < high ? hint : Math.floor((low + high) / 2)
    const middle = await stateOf(height)
    return (await halve(low, before, height, middle)) && (await halve(height, middle, high, after))
  }
  await halve(from.height, ends.before, end, last)
  const heights = ascending([...logged.filter((height) => height <= through), ...found])
  const cut = heights[budget.blocks - 1] ?? through
  if (cut >= through) return { heights, through, state }
  return { heights: heights.slice(0, budget.blocks), through: cut, state: await stateOf(cut) }
}

const ascending = (heights: readonly number[]): readonly number[] =>
  [...new Set(heights)].sort((one, other) => one - other)

async function hasBlock(node: RpcNode, { height, hash }: BlockPlace): Promise<boolean> {
  return (await node.hashAt(height)) === hash
}

async function placeAt(node: RpcNode, height: number): Promise<BlockPlace> {
  const header = required(await readHeader(node, height), `block ${height}`)
  return { height, hash: header.hash, time: header.timestamp * 1_000 }
}

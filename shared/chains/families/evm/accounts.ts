import type {
  AccountFindings,
  AccountQuestion,
  AccountReader,
  BlockPlace,
  Figure,
  Holdings,
  Sums,
} from '#shared/ports/account-reader.ts'
import { isRead } from '#shared/ports/account-reader.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { TRANSFER_TOPIC } from './extract.ts'
import { createHoldingsReader, type HoldingsReader } from './holdings.ts'
import type { EvmClientOptions } from './options.ts'
import { createLogReader, LOG_RANGE_MAX, type LogReader } from './read-logs.ts'
import { toQuantity } from './rpc.ts'
import { headerSchema, type Log } from './wire.ts'

/** Accounts of one request for logs. */
const RECIPIENTS_MAX = 100
/** A newest block this much older than one seen before is that of a node that fell behind, milliseconds. */
const BEHIND_MS = 30_000

type Findings = AccountFindings | 'forked' | 'gone'

/** Chooses blocks by logs of tokens to the accounts and by balances. All answers about a range come from one node. */
export function createAccountReader(
  { tokens, nativeAsset, mode }: Pick<EvmClientOptions, 'tokens' | 'nativeAsset' | 'mode'>,
  pool: RpcPool<RpcNode>,
): AccountReader {
  const contracts = tokens.map(({ contract }) => contract.toLowerCase())
  const holdings = createHoldingsReader({ tokens: contracts, mayLackTokens: mode === 'test' })
  const logs = createLogReader({ contracts, topics: [TRANSFER_TOPIC], rangeMax: LOG_RANGE_MAX })
  const tools: Tools = { contracts, holdings, logs }
  let newestTime = 0

  return {
    assets: [nativeAsset, ...tokens.map(({ asset }) => asset)],
    glance: (matchKeys) =>
      pool.use(async (node) => {
        const seen = await holdings.read(node, matchKeys, 'latest')
        if (seen === null) throw new NodeUnreliable(`the node at ${node.host} does not have its newest balances`)
        if (seen.time < newestTime - BEHIND_MS) throw new NodeUnreliable(`the node at ${node.host} fell behind`)
        newestTime = Math.max(newestTime, seen.time)
        return seen
      }),
    async touched(question) {
      const { to } = question
      const ask = (node: RpcNode) => search(node, tools, question)
      if (question.everywhere !== true) return pool.use(ask, { height: to.height })
      return united(await pool.each(ask), question)
    },
  }
}

interface Tools {
  readonly contracts: readonly string[]
  readonly holdings: HoldingsReader
  readonly logs: LogReader
}

/** What any of the nodes found; those that lack blocks or balances do not count while another one has them. */
function united(answers: readonly Findings[], { exactly, matchKeys }: AccountQuestion): Findings {
  const found = answers.flatMap((answer) => (typeof answer === 'string' ? [] : [answer]))
  const [first] = found
  if (first === undefined) return answers.includes('gone') ? 'gone' : 'forked'
  const coinsOf = ({ start }: AccountFindings) => matchKeys.map((matchKey) => start.get(matchKey)?.[0])
  // Money in earlier ranges, which one node read, shows as a difference here and as no change in this range.
  if (exactly && found.some((one) => coinsOf(one).some((base, at) => base !== coinsOf(first)[at]))) {
    throw new NodeUnreliable('the nodes disagree about balances at the cursor')
  }
  const heights = ascending(found.flatMap((one) => one.heights))
  return { ...first, heights, ...(first.growth !== undefined && { growth: largest(found) }) }
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

async function search(node: RpcNode, tools: Tools, question: AccountQuestion): Promise<Findings> {
  const { from, to, matchKeys, others = [] } = question
  if (!(await hasBlock(node, from))) return 'forked'
  const ends = await readEnds(node, tools, question)
  if (ends === 'gone') return 'gone'
  // Money of a token that cannot be asked for balances is in its logs.
  const received = question.exactly || hasUnknown(ends) ? await readLogs(node, tools.logs, question) : []
  if (question.exactly) checkGrowth(node, { contracts: tools.contracts, matchKeys, ends, logs: received })
  const moved = [...matchKeys, ...others].filter((matchKey) => {
    if (same(ends.before.get(matchKey), ends.after.get(matchKey))) return false
    return question.exactly || !isStored(question.stored?.get(matchKey), ends, matchKey)
  })
  const coins = question.exactly ? moved.filter((matchKey) => coinMoved(ends, matchKey)) : moved
  const changed = await findChanges(node, tools.holdings, { question, matchKeys: coins, ends })
  // The answers by height above are about this branch only if the node still is on it.
  if (!(await hasBlock(node, to))) return 'forked'
  return {
    heights: ascending([...received.map(({ blockNumber }) => blockNumber), ...changed]),
    start: ends.before,
    holdings: new Map([...ends.after].map(([key, figures]) => [key, figures.slice(0, tools.contracts.length + 1)])),
    state: ends.after,
    ...(!question.exactly && { growth: new Map(moved.map((matchKey) => [matchKey, growthOf(ends, matchKey)])) }),
  }
}

/** Balances at both ends; behind them, where that was asked, how many transactions the account has sent. */
interface Ends {
  readonly before: Holdings
  readonly after: Holdings
}

async function readEnds(node: RpcNode, tools: Tools, question: AccountQuestion): Promise<Ends | 'gone'> {
  const { from, to, matchKeys, others = [], before: known } = question
  const all = [...matchKeys, ...others]
  const senders = sendersOf(question, all)
  const hasAll = known !== undefined && all.every((matchKey) => known.has(matchKey))
  const after = await stateAt(node, tools.holdings, { matchKeys: all, senders, block: to })
  // What was remembered may come from another node: a difference counts only against balances of this one.
  const isSame = hasAll && after !== null && all.every((matchKey) => same(known.get(matchKey), after.get(matchKey)))
  const before = isSame ? known : await stateAt(node, tools.holdings, { matchKeys: all, senders, block: from })
  return before === null || after === null ? 'gone' : { before, after }
}

/** Those of the accounts whose number of sent transactions counts. */
const sendersOf = ({ exactly, matchKeys }: AccountQuestion, among: readonly string[]): readonly string[] =>
  exactly ? matchKeys.filter((matchKey) => among.includes(matchKey)) : []

interface StateQuestion {
  readonly matchKeys: readonly string[]
  readonly senders: readonly string[]
  /** With its hash where that is known. */
  readonly block: { readonly height: number; readonly hash?: string }
}

async function stateAt(
  node: RpcNode,
  reader: HoldingsReader,
  { matchKeys, senders, block: { height, hash } }: StateQuestion,
): Promise<Holdings | null> {
  const held = await reader.read(node, matchKeys, hash === undefined ? toQuantity(height) : { blockHash: hash })
  const sent = await reader.sent(node, senders, toQuantity(height))
  if (held === null || sent === null) return null
  return new Map(
    matchKeys.map((matchKey) => {
      return [matchKey, [...(held.holdings.get(matchKey) ?? []), BigInt(sent.get(matchKey) ?? 0)]]
    }),
  )
}

async function readLogs(node: RpcNode, reader: LogReader, question: AccountQuestion): Promise<readonly Log[]> {
  const { from, to, matchKeys } = question
  const found: Log[] = []
  for (let start = 0; start < matchKeys.length; start += RECIPIENTS_MAX) {
    const recipients = matchKeys.slice(start, start + RECIPIENTS_MAX).map((key) => `0x${key.padStart(64, '0')}`)
    found.push(...(await reader.range(node, from.height + 1, to.height, recipients)))
  }
  return found
}

/** A token balance that grew by more than the logs show proves that logs are missing. */
function checkGrowth(
  node: RpcNode,
  {
    contracts,
    matchKeys,
    ends,
    logs,
  }: Pick<Tools, 'contracts'> &
    Pick<AccountQuestion, 'matchKeys'> & { readonly ends: Ends; readonly logs: readonly Log[] },
): void {
  const received = new Map<string, bigint>()
  for (const { address, topics, data } of logs) {
    const id = `${address.toLowerCase()}:${(topics[2] ?? '').slice(-40)}`
    received.set(id, (received.get(id) ?? 0n) + BigInt(data.length >= 66 ? data.slice(0, 66) : '0x0'))
  }
  for (const matchKey of matchKeys) {
    const after = ends.after.get(matchKey) ?? []
    for (const [at, contract] of contracts.entries()) {
      const [then = 0n, now = 0n] = [ends.before.get(matchKey)?.[at + 1], after[at + 1]]
      if (!isRead(then) || !isRead(now)) continue
      if (now - then > (received.get(`${contract}:${matchKey}`) ?? 0n)) {
        throw new NodeUnreliable(`the node at ${node.host} left out logs of a token`)
      }
    }
  }
}

const hasUnknown = ({ before, after }: Ends): boolean =>
  [before, after].some((end) => [...end.values()].some((figures) => !figures.every(isRead)))

/** An unknown figure equals none, so an account that has one differs, unless both ends are one reading. */
const same = (one: readonly Figure[] = [], other: readonly Figure[] = []): boolean =>
  one.length === other.length && one.every((base, at) => base === other[at])

/** The same without the figures that are unknown at one end: halving would not place their changes. */
const sameAsRead = (one: readonly Figure[] = [], other: readonly Figure[] = []): boolean =>
  one.length === other.length &&
  one.every((base, at) => {
    const there = other[at]
    return base === there || !isRead(base) || (there !== undefined && !isRead(there))
  })

/** Tokens are in the logs; what logs do not show is the coin, and that the account sent something. */
function coinMoved({ before, after }: Ends, matchKey: string): boolean {
  const [then = [], now = []] = [before.get(matchKey), after.get(matchKey)]
  return then[0] !== now[0] || then.at(-1) !== now.at(-1)
}

function growthOf({ before, after }: Ends, matchKey: string): readonly bigint[] {
  const then = before.get(matchKey) ?? []
  return (after.get(matchKey) ?? []).map((base, at) => differenceOf(then[at], base) ?? 0n)
}

/** Null where one of them is unknown. */
const differenceOf = (then: Figure = 0n, now: Figure = 0n): bigint | null =>
  isRead(then) && isRead(now) ? now - then : null

function isStored(stored: readonly bigint[] | undefined, { before, after }: Ends, matchKey: string): boolean {
  const [then = [], now = []] = [before.get(matchKey), after.get(matchKey)]
  return stored?.every((base, at) => differenceOf(then[at], now[at]) === base) ?? false
}

/** Heights at which the state of the accounts differs from that of the block below; halves ranges whose ends differ. */
async function findChanges(
  node: RpcNode,
  reader: HoldingsReader,
  { question, matchKeys, ends }: { question: AccountQuestion; matchKeys: readonly string[]; ends: Ends },
): Promise<readonly number[]> {
  const { from, to, exactly } = question
  const senders = sendersOf(question, matchKeys)
  const found: number[] = []
  async function halve(low: number, before: Holdings, high: number, after: Holdings): Promise<void> {
    if (matchKeys.every((matchKey) => !differs(exactly, before.get(matchKey), after.get(matchKey)))) return
    if (high - low === 1) {
      found.push(high)
      return
    }
    const height = Math.floor((low + high) / 2)
    const middle = await stateAt(node, reader, { matchKeys, senders, block: { height } })
    if (middle === null) throw new NodeUnreliable(`the node at ${node.host} lacks balances between two that it has`)
    await halve(low, before, height, middle)
    await halve(height, middle, high, after)
  }
  await halve(from.height, ends.before, to.height, ends.after)
  return found
}

/** With logs, tokens are placed already. */
function differs(exactly: boolean, then: readonly Figure[] = [], now: readonly Figure[] = []): boolean {
  return exactly ? then[0] !== now[0] || then.at(-1) !== now.at(-1) : !sameAsRead(then, now)
}

const ascending = (heights: readonly number[]): readonly number[] =>
  [...new Set(heights)].sort((one, other) => one - other)

async function hasBlock(node: RpcNode, { height, hash }: BlockPlace): Promise<boolean> {
  const header = await node.call('eth_getBlockByNumber', [toQuantity(height), false], headerSchema.nullable())
  return header?.hash === hash
}

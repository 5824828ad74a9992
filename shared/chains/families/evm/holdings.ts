import { type Figure, type Holdings, UnknownFigure } from '#shared/ports/account-reader.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { createAvoidance } from '../../nodes/avoidance.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { required } from '../../nodes/needs.ts'
import { nullWhere } from '../../nodes/null-where.ts'
import { createPersistence } from '../../nodes/persistence.ts'
import { type FailureKind, RpcDenial, RpcFailure } from '../../nodes/rpc-failure.ts'
import { TIME_MAX_MS } from '../time-max.ts'
import { answersFromNewest } from './answers-from-newest.ts'
import { toQuantity } from './rpc.ts'
import { bytesSchema, headerSchema, heightSchema, quantitySchema } from './wire.ts'

/** Balances per request: 32 bytes each, below the limit of created code (EIP-170: 24,576 bytes). */
const CHUNK = 300
/** Concurrent single requests. */
const CONCURRENCY = 8
/** Selector of `balanceOf(address)`, EIP-20. */
const BALANCE_OF = '0x70a08231'
const WORD = 64
/** Lower half of the first word: the time. */
const WORD_HALF = (1n << 64n) - 1n
/** Stands in the answer of `READ_HOLDINGS` for a token that does not answer. */
const ALL_ONES = (1n << 256n) - 1n
/** Marks the coin's balance of an account that has code: no balance is as large. */
const HAS_CODE = 1n << 255n
/** After these the same balances are requested one by one: the node may not serve the request in this form. */
const OTHERWISE: ReadonlySet<FailureKind> = new Set<FailureKind>(['refused', 'split', 'unclear'])

/**
 * Code of a contract whose creation returns the time and number of the block, which prove that the node answered about the block that
 * was named, and then one word for each pair of words after its own code:
 * `balanceOf` of the second at the token of the first, or `BALANCE` where the first is zero, with the highest bit set where the account has
 * code; all ones where a token does not answer within 200,000 gas. Sent with `eth_call` and without a receiver, it is stored nowhere, so no contract has to be on the
 * chain or be trusted. The first byte returned is zero, as code must not begin with 0xEF (EIP-3541).
 */
const READ_HOLDINGS = [
  // n = codesize - 136; codecopy(0x80, 136, n)
  '0x608838038060',
  '88608039',
  // mstore(0, selector << 224); i = 0
  '6370a0823160e01b6000526000',
  // while i < n
  '5b81811015607457',
  // account = mload(0xa0 + i); token = mload(0x80 + i)
  '8060a001518160800151',
  // word = token != 0 ? ask(token) : balance(account) | (extcodesize(account) > 0) << 255
  '80604757508031903b151560ff1b17',
  // mstore(0xa0 + i / 2, word); i += 64
  '5b8160011c60a00152604001601756',
  // ask: mstore(4, account); ok = staticcall(200000, token, 0, 36, 0x40, 32) and returndatasize > 31
  '5b9060045260206040602460008462030d40fa601f3d11169050',
  // word = ok ? mload(0x40) : not(0)
  '80606c57506000196038565b50604051603856',
  // mstore(0x80, timestamp | number << 64); return(0x80, n / 2 + 32)
  '5b424360401b176080525060011c6020016080f3',
].join('')

/** A block by its hash (EIP-1898) or height, or the newest one. */
export type BlockTag = { readonly blockHash: string } | string

/** Balances of accounts at a block, as its own answer states it: of several answers about the newest block, the oldest; `NaN` where those about a named one differ. */
export interface TimedHoldings {
  /** Milliseconds. */
  readonly time: number
  /** Its height; on networks whose contracts see the number of a parent chain's block (Arbitrum), that one. */
  readonly number: number
  readonly holdings: Holdings
  /** Accounts that have code: contract wallets, and keys that gave their account to a contract (EIP-7702). */
  readonly withCode: ReadonlySet<string>
}

/**
 * Reads balances of the coin and of tokens from one node. What was not read has no figure: a token whose contract fails is an
 * `UnknownFigure`, and every other failure is thrown. Both methods return `null` when this node does not serve the state of a
 * block that old: it states so, or it has refused such questions for 20 s while it serves the same one about its newest block.
 */
export interface HoldingsReader {
  read(node: RpcNode, matchKeys: readonly string[], block: BlockTag): Promise<TimedHoldings | null>
  /** Numbers of transactions that the accounts have sent. */
  sent(node: RpcNode, matchKeys: readonly string[], block: BlockTag): Promise<ReadonlyMap<string, number> | null>
  /** Requests as many balances of the newest block at once as `read` does. Throws when the node does not serve them in that form. */
  readTogether(node: RpcNode): Promise<void>
}

/** Contracts, lower case. */
interface HoldingsOptions {
  readonly tokens: readonly string[]
  /** A network of test mode may lack some of the tokens; elsewhere a token without code is a node that lacks state. */
  readonly mayLackTokens: boolean
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

/** Requests 300 balances at once, and one by one where a node does not run the code. */
export function createHoldingsReader({ now, ...options }: HoldingsOptions): HoldingsReader {
  const { tokens } = options
  const together = createAvoidance<RpcNode>(now)
  const oldState = createPersistence<RpcNode>(now)
  const width = tokens.length + 1
  const perRequest = Math.max(1, Math.floor(CHUNK / width))

  async function readChunk(node: RpcNode, accounts: readonly string[], block: BlockTag): Promise<TimedRows> {
    if (together.isAvoided(node)) return readSingly(node, options, accounts, block)
    try {
      const rows = await readTogether(node, options, accounts, block)
      together.worked(node)
      return rows
    } catch (error) {
      // The next time in smaller requests, each of which has the whole time.
      if (error instanceof RpcFailure && error.kind === 'late') together.failed(node)
      const mayServeParts = error instanceof RpcDenial || (error instanceof RpcFailure && OTHERWISE.has(error.kind))
      if (!mayServeParts) throw error
      const singly = await readSingly(node, options, accounts, block)
      together.failed(node)
      return singly
    }
  }

  async function readAll(node: RpcNode, matchKeys: readonly string[], block: BlockTag): Promise<TimedHoldings> {
    const holdings = new Map<string, readonly Figure[]>()
    const withCode = new Set<string>()
    let [time, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let start = 0; start < matchKeys.length; start += perRequest) {
      const chunk = matchKeys.slice(start, start + perRequest)
      const answer = await readChunk(node, chunk, block)
      const isOther = start > 0 && block !== 'latest' && (answer.time !== time || answer.number !== number)
      time = isOther ? Number.NaN : Math.min(time, answer.time)
      number = isOther ? Number.NaN : Math.min(number, answer.number)
      for (const [at, matchKey] of chunk.entries()) {
        const { figures, hasCode } = answer.rows[at] ?? missing(matchKey)
        holdings.set(matchKey, figures)
        if (hasCode) withCode.add(matchKey)
      }
    }
    return { time, number, holdings, withCode }
  }

  async function countSent(node: RpcNode, matchKeys: readonly string[], block: BlockTag) {
    const counts = await mapConcurrently(matchKeys, CONCURRENCY, async (matchKey) => {
      return [matchKey, await node.call('eth_getTransactionCount', [`0x${matchKey}`, block], heightSchema)] as const
    })
    return new Map(counts)
  }

  /** The answer, or null where the node serves the same question about its newest block and not about this one. */
  async function unlessGone<T>(node: RpcNode, block: BlockTag, request: (block: BlockTag) => Promise<T>) {
    try {
      const answer = await request(block)
      oldState.answered(node, nameOf(block))
      return answer
    } catch (error) {
      if (!(error instanceof RpcFailure) || block === 'latest') throw error
      if (error.kind === 'pruned') return null
      if (!OTHERWISE.has(error.kind) || !oldState.refused(node, nameOf(block))) throw error
      // A node that refuses everything has dropped nothing.
      await request('latest').catch(() => Promise.reject(error))
      return null
    }
  }

  return {
    read: (node, matchKeys, block) => unlessGone(node, block, (at) => readAll(node, matchKeys, at)),
    sent: async (node, matchKeys, block) =>
      matchKeys.length === 0 ? new Map() : unlessGone(node, block, (at) => countSent(node, matchKeys, at)),
    async readTogether(node) {
      const accounts = Array.from({ length: perRequest }, (_, index) => (index + 1).toString(16).padStart(40, 'd'))
      await readTogether(node, options, accounts, 'latest')
    },
  }
}

interface TimedRows {
  readonly time: number
  readonly number: number
  readonly rows: readonly AccountRow[]
}

interface AccountRow {
  readonly figures: readonly Figure[]
  readonly hasCode: boolean
}

async function readTogether(
  node: RpcNode,
  options: HoldingsOptions,
  accounts: readonly string[],
  block: BlockTag,
): Promise<TimedRows> {
  const { tokens } = options
  const width = tokens.length + 1
  const pads = ['0', ...tokens.map((token) => token.slice(2))].map((part) => part.padStart(WORD, '0'))
  const pairs = accounts.flatMap((account) => pads.map((pad) => pad + account.padStart(WORD, '0')))
  const answer = await node.call('eth_call', [{ data: READ_HOLDINGS + pairs.join('') }, block], bytesSchema)
  const words = Array.from({ length: accounts.length * width + 1 }, (_, at) => wordAt(answer, at))
  // A node that does not run it as a creation returns nothing, or something else.
  const time = Number((words[0] ?? 0n) & WORD_HALF) * 1_000
  if (answer.length !== 2 + words.length * WORD || words[0] === 0n || time > TIME_MAX_MS) {
    throw new RpcFailure('refused', `eth_call at ${node.host}: no balances`)
  }
  const silent = createSilence(node, options)
  const rows: AccountRow[] = []
  for (const at of accounts.keys()) {
    const [coin = 0n, ...held] = words.slice(1 + at * width, 1 + (at + 1) * width)
    const figures: Figure[] = [coin % HAS_CODE]
    for (const [index, token] of tokens.entries()) {
      figures.push(held[index] === ALL_ONES ? await silent(token) : (held[index] ?? 0n))
    }
    rows.push({ figures, hasCode: coin >= HAS_CODE })
  }
  const [stamp = 0n] = words
  return { time, number: Number(stamp >> 64n), rows }
}

/**
 * Requests each figure alone. These answers do not say which block they are about, so each is requested by the block's hash and by its
 * height: a node that ignores hashes answers about its newest block, and one height may be that of another branch. Throws
 * `NodeUnreliable` where the two differ, or where the node has another block at the height afterwards.
 */
async function readSingly(
  node: RpcNode,
  options: HoldingsOptions,
  accounts: readonly string[],
  block: BlockTag,
): Promise<TimedRows> {
  const { timestamp, number, hash } = await readHeaderOf(node, block)
  const height = toQuantity(number)
  const rows = await readRows(node, options, accounts, { blockHash: hash })
  const again = await readRows(node, options, accounts, height)
  const isOnBranch = (await readHeaderOf(node, height)).hash === hash
  const isOther = ({ figures, hasCode }: AccountRow, at: number): boolean =>
    hasCode !== again[at]?.hasCode || !isSame(figures, again[at]?.figures)
  if (!isOnBranch || rows.some(isOther)) {
    throw new NodeUnreliable(`the node at ${node.host} gave balances of another block than ${number}`)
  }
  return { time: timestamp * 1_000, number, rows }
}

/** Unknown figures are alike. */
const isSame = (figures: readonly Figure[], others: readonly Figure[] = []): boolean =>
  figures.every(
    (figure, at) => figure === others[at] || (figure instanceof UnknownFigure && others[at] instanceof UnknownFigure),
  )

async function readRows(
  node: RpcNode,
  options: HoldingsOptions,
  accounts: readonly string[],
  at: BlockTag,
): Promise<readonly AccountRow[]> {
  const { tokens } = options
  const silent = createSilence(node, options)
  return mapConcurrently(accounts, CONCURRENCY, async (account) => {
    const figures: Figure[] = [BigInt(await node.call('eth_getBalance', [`0x${account}`, at], quantitySchema))]
    const code = await node.call('eth_getCode', [`0x${account}`, at], bytesSchema)
    const data = BALANCE_OF + account.padStart(WORD, '0')
    for (const token of tokens) figures.push((await balanceOf(node, { to: token, data }, at)) ?? (await silent(token)))
    return { figures, hasCode: code !== '0x' }
  })
}

/**
 * The figure of a token that gave no balance: nothing where its network has no such contract, and unknown where it has. Nodes were
 * seen to answer questions about state that they dropped with an empty result or a revert (Erigon, issues 5274 and 6391), so the
 * newest block decides.
 */
function createSilence(node: RpcNode, { mayLackTokens }: HoldingsOptions): (token: string) => Promise<Figure> {
  const codes = new Map<string, Promise<string>>()
  return async (token) => {
    const code = codes.get(token) ?? node.call('eth_getCode', [token, 'latest'], bytesSchema)
    codes.set(token, code)
    if ((await code) !== '0x') return new UnknownFigure(token)
    if (!mayLackTokens) throw new NodeUnreliable(`the node at ${node.host} has no code of the token ${token}`)
    return 0n
  }
}

const nameOf = (block: BlockTag): string => (typeof block === 'string' ? block : block.blockHash)

const wordAt = (answer: string, at: number): bigint =>
  BigInt(`0x${answer.slice(2 + at * WORD, 2 + (at + 1) * WORD).padEnd(1, '0')}`)

async function readHeaderOf(node: RpcNode, block: BlockTag) {
  const [method, name] =
    typeof block === 'string' ? ['eth_getBlockByNumber', block] : ['eth_getBlockByHash', block.blockHash]
  return required(await node.call(method, [name, false], headerSchema.nullable()), 'block of a balance')
}

/** Null where the call ran and gave no balance. Every other failure is thrown: it says nothing about the token. */
async function balanceOf(node: RpcNode, call: object, at: BlockTag): Promise<bigint | null> {
  const isReverted = (error: unknown) => error instanceof RpcDenial && error.kind === 'reverted'
  const answer = await nullWhere(node.call('eth_call', [call, at], bytesSchema), isReverted)
  return answer === null || answer.length < 2 + WORD ? null : BigInt(answer.slice(0, 2 + WORD))
}

function missing(account: string): never {
  throw new NodeUnreliable(`no balance of ${account} was read`)
}

/** A block whose balances are requested. Where answers do not state its height, `time`, in milliseconds, shows which block they are about: it is read unless it is known. */
export interface NamedBlock {
  readonly height: number
  readonly hash: string
  readonly time?: number | undefined
}

/**
 * Balances at a block; null when the node has dropped its state, or answers from a newer one. A node that ignores hashes answers about its newest block, which its answer
 * shows: it is asked by height, and for its block there. Throws `NodeUnreliable` when that is another one.
 */
export async function holdingsAt(
  reader: HoldingsReader,
  node: RpcNode,
  matchKeys: readonly string[],
  { height, hash, time, numbersAreParents }: NamedBlock & { readonly numbersAreParents: boolean },
): Promise<TimedHoldings | null> {
  const named = await reader.read(node, matchKeys, { blockHash: hash })
  if (named === null || matchKeys.length === 0) return named
  if (await answersFromNewest(node, height, numbersAreParents)) return null
  const timeOf = async () => (await readHeaderOf(node, { blockHash: hash })).timestamp * 1_000
  const at = numbersAreParents ? (time ?? (await timeOf())) : height
  const isNamed = (seen: TimedHoldings): boolean => (numbersAreParents ? seen.time : seen.number) === at
  if (isNamed(named)) return named
  const seen = await reader.read(node, matchKeys, toQuantity(height))
  if (seen === null) return null
  const header = await readHeaderOf(node, toQuantity(height))
  if (!isNamed(seen) || header.hash !== hash) {
    throw new NodeUnreliable(`the node at ${node.host} gave balances of another block than ${height}`)
  }
  return seen
}

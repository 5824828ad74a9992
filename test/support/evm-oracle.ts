import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { innerMovesOf, plainKey } from './evm-traces.ts'

/** Money that reached an account in one block. */
export interface Income {
  readonly height: number
  readonly matchKey: string
  readonly asset: AssetId
  readonly amountBase: bigint
  /** Null for the coins that came otherwise than directly: all those of a block and account are one increase. */
  readonly txHash: string | null
  /** Fees that the account itself paid in this block. */
  readonly feesBase: bigint
}

/** What the chain says about some accounts. */
export interface Books {
  /** Everything that came in, by height. */
  readonly incomes: readonly Income[]
  /** Accounts from which coins went away otherwise than by their own transactions: code at them moved the coins. */
  readonly movedByCode: ReadonlySet<string>
}

const COIN = 'eth_ethereum'
const TOKENS: ReadonlyMap<string, AssetId> = new Map(
  (['usdt_ethereum', 'usdc_ethereum'] as const).map((asset) => [ASSETS[asset].contract.toLowerCase(), asset]),
)
/** keccak256("Transfer(address,address,uint256)"), EIP-20. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

interface Transaction {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly value: string
}
interface Receipt {
  readonly transactionHash: string
  readonly status: string
  readonly from: string
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[]
}

/** Everything that is asked of the node about one block. */
interface BlockFacts {
  readonly height: number
  readonly transactions: readonly Transaction[]
  readonly receipts: ReadonlyMap<string, Receipt>
  readonly traces: unknown
  readonly before: ReadonlyMap<string, bigint>
  readonly after: ReadonlyMap<string, bigint>
}

/**
 * What came to accounts in the blocks above `from` up to `to`, by an honest node's transactions, receipts, traces and balances, which must
 * agree with each other: throws when they do not. Nothing of the product takes part in it.
 */
export async function readBooks(
  url: string,
  matchKeys: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Books> {
  const incomes: Income[] = []
  const movedByCode = new Set<string>()
  for (let height = from + 1; height <= to; height += 1) {
    const facts = await readFacts(url, matchKeys, height)
    for (const matchKey of matchKeys) incomes.push(...incomesOf(facts, matchKey, movedByCode))
  }
  return { incomes, movedByCode }
}

function incomesOf(facts: BlockFacts, matchKey: string, movedByCode: Set<string>): readonly Income[] {
  const { height, transactions, receipts, before, after } = facts
  let [directBase, spentBase, feesBase] = [0n, 0n, 0n]
  const found: Omit<Income, 'feesBase'>[] = []
  for (const { hash, from, to, value } of transactions) {
    const receipt = receipts.get(hash)
    if (receipt === undefined) throw new Error(`transaction ${hash} has no receipt`)
    const isOwn = plainKey(from) === matchKey
    const isTo = to !== null && plainKey(to) === matchKey
    const moved = receipt.status === '0x1' ? BigInt(value) : 0n
    if (isOwn) feesBase += BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
    if (isOwn && !isTo) spentBase += moved
    if (isTo && !isOwn && moved > 0n) {
      directBase += moved
      found.push({ height, matchKey, asset: COIN, amountBase: moved, txHash: hash })
    }
    found.push(...tokensOf(receipt, { height, matchKey, txHash: hash }))
  }
  const inner = innerMovesOf(facts.traces)
  const innerOut = sumOf(inner.filter(({ from }) => from === matchKey))
  const innerIn = sumOf(inner.filter(({ to }) => to === matchKey))
  if (innerOut > 0n) movedByCode.add(matchKey)
  const grown = (after.get(matchKey) ?? 0n) - (before.get(matchKey) ?? 0n)
  const explained = directBase - spentBase - feesBase + innerIn - innerOut
  // Coins from nowhere: the reward of a block, a withdrawal of a validator.
  const fromNowhere = grown - explained
  if (fromNowhere < 0n) throw new Error(`the balance of ${matchKey} in block ${height} contradicts its transactions`)
  const rest = innerIn - innerOut + fromNowhere
  if (rest > 0n) found.push({ height, matchKey, asset: COIN, amountBase: rest, txHash: null })
  return found.map((income) => ({ ...income, feesBase }))
}

function tokensOf(
  { status, logs }: Receipt,
  of: { readonly height: number; readonly matchKey: string; readonly txHash: string },
): readonly Omit<Income, 'feesBase'>[] {
  if (status !== '0x1') return []
  return logs.flatMap(({ address, topics, data }) => {
    const asset = TOKENS.get(address.toLowerCase())
    const [topic, from = '', to = ''] = topics
    if (asset === undefined || topic !== TRANSFER || topics.length !== 3) return []
    const amountBase = BigInt(data)
    const isOurs = to.slice(-40) === of.matchKey && from.slice(-40) !== of.matchKey
    return isOurs && amountBase > 0n ? [{ ...of, asset, amountBase }] : []
  })
}

const sumOf = (moves: readonly { readonly amountBase: bigint }[]): bigint =>
  moves.reduce((sum, { amountBase }) => sum + amountBase, 0n)

async function readFacts(url: string, matchKeys: readonly string[], height: number): Promise<BlockFacts> {
  const tag = `0x${height.toString(16)}`
  const parent = `0x${(height - 1).toString(16)}`
  const balances = (at: string) => matchKeys.map((key) => ['eth_getBalance', [`0x${key}`, at]] as const)
  const [block, receipts, traces, ...figures] = await readTogether(url, [
    ['eth_getBlockByNumber', [tag, true]],
    ['eth_getBlockReceipts', [tag]],
    ['trace_block', [tag]],
    ...balances(parent),
    ...balances(tag),
  ])
  const figureAt = (offset: number) =>
    new Map(matchKeys.map((key, at) => [key, BigInt(String(figures[offset + at]))] as const))
  return {
    height,
    transactions: (block as { readonly transactions: readonly Transaction[] }).transactions,
    receipts: new Map((receipts as readonly Receipt[]).map((receipt) => [receipt.transactionHash, receipt])),
    traces,
    before: figureAt(0),
    after: figureAt(matchKeys.length),
  }
}

/** Several questions in one request. Throws when one of them fails. */
async function readTogether(
  url: string,
  questions: readonly (readonly [method: string, params: readonly unknown[]])[],
): Promise<readonly unknown[]> {
  const calls = questions.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls),
  })
  const answers = (await response.json()) as readonly { readonly id: number; readonly result?: unknown }[]
  const byId = new Map(answers.map(({ id, result }) => [id, result]))
  return calls.map(({ id, method }) => {
    const result = byId.get(id)
    if (result === undefined || result === null) throw new Error(`the honest node does not answer ${method}`)
    return result
  })
}

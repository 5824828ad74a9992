import type { Books, Income } from '#test/support/evm-oracle.ts'
import { LIMITS, type ReadingScene } from './limits.ts'

/** A stored payment that counts. */
export interface StoredMoney {
  readonly height: number
  /** Hash of that block, so that a difference shows whether it is one of another branch. */
  readonly hash?: string
  /** Height of the balance that an increase is measured from; without one, and usually, the block before. */
  readonly since?: number
  readonly matchKey: string
  readonly asset: string
  readonly amountBase: bigint
  readonly txHash: string | null
}

const COIN = 'eth_ethereum'

/**
 * One line for each difference between what reached accounts and what is stored for them. Direct coins and tokens are compared by
 * transaction; all other coins of an account and block must be one row of their sum, or, where the node has dropped the states between, rows
 * that add up over the whole history. What a limit covers may be missing; nothing may be stored twice or that the chain does not have.
 */
export function differencesOf(books: Books, stored: readonly StoredMoney[], scene: ReadingScene): readonly string[] {
  const left = stored.map((row) => ({ ...row }))
  const lines: string[] = []
  const increases: Income[] = []
  for (const income of books.incomes) {
    if (income.txHash === null) {
      increases.push(income)
      continue
    }
    const at = left.findIndex((row) => isSame(row, income))
    if (at >= 0) left.splice(at, 1)
    else if (!isLimited(income, scene, books)) lines.push(`missing: ${describe(income)}`)
  }
  const rest = left.filter(({ asset, txHash }) => asset === COIN && txHash === null)
  lines.push(...left.filter((row) => !rest.includes(row)).map((row) => `not on the chain: ${describe(row)}`))
  return [...lines, ...(scene.isStateGone ? bySum : byBlock)(increases, rest, { scene, books })]
}

interface Scope {
  readonly scene: ReadingScene
  readonly books: Books
}

function byBlock(increases: readonly Income[], rows: readonly StoredMoney[], { scene, books }: Scope): string[] {
  const left = [...rows]
  const missing = increases.filter((income) => {
    const at = left.findIndex((row) => isSame(row, income))
    if (at >= 0) left.splice(at, 1)
    return at < 0 && !isLimited(income, scene, books)
  })
  // Where a node gave no balances of some blocks, one row is the sum of all of them, in the first block whose balances it gave.
  for (const row of left.filter(({ height, since = height - 1 }) => height - since > 1)) {
    const { matchKey, asset, height, since = height - 1 } = row
    const summed = missing.filter(
      (one) => one.matchKey === matchKey && one.asset === asset && one.height > since && one.height <= height,
    )
    if (sumOf(summed) !== row.amountBase) continue
    left.splice(left.indexOf(row), 1)
    for (const one of summed) missing.splice(missing.indexOf(one), 1)
  }
  return [
    ...missing.map((income) => `missing: ${describe(income)}`),
    ...left.map(
      (row) =>
        `not on the chain: ${describe(row)}${row.hash === undefined ? '' : ` (${row.hash.slice(0, 10)}, since ${row.since ?? 'the block before'})`}`,
    ),
  ]
}

function bySum(increases: readonly Income[], rows: readonly StoredMoney[], { scene, books }: Scope): string[] {
  const accounts = new Set([...increases, ...rows].map(({ matchKey }) => matchKey))
  return [...accounts].flatMap((matchKey) => {
    const all = increases.filter((income) => income.matchKey === matchKey)
    const most = sumOf(all)
    const least = sumOf(all.filter((income) => !isLimited(income, scene, books)))
    const sum = sumOf(rows.filter((row) => row.matchKey === matchKey))
    if (sum >= least && sum <= most) return []
    return [`in all ${sum} of coins from ${least} to ${most} inside of calls are stored for ${matchKey}`]
  })
}

const isSame = (row: StoredMoney, income: Income): boolean =>
  row.height === income.height &&
  row.matchKey === income.matchKey &&
  row.asset === income.asset &&
  row.amountBase === income.amountBase &&
  row.txHash === income.txHash

const isLimited = (income: Income, scene: ReadingScene, books: Books): boolean =>
  LIMITS.some(({ covers }) => covers(income, scene, books))

const sumOf = (rows: readonly { readonly amountBase: bigint }[]): bigint =>
  rows.reduce((sum, { amountBase }) => sum + amountBase, 0n)

const describe = ({ amountBase, asset, matchKey, height, txHash }: StoredMoney): string =>
  `${amountBase} ${asset} to ${matchKey} in block ${height}${txHash === null ? ' inside of calls' : ` by ${txHash}`}`

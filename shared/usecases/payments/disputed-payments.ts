import { type Payment, wholeKey } from '#shared/ports/payments.ts'
import { type ChainClient, NodeUnreliable, type SeenTransaction } from '#shared/ports/scanning.ts'
import type { Uses } from '#shared/usecases/uses.ts'

type Deps = Uses<'payments'>

/** A client that can check payments with a second node. */
export type SecondOpinion = Pick<ChainClient, 'disputed' | 'balances'>

/** Keys of the payments that a second node does not confirm; all of the checked ones when it does not respond. */
export async function disputedPayments(
  deps: Deps,
  client: SecondOpinion,
  due: readonly Payment[],
): Promise<readonly string[]> {
  return [...(await disputedTransactions(deps, client, due)), ...(await disputedIncreases(client, due))]
}

async function disputedTransactions(
  deps: Deps,
  { disputed }: SecondOpinion,
  due: readonly Payment[],
): Promise<readonly string[]> {
  if (disputed === undefined) return []
  const questions: SeenTransaction[] = []
  for (const payment of due) {
    const { txHash, block } = payment
    if (txHash === null || block === null) continue
    const transfer = await transferOf(deps, payment)
    questions.push({ txHash, height: block.height, blockHash: block.hash, transfer })
  }
  if (questions.length === 0) return []
  const recorded = await orAll(
    () => disputed(questions),
    questions.map(({ txHash }) => txHash),
  )
  return due.filter(({ txHash }) => txHash !== null && recorded.has(txHash)).map(({ key }) => key)
}

/** The transfer as nodes show it: that of a payment which is a part has the sum of all parts in its block. */
async function transferOf(
  { payments }: Deps,
  { key, mode, network, txHash, matchKey, contract, amountBase, block }: Payment,
): Promise<NonNullable<SeenTransaction['transfer']>> {
  const whole = wholeKey(key)
  if (whole === null || txHash === null) return { key, matchKey, contract, amountBase }
  const parts = (await payments.listByTransaction(mode, network, txHash)).filter(
    (part) => wholeKey(part.key) === whole && part.block?.hash === block?.hash,
  )
  return { key: whole, matchKey, contract, amountBase: parts.reduce((sum, part) => sum + part.amountBase, 0n) }
}

async function disputedIncreases({ balances }: SecondOpinion, due: readonly Payment[]): Promise<readonly string[]> {
  const questions = due.flatMap(({ key, matchKey, amountBase, block }) =>
    block?.increase === undefined
      ? []
      : [{ key, matchKey, amountBase, height: block.height, hash: block.hash, ...block.increase }],
  )
  if (balances === undefined || questions.length === 0) return []
  const recorded = await orAll(
    () => balances.disputed(questions),
    questions.map(({ key }) => key),
  )
  return [...recorded]
}

async function orAll(query: () => Promise<ReadonlySet<string>>, all: readonly string[]): Promise<ReadonlySet<string>> {
  try {
    return await query()
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return new Set(all)
  }
}

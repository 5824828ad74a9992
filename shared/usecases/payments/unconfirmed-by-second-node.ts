import type { Payment } from '#shared/ports/payments.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'

/** A client that can check payments with a second node. */
export type SecondOpinion = Pick<ChainClient, 'disputed' | 'balances'>

/** Keys of the payments that a second node does not confirm; all of the checked ones when it does not respond. */
export async function disputedPayments(client: SecondOpinion, due: readonly Payment[]): Promise<readonly string[]> {
  return [...(await disputedTransactions(client, due)), ...(await disputedIncreases(client, due))]
}

async function disputedTransactions({ disputed }: SecondOpinion, due: readonly Payment[]): Promise<readonly string[]> {
  const asked = due.flatMap(({ txHash, block, key, matchKey, contract, amountBase }) => {
    const transfer = { key, matchKey, contract, amountBase }
    return txHash === null || block === null ? [] : [{ txHash, height: block.height, blockHash: block.hash, transfer }]
  })
  if (disputed === undefined || asked.length === 0) return []
  const recorded = await orAll(
    () => disputed(asked),
    asked.map(({ txHash }) => txHash),
  )
  return due.filter(({ txHash }) => txHash !== null && recorded.has(txHash)).map(({ key }) => key)
}

async function disputedIncreases({ balances }: SecondOpinion, due: readonly Payment[]): Promise<readonly string[]> {
  const asked = due.flatMap(({ key, matchKey, block }) =>
    block?.increase === undefined ? [] : [{ key, matchKey, height: block.height, hash: block.hash, ...block.increase }],
  )
  if (balances === undefined || asked.length === 0) return []
  const recorded = await orAll(
    () => balances.disputed(asked),
    asked.map(({ key }) => key),
  )
  return [...recorded]
}

async function orAll(ask: () => Promise<ReadonlySet<string>>, all: readonly string[]): Promise<ReadonlySet<string>> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return new Set(all)
  }
}

import type { Payment } from '#shared/ports/payments.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'

/** Who can be asked about payments once more. */
export type SecondOpinion = Pick<ChainClient, 'doubted' | 'balances'>

/** Keys of those payments that a second node does not vouch for; all that it was asked about when it does not answer. */
export async function doubtedPayments(client: SecondOpinion, due: readonly Payment[]): Promise<readonly string[]> {
  return [...(await doubtedTransactions(client, due)), ...(await doubtedRises(client, due))]
}

async function doubtedTransactions({ doubted }: SecondOpinion, due: readonly Payment[]): Promise<readonly string[]> {
  const asked = due.flatMap(({ txHash, block, key, currentKey, matchKey, contract, amountBase }) => {
    const transfer = { key: currentKey ?? key, matchKey, contract, amountBase }
    return txHash === null || block === null ? [] : [{ txHash, height: block.height, blockHash: block.hash, transfer }]
  })
  if (doubted === undefined || asked.length === 0) return []
  const told = await orAll(
    () => doubted(asked),
    asked.map(({ txHash }) => txHash),
  )
  return due.filter(({ txHash }) => txHash !== null && told.has(txHash)).map(({ key }) => key)
}

async function doubtedRises({ balances }: SecondOpinion, due: readonly Payment[]): Promise<readonly string[]> {
  const asked = due.flatMap(({ key, matchKey, block }) =>
    block?.rise === undefined ? [] : [{ key, matchKey, height: block.height, hash: block.hash, ...block.rise }],
  )
  if (balances === undefined || asked.length === 0) return []
  const told = await orAll(
    () => balances.doubted(asked),
    asked.map(({ key }) => key),
  )
  return [...told]
}

async function orAll(ask: () => Promise<ReadonlySet<string>>, all: readonly string[]): Promise<ReadonlySet<string>> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return new Set(all)
  }
}

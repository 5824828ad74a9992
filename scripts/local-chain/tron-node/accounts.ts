import type { TransactionOutcome, TronTransaction } from './transaction.ts'
import type { ChainBlock, TronChain } from './tron-chain.ts'

/** An account as `getaccount` shows it: nothing until coins first came to it. Accounts are 21 bytes in hex. */
export function accountJson(chain: TronChain, top: ChainBlock, address: string): Readonly<Record<string, unknown>> {
  const exists = minedUpTo(chain, top).some(({ body }) => body.kind === 'transfer' && body.to === address)
  return exists ? { address } : {}
}

/** What an account holds of a token, by the events of its transfers; never negative, though this node checks no balance. */
export function tokenBalance(chain: TronChain, contract: string, account: string): bigint {
  let balance = 0n
  for (const { outcome } of minedUpTo(chain, chain.head())) {
    for (const { topics, data } of tokenLogs(outcome, contract)) {
      if (topics[1]?.slice(-40) === account.slice(-40)) balance -= BigInt(`0x${data}`)
      if (topics[2]?.slice(-40) === account.slice(-40)) balance += BigInt(`0x${data}`)
    }
  }
  return balance < 0n ? 0n : balance
}

function tokenLogs({ result, logs }: TransactionOutcome, contract: string): TransactionOutcome['logs'] {
  return result === 'SUCCESS' ? logs.filter(({ address }) => address === contract.slice(-40)) : []
}

function minedUpTo(chain: TronChain, top: ChainBlock): readonly TronTransaction[] {
  return Array.from({ length: top.number + 1 }, (_, height) => chain.at(height)?.transactions ?? []).flat()
}

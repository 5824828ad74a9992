import type { TransactionOutcome, TronTransaction } from './transaction.ts'
import type { ChainBlock, TronChain } from './tron-chain.ts'

/** An account as returned by `getaccount`: empty until it first received coins. Accounts are 21 bytes in hex. */
export function accountJson(chain: TronChain, top: ChainBlock, address: string): Readonly<Record<string, unknown>> {
  const exists = minedUpTo(chain, top).some(({ body }) => body.kind === 'transfer' && body.to === address)
  if (!exists) return {}
  const balance = coinBalance(chain, top, address)
  // proto3 leaves out a zero.
  return balance === 0n ? { address } : { address, balance }
}

/** Coins of an account from the transfers to and from it; never negative, although this node checks no balance. */
export function coinBalance(chain: TronChain, top: ChainBlock, address: string): bigint {
  let balance = 0n
  for (const { body, outcome } of minedUpTo(chain, top)) {
    if (outcome.result !== 'SUCCESS') continue
    if (body.kind === 'transfer' && body.to === address) balance += BigInt(body.amount)
    if (body.kind === 'transfer' && body.owner === address) balance -= BigInt(body.amount)
    for (const { to, amount, rejected, note, tokenId } of outcome.internals) {
      const isCoin = note === 'call' && rejected !== true && tokenId === undefined
      if (to === address && isCoin) balance += BigInt(amount)
    }
  }
  return balance < 0n ? 0n : balance
}

/** Token balance of an account from its transfer events; never negative, although this node checks no balance. */
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

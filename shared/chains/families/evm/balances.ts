import { isRead } from '#shared/ports/account-reader.ts'
import type { CoinBalances } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { createHoldingsReader, holdingsAt, type NamedBlock } from './holdings.ts'

/** Reads balances of the coin at the end of a block, named by its hash (EIP-1898), so that another branch is never mixed in. */
export interface BalanceReader {
  /** One balance per match key; null when this node has dropped the state of the block. Throws `NodeUnreliable`, also when the answer is about another block. */
  read(node: RpcNode, matchKeys: readonly string[], block: NamedBlock): Promise<CoinBalances | null>
}

/** `numbersAreParents`: answers of this network state the height of a parent chain's block, which says nothing about this one. */
export function createBalanceReader(numbersAreParents = false): BalanceReader {
  const reader = createHoldingsReader({ tokens: [], mayLackTokens: false })
  return {
    async read(node, matchKeys, { height, hash, time }) {
      if (matchKeys.length === 0) return Object.assign(new Map(), { withCode: new Set<string>() })
      const seen = await holdingsAt(reader, node, matchKeys, { height, hash, time, numbersAreParents })
      if (seen === null) return null
      const coins = [...seen.holdings].flatMap(([matchKey, [coin]]): [string, bigint][] =>
        coin !== undefined && isRead(coin) ? [[matchKey, coin]] : [],
      )
      return Object.assign(new Map(coins), { withCode: seen.withCode })
    },
  }
}

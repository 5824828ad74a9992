import { z } from 'zod'
import { isRead } from '#shared/ports/account-reader.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { blockRef } from './block-scan.ts'
import { createHoldingsReader, holdingsAt } from './holdings.ts'
import type { EvmClientOptions } from './options.ts'
import { headerSchema } from './wire.ts'

type Account = { readonly matchKey: string }

/**
 * Reads which accounts were used: those that sent a transaction, have code, or hold native coins or accepted tokens at the newest
 * block. Accounts emptied by others, with `transferFrom` or a permit, leave no trace in the state. Throws `NodeUnreliable`
 * for a node that is still syncing, has dropped that state or returns a malformed response.
 */
export function createUseReader({ tokens, chain, mode }: Pick<EvmClientOptions, 'tokens' | 'chain' | 'mode'>) {
  const contracts = tokens.map(({ contract }) => contract.toLowerCase())
  const reader = createHoldingsReader({ tokens: contracts, mayLackTokens: mode === 'test' })
  const numbersAreParents = chain.numbersAreParents === true

  return async (node: RpcNode, accounts: readonly Account[]): Promise<ReadonlySet<string>> => {
    // Nodes return their progress while they sync; only `false` means that they have the chain.
    await node.call('eth_syncing', [], z.literal(false))
    const head = await node.call('eth_getBlockByNumber', ['latest', false], headerSchema)
    const keys = accounts.map(({ matchKey }) => matchKey)
    const held = await holdingsAt(reader, node, keys, { ...blockRef(head), numbersAreParents })
    const sent = await reader.sent(node, keys, { blockHash: head.hash })
    if (held === null || sent === null) throw new NodeUnreliable('the node has no state of its newest block')
    const used = keys.filter((key) => {
      const figures = held.holdings.get(key) ?? []
      if (!figures.every(isRead)) throw new NodeUnreliable('balanceOf() of a token gave no number')
      return held.withCode.has(key) || sent.get(key) !== 0 || figures.some((figure) => figure > 0n)
    })
    return new Set(used)
  }
}

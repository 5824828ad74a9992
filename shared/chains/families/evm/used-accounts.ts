import { z } from 'zod'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { createBalanceReader } from './balances.ts'
import { blockRef } from './block-scan.ts'
import type { EvmClientOptions } from './options.ts'
import { bytesSchema, headerSchema, heightSchema } from './wire.ts'

/** Selector of `balanceOf(address)`, EIP-20. */
const BALANCE_SELECTOR = '0x70a08231'
/** Concurrent requests. */
const CONCURRENCY = 8
const WORD_CHARS = 66

type Account = { readonly matchKey: string }

/**
 * Reads which accounts were used: those that sent a transaction, have code, or hold native coins or accepted tokens at the newest
 * block. Accounts emptied by others, with `transferFrom` or a permit, leave no trace in the state. Throws `NodeUnreliable`
 * for a node that is still syncing, has dropped that state or returns a malformed response.
 */
export function createUseReader({ tokens, chain }: Pick<EvmClientOptions, 'tokens' | 'chain'>) {
  const balances = createBalanceReader(chain.numbersAreParents)

  return async (node: RpcNode, accounts: readonly Account[]): Promise<ReadonlySet<string>> => {
    // Nodes return their progress while they sync; only `false` means that they have the chain.
    await node.call('eth_syncing', [], z.literal(false))
    const head = await node.call('eth_getBlockByNumber', ['latest', false], headerSchema)
    const block = { blockHash: head.hash }
    const keys = accounts.map(({ matchKey }) => matchKey)
    const coins = await balances.read(node, keys, blockRef(head))
    if (coins === null) throw new NodeUnreliable('the node has no state of its newest block')

    const isUsed = async (key: string): Promise<boolean> => {
      if ((coins.get(key) ?? 0n) > 0n) return true
      if ((await node.call('eth_getTransactionCount', [`0x${key}`, block], heightSchema)) > 0) return true
      if ((await node.call('eth_getCode', [`0x${key}`, block], bytesSchema)) !== '0x') return true
      for (const { asset, contract } of tokens) {
        const data = `${BALANCE_SELECTOR}${key.padStart(64, '0')}`
        const answer = await node.call('eth_call', [{ to: contract, data }, block], bytesSchema)
        if (answer.length !== WORD_CHARS) throw new NodeUnreliable(`balanceOf() of ${asset} gave no number`)
        if (BigInt(answer) > 0n) return true
      }
      return false
    }
    const used = await mapConcurrently(keys, CONCURRENCY, isUsed)
    return new Set(keys.filter((_, index) => used[index]))
  }
}

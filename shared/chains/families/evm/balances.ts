import { z } from 'zod'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { bytesSchema } from './wire.ts'

/** Accounts per request: their balances, 32 bytes each, stay below the limit of created code (EIP-170: 24,576 bytes). */
const CHUNK = 500
/** Concurrent single requests. */
const CONCURRENCY = 8

/**
 * Code of a contract whose creation returns balances: it reads the words after its own code as accounts and returns
 * `BALANCE` of each. Sent with `eth_call` and without a receiver, it runs once and is stored nowhere, so no contract has to
 * be on the chain or be trusted.
 */
const READ_BALANCES = [
  // n = codesize - 36; codecopy(0, 36, n); i = 0
  '0x602438038060246000396000',
  // while i < n: mstore(i, balance(mload(i))); i += 32
  '5b81811015601f578051318152602001600c565b',
  // return(0, n)
  '506000f3',
].join('')

/** Reads balances at the end of a block, named by its hash (EIP-1898), so that another branch is never mixed in. */
export interface BalanceReader {
  /** One balance per match key; null when this node has dropped the state of the block. Throws `NodeUnreliable`. */
  read(
    node: RpcNode,
    matchKeys: readonly string[],
    block: { readonly hash: string },
  ): Promise<ReadonlyMap<string, bigint> | null>
}

/** Requests 500 accounts at once, and one by one where a node does not run the code. */
export function createBalanceReader(): BalanceReader {
  const oneByOne = new WeakSet<RpcNode>()

  async function readChunk(node: RpcNode, accounts: readonly string[], blockHash: string): Promise<readonly bigint[]> {
    if (!oneByOne.has(node)) {
      try {
        return await readTogether(node, accounts, blockHash)
      } catch (error) {
        if (!(error instanceof RpcFailure) || (error.kind !== 'refused' && error.kind !== 'split')) throw error
        oneByOne.add(node)
      }
    }
    return mapConcurrently(accounts, CONCURRENCY, async (account) =>
      BigInt(await node.call('eth_getBalance', [`0x${account}`, { blockHash }], quantityText)),
    )
  }

  return {
    async read(node, matchKeys, { hash }) {
      const balances = new Map<string, bigint>()
      try {
        for (let start = 0; start < matchKeys.length; start += CHUNK) {
          const chunk = matchKeys.slice(start, start + CHUNK)
          const answers = await readChunk(node, chunk, hash)
          for (const [index, account] of chunk.entries()) balances.set(account, answers[index] ?? missing(account))
        }
      } catch (error) {
        if (error instanceof RpcFailure && error.kind === 'pruned') return null
        throw error
      }
      return balances
    },
  }
}

const quantityText = z.string().regex(/^0x[0-9a-f]+$/i)

async function readTogether(node: RpcNode, accounts: readonly string[], blockHash: string): Promise<readonly bigint[]> {
  const data = READ_BALANCES + accounts.map((account) => account.padStart(64, '0')).join('')
  const answer = await node.call('eth_call', [{ data }, { blockHash }], bytesSchema)
  // A node that does not run it as a creation returns nothing.
  if (answer.length !== 2 + accounts.length * 64) {
    throw new RpcFailure('refused', `eth_call at ${node.host}: no balances`)
  }
  return accounts.map((_, index) => BigInt(`0x${answer.slice(2 + index * 64, 2 + (index + 1) * 64)}`))
}

function missing(account: string): never {
  throw new NodeUnreliable(`no balance of ${account} was read`)
}

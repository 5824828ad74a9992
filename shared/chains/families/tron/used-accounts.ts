import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { parseAccount } from './address.ts'
import type { TronNode } from './api.ts'
import type { TronToken } from './verify-tokens.ts'
import { constantCallSchema, maybeAccountSchema } from './wire.ts'

/** Concurrent requests; public nodes are rate-limited as well. */
const CONCURRENCY = 4

/**
 * Reads which accounts were used: those that exist, because an account is created by its first TRX or by activation, and
 * those that hold accepted tokens without existing. Throws `NodeUnreliable` for any other response.
 */
export async function usedAccounts(
  node: TronNode,
  tokens: readonly TronToken[],
  accounts: readonly { readonly matchKey: string }[],
): Promise<ReadonlySet<string>> {
  const used = await mapConcurrently(accounts, CONCURRENCY, async ({ matchKey }) => {
    const address = `41${matchKey}`
    const account = await node.call('wallet/getaccount', { address }, maybeAccountSchema)
    if (account !== null && account.address !== address)
      throw new NodeUnreliable('the node answered for another account')
    if (account !== null) return true
    for (const token of tokens) if ((await balanceOf(node, token, matchKey)) > 0n) return true
    return false
  })
  return new Set(accounts.flatMap(({ matchKey }, index) => (used[index] ? [matchKey] : [])))
}

/** Balance of a token. Throws `NodeUnreliable` without a clear number. */
export async function balanceOf(node: TronNode, { asset, contract }: TronToken, matchKey: string): Promise<bigint> {
  const { result, constant_result: words } = await node.call(
    'wallet/triggerconstantcontract',
    {
      owner_address: `41${matchKey}`,
      contract_address: `41${parseAccount(contract)}`,
      function_selector: 'balanceOf(address)',
      parameter: matchKey.padStart(64, '0'),
    },
    constantCallSchema,
  )
  const [word = ''] = words
  if (!result.result || !/^[0-9a-f]{64}$/.test(word)) {
    throw new NodeUnreliable(`balanceOf() of ${asset}: ${result.code}`)
  }
  return BigInt(`0x${word}`)
}

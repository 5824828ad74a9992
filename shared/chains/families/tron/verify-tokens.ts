import type { AssetId } from '#shared/domain/enumerations.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { formatAccount, parseAccount } from './address.ts'
import type { TronNode } from './api.ts'
import { constantCallSchema } from './wire.ts'

/** Any account may ask a contract for what is public. */
const NOBODY = `41${'0'.repeat(40)}`

/** An accepted token in the client's mode; the contract in its `T…` spelling. */
export interface TronToken {
  readonly asset: AssetId
  readonly contract: string
  readonly decimals: number
}

/** Throws `NodeMismatch` for a token that has other decimals than our row or is none, `NodeUnreliable` when a node cannot tell. */
export async function verifyTokens(node: TronNode, tokens: readonly TronToken[]): Promise<void> {
  for (const { asset, contract, decimals } of tokens) {
    const { result, constant_result: words } = await node.call(
      'wallet/triggerconstantcontract',
      { owner_address: NOBODY, contract_address: `41${parseAccount(contract)}`, function_selector: 'decimals()' },
      constantCallSchema,
    )
    // Only this code says that there is no such contract; the others say that the node could not tell.
    const absent = result.code === 'CONTRACT_VALIDATE_ERROR'
    if (!result.result && !absent) throw new NodeUnreliable(`decimals() of ${asset}: ${result.code}`)
    const [word = ''] = absent ? [] : words
    if (!/^[0-9a-f]{64}$/.test(word) || BigInt(`0x${word}`) !== BigInt(decimals)) {
      const found = word === '' ? 'no token' : `0x${word}`
      throw new NodeMismatch(
        `decimals() of ${asset} at ${formatAccount(parseAccount(contract))}: ${found}; the registry says ${decimals}`,
      )
    }
  }
}

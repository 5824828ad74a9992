import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { formatAccount, parseAccount } from './address.ts'
import type { TronNode } from './api.ts'
import { constantCallSchema, contractSchema } from './wire.ts'

/** Any account may call a contract's public functions. */
const NOBODY = `41${'0'.repeat(40)}`

/** An accepted token in the client's mode; the contract in its `T…` spelling. */
export interface TronToken {
  readonly asset: AssetId
  readonly contract: string
  readonly decimals: number
}

/**
 * Throws `NodeMismatch` for a token with other decimals than the registry's or a contract that is not a token, `NodeUnreliable` when a node cannot tell.
 * Returns the tokens whose contract a node of test mode lacks.
 */
export async function verifyTokens(
  node: TronNode,
  { tokens, mode }: { readonly tokens: readonly TronToken[]; readonly mode: Mode },
): Promise<readonly AssetId[]> {
  const missing: AssetId[] = []
  for (const { asset, contract, decimals } of tokens) {
    const { result, constant_result: words } = await node.call(
      'wallet/triggerconstantcontract',
      { owner_address: NOBODY, contract_address: `41${parseAccount(contract)}`, function_selector: 'decimals()' },
      constantCallSchema,
    )
    // A node that may not run calls (`vm.supportConstant`) refuses with the same code as one without the contract.
    const absent = result.code === 'CONTRACT_VALIDATE_ERROR' && !(await hasContract(node, contract))
    if (!result.result && !absent) throw new NodeUnreliable(`decimals() of ${asset} at ${node.host}: ${result.code}`)
    if (absent && mode === 'test') {
      missing.push(asset)
      continue
    }
    const [word = ''] = absent ? [] : words
    if (!/^[0-9a-f]{64}$/.test(word) || BigInt(`0x${word}`) !== BigInt(decimals)) {
      const found = word === '' ? 'no token' : `0x${word}`
      throw new NodeMismatch(
        `decimals() of ${asset} at ${formatAccount(parseAccount(contract))}: ${found}; the registry says ${decimals}`,
      )
    }
  }
  return missing
}

/** Whether a node has a contract: one that has none answers with an empty object. */
async function hasContract(node: TronNode, contract: string): Promise<boolean> {
  const question = { value: `41${parseAccount(contract)}` }
  return (await node.call('wallet/getcontract', question, contractSchema)) !== null
}

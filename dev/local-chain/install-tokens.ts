import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetRow } from '#shared/chains/definitions/chain.ts'
import { ASSET_IDS, type AssetId, type NetworkId, networkOf, symbolOf } from '#shared/domain/enumerations.ts'
import { nodeRpc } from './node-rpc.ts'
import { testTokenCode } from './test-token.ts'

/** Puts a test token at the real address of every token of an EVM network. Repeating it changes nothing; balances stay. */
export async function installTokens(rpcUrl: string, network: NetworkId): Promise<void> {
  for (const id of ASSET_IDS) {
    const row: AssetRow = ASSETS[id]
    if (networkOf(id) !== network || row.contract === null) continue
    await nodeRpc(rpcUrl, 'anvil_setCode', [
      row.contract,
      testTokenCode({ symbol: symbolOf(id), decimals: row.decimals }),
    ])
  }
}

/** The address of an asset's token on the local chain; null for the native coin. */
export function tokenAddress(asset: AssetId): string | null {
  const row: AssetRow = ASSETS[asset]
  return row.contract
}

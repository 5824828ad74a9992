import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { type AssetId, type Family, networkOf } from '#shared/domain/enumerations.ts'
import { sendOutputs } from './litecoin-node.ts'
import { createCoreCall } from './node-rpc.ts'
import { payOnLocalChain } from './pay.ts'
import { payOnSolana } from './pay-on-solana.ts'
import { payOnTronNode } from './tron-node/pay.ts'

/** A payment of an asset on the development node of its network. */
export interface LocalAssetPayment {
  readonly rpcUrl: string
  readonly asset: AssetId
  /** Contract or mint that carries the token on this node; null for the native coin. */
  readonly contract: string | null
  readonly to: string
  readonly amountBase: bigint
  /** Additional accounts in the transfer; Solana only. */
  readonly references?: readonly string[]
}

type Pay = (payment: LocalAssetPayment) => Promise<{ readonly txHash: string }>

/** How to pay on each family's development node. Litecoin's is used for Bitcoin and Dogecoin. */
const PAY: Readonly<Record<Family, Pay>> = {
  bitcoin: payOnLitecoin,
  litecoin: payOnLitecoin,
  dogecoin: payOnLitecoin,
  evm: payOnLocalChain,
  tron: payOnTronNode,
  solana: ({ asset, contract, ...payment }) =>
    payOnSolana({
      ...payment,
      mint: contract === null ? null : { address: contract, decimals: ASSETS[asset].decimals },
    }),
}

/** Sends a real transfer on a development node; resolves when it is accepted, not when it is in a block. */
export function payLocally(payment: LocalAssetPayment): Promise<{ readonly txHash: string }> {
  return PAY[CHAINS[networkOf(payment.asset)].family](payment)
}

async function payOnLitecoin({ rpcUrl, to, amountBase }: LocalAssetPayment): Promise<{ readonly txHash: string }> {
  return { txHash: await sendOutputs(createCoreCall(rpcUrl), [{ to, amountBase }]) }
}

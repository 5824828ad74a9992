import { payLocally } from '#dev/local-chain/pay-locally.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { Ledger, Plan } from '#test/chaos/ledger.ts'

/** The asset of every invoice: a token of the local Ethereum. */
export const ASSET = 'usdt_ethereum'

/** Sends a transfer and enters it in the merchant's book. */
export type Pay = (ledger: Ledger, invoiceId: string, to: string, amountBase: bigint) => Promise<void>

/** One payer for all: the node numbers the transactions of an account, so they are handed over one after the other. */
export function createPayer(rpcUrl: string): Pay {
  const { contract } = ASSETS[ASSET]
  let last: Promise<unknown> = Promise.resolve()
  return async (ledger, invoiceId, to, amountBase) => {
    const sent = last.then(() => payLocally({ rpcUrl, asset: ASSET, contract, to, amountBase }))
    last = sent.catch(() => undefined)
    const { txHash } = await sent
    ledger.write({ kind: 'transfer', invoiceId, txHash, amountBase: String(amountBase), at: Date.now() })
  }
}

/** Amounts of the transfers that a plan makes, in base units. */
export function transfersOf(plan: Plan, due: bigint): readonly bigint[] {
  if (plan === 'exact') return [due]
  if (plan === 'parts') return [due / 3n, due - due / 3n]
  return plan === 'over' ? [due * 2n] : []
}

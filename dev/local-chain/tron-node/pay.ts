import { z } from 'zod'
import { parseAccount } from '#shared/chains/families/tron/address.ts'
import type { LocalPayment } from '../pay.ts'
import { word } from './trc20.ts'

/** The account that pays on development nodes; it has no key, and no signature is required. */
export const TRON_PAYER = `41${'d'.repeat(40)}`

const transactionSchema = z.looseObject({ txID: z.string() })
const triggerSchema = z.object({ transaction: transactionSchema })

/**
 * Sends a transfer from the development payer with the requests of a wallet, but without a signature: this works
 * only on our development node. `contract` null moves TRX. Resolves when it is accepted. Throws with the node's message.
 */
export async function payOnTronNode({
  rpcUrl,
  contract,
  to,
  amountBase,
}: LocalPayment): Promise<{ readonly txHash: string }> {
  const recipient = `41${parseAccount(to)}`
  const transaction =
    contract === null
      ? transactionSchema.parse(
          await post(rpcUrl, 'createtransaction', {
            owner_address: TRON_PAYER,
            to_address: recipient,
            amount: amountBase.toString(),
          }),
        )
      : triggerSchema.parse(
          await post(rpcUrl, 'triggersmartcontract', {
            owner_address: TRON_PAYER,
            contract_address: `41${parseAccount(contract)}`,
            function_selector: 'transfer(address,uint256)',
            parameter: `${word(recipient)}${word(amountBase)}`,
          }),
        ).transaction
  const accepted = z
    .object({ result: z.literal(true) })
    .safeParse(await post(rpcUrl, 'broadcasttransaction', transaction))
  if (!accepted.success) throw new Error('the node did not take the transaction')
  return { txHash: transaction.txID }
}

async function post(url: string, method: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
  const response = await fetch(`${url}/wallet/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, visible: false }),
    signal: AbortSignal.timeout(10_000),
  })
  const answered: unknown = await response.json()
  const refused = z.object({ Error: z.string() }).safeParse(answered)
  if (refused.success) throw new Error(`${method}: ${refused.data.Error}`)
  return answered
}

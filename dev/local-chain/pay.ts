import { nodeRpc, quantity } from './node-rpc.ts'

/** Account 0 of anvil's public phrase "test test … junk": every development node unlocks and funds it. */
export const DEVELOPMENT_PAYER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** A transfer on a development chain; `contract` null moves the native coin. */
export interface LocalPayment {
  readonly rpcUrl: string
  readonly contract: string | null
  readonly to: string
  readonly amountBase: bigint
}

/**
 * Sends a real transfer from the development payer, minting test tokens first if it has too few. The node signs,
 * so this works only on development nodes. Resolves when the transaction is accepted, not when it is mined.
 */
export async function payOnLocalChain(payment: LocalPayment): Promise<{ readonly txHash: string }> {
  const { rpcUrl, contract, to, amountBase } = payment
  if (contract === null) return { txHash: await send(rpcUrl, { to, value: quantity(amountBase) }) }
  // Minting is free here; minting each time keeps the payer funded without reading its balance.
  await send(rpcUrl, { to: contract, data: call('40c10f19', DEVELOPMENT_PAYER, amountBase) })
  return { txHash: await send(rpcUrl, { to: contract, data: call('a9059cbb', to, amountBase) }) }
}

/** Calldata of a method that takes an address and an amount (Solidity ABI). */
export function call(selector: string, to: string, amountBase: bigint): string {
  return `0x${selector}${to.slice(2).toLowerCase().padStart(64, '0')}${amountBase.toString(16).padStart(64, '0')}`
}

/** The last pending send per node: anvil gives two simultaneous sends the same nonce and refuses the second. */
const lastSends = new Map<string, Promise<unknown>>()

async function send(rpcUrl: string, transaction: Readonly<Record<string, string>>): Promise<string> {
  const before = lastSends.get(rpcUrl) ?? Promise.resolve()
  const sending = before.then(() => sendOnce(rpcUrl, transaction))
  lastSends.set(
    rpcUrl,
    sending.catch(() => undefined),
  )
  return await sending
}

async function sendOnce(rpcUrl: string, transaction: Readonly<Record<string, string>>): Promise<string> {
  // A fixed gas limit: an estimate would use the state before the preceding mint is mined.
  const gas = transaction['data'] === undefined ? 21_000 : 200_000
  const hash = await nodeRpc(rpcUrl, 'eth_sendTransaction', [
    { from: DEVELOPMENT_PAYER, gas: quantity(gas), ...transaction },
  ])
  if (typeof hash !== 'string') throw new Error('the node gave no transaction hash')
  return hash
}

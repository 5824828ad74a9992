import { coinBalance, tokenBalance } from './accounts.ts'
import { type ReceivedTransaction, readTransaction } from './read-transaction.ts'
import { rawDataHex, type TronTransaction, transactionId } from './transaction.ts'
import { outcomeOf, SELECTORS } from './trc20.ts'
import type { TronChain } from './tron-chain.ts'

/** Longest time until the end of a transaction, milliseconds (java-tron, Constant.MAXIMUM_TIME_UNTIL_EXPIRATION). */
const LIFE_MAX_MS = 86_400_000
/** Blocks that a transaction may refer to: two bytes of height tell them apart. */
const REFERENCES = 65_536

/**
 * Takes a signed transaction as java-tron's `broadcasthex` does: signature, reference, end, repetition and balance are checked, in the codes
 * of `Return.response_code` (api.proto). A token transfer of more than there is is taken and fails in its block.
 */
export function takeSigned(chain: TronChain, hex: string): Readonly<Record<string, unknown>> {
  const received = readTransaction(hex)
  if (received === null) return refusal('OTHER_ERROR', '')
  const transaction = { body: received.body, outcome: outcomeFor(chain, received.body), ...received.raw }
  const txid = transactionId(transaction)
  // This node keeps what it understood: bytes that say more cannot be written again.
  if (rawDataHex(transaction) !== received.rawHex) return refusal('OTHER_ERROR', txid)
  const code = codeOf(chain, received, txid)
  if (code !== 'SUCCESS') return refusal(code, txid)
  chain.submit(transaction)
  return { result: true, code, message: '', transaction: '{}', txid }
}

const refusal = (code: string, txid: string) => ({ result: false, code, txid, message: code, transaction: '{}' })

function codeOf(chain: TronChain, { body, raw, signer }: ReceivedTransaction, txid: string): string {
  const head = chain.head()
  if (signer !== body.owner) return 'SIGERROR'
  if (chain.find(txid) !== undefined || chain.pending().some((one) => transactionId(one) === txid))
    return 'DUP_TRANSACTION_ERROR'
  if (!isReferenced(chain, raw)) return 'TAPOS_ERROR'
  const expiration = raw.expiration ?? 0
  if (expiration <= head.time || expiration > head.time + LIFE_MAX_MS) return 'TRANSACTION_EXPIRATION_ERROR'
  if (body.kind === 'transfer' && BigInt(body.amount) > coinBalance(chain, head, body.owner))
    return 'CONTRACT_VALIDATE_ERROR'
  return 'SUCCESS'
}

function isReferenced(chain: TronChain, { refBlockBytes, refBlockHash }: ReceivedTransaction['raw']): boolean {
  const head = chain.head().number
  const low = Number.parseInt(refBlockBytes, 16)
  const height = head - ((head - low + REFERENCES) % REFERENCES)
  return chain.at(height)?.id.slice(16, 32) === refBlockHash
}

function outcomeFor(chain: TronChain, body: TronTransaction['body']): TronTransaction['outcome'] {
  const outcome = outcomeOf(body)
  if (body.kind !== 'call' || !body.data.startsWith(SELECTORS['transfer(address,uint256)'])) return outcome
  const amount = BigInt(`0x${body.data.slice(72, 136) || '0'}`)
  if (amount <= tokenBalance(chain, body.contract, body.owner)) return outcome
  return { result: 'REVERT', logs: [], internals: [] }
}

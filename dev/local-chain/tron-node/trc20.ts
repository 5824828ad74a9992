import type { TransactionBody, TransactionOutcome } from './transaction.ts'

/** keccak256("Transfer(address,address,uint256)"). */
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const WORD = 64

/** Selectors of a TRC-20 token: the first four bytes of keccak256 of these signatures. */
export const SELECTORS = {
  'transfer(address,uint256)': 'a9059cbb',
  'transferFrom(address,address,uint256)': '23b872dd',
  'mint(address,uint256)': '40c10f19',
} as const

/** One 32-byte word: an account (with or without its 0x41) or an amount. */
export function word(value: string | bigint): string {
  return (typeof value === 'bigint' ? value.toString(16) : value.slice(-40)).padStart(WORD, '0')
}

/** The event of a token transfer. `contract` and accounts in hex, with or without 0x41. */
export function transferLog(contract: string, from: string, to: string, amount: bigint) {
  return { address: contract.slice(-40), topics: [TRANSFER_TOPIC, word(from), word(to)], data: word(amount) }
}

/**
 * Effects of a transaction on this node: a token call moves the given amount without a check of balances or allowances, and
 * any other call succeeds and does nothing.
 */
export function outcomeOf(body: TransactionBody): TransactionOutcome {
  const nothing: TransactionOutcome = { result: 'SUCCESS', logs: [], internals: [] }
  if (body.kind === 'transfer') return nothing
  const words = body.data.slice(8).match(/.{64}/g) ?? []
  const [first = '', second = '', third = ''] = words
  const amount = (hex: string) => BigInt(`0x${hex === '' ? '0' : hex}`)
  const moved = (from: string, to: string, value: string) => ({
    ...nothing,
    logs: [transferLog(body.contract, from, to, amount(value))],
  })
  switch (body.data.slice(0, 8)) {
    case SELECTORS['transfer(address,uint256)']:
      return moved(body.owner, first, second)
    case SELECTORS['transferFrom(address,address,uint256)']:
      return moved(first, second, third)
    case SELECTORS['mint(address,uint256)']:
      return moved('0', first, second)
    default:
      return nothing
  }
}

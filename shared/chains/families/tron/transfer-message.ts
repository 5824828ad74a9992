import { sha256 } from '@noble/hashes/sha2.js'
import { encodeMessage } from './protobuf.ts'

/** `transfer(address,uint256)` of TRC-20. */
const TRANSFER = 'a9059cbb'
/** Most that a token transfer may burn for energy, sun: seven times the price of a transfer to an empty account in 2026. */
const FEE_LIMIT = 100_000_000
const ACCOUNT_PREFIX = '41'
/** Numbers of `Transaction.Contract.ContractType` (Tron.proto). */
const TYPES = {
  coin: { name: 'TransferContract', number: 1n },
  token: { name: 'TriggerSmartContract', number: 31n },
} as const

/** The block that a transaction refers to (TAPOS), and when it was made and ends. */
export interface TransferReference {
  /** Two bytes of the block's height, and eight from the middle of its id, as hex. */
  readonly ref_block_bytes: string
  readonly ref_block_hash: string
  /** Milliseconds. */
  readonly expiration: number
  readonly timestamp: number
}

/** A transfer that a payer's wallet signs. Accounts are 20 bytes as hex. */
export interface TronTransfer {
  /** Signs, pays the fee, and owns what is sent. */
  readonly from: string
  readonly to: string
  /** Null moves TRX. */
  readonly contract: string | null
  readonly amountBase: bigint
  readonly reference: TransferReference
}

/** An unsigned transaction as wallets take it and nodes return it (`visible` = false: accounts are hex). */
export interface UnsignedTransfer {
  readonly visible: false
  readonly txID: string
  readonly raw_data: TransferReference & { readonly contract: readonly object[]; readonly fee_limit?: number }
  readonly raw_data_hex: string
}

/**
 * The transaction of a transfer, with the bytes of `Transaction.raw` and the same as JSON: wallets refuse one whose two forms differ. Throws a
 * RangeError for an amount of TRX that JSON cannot carry.
 */
export function unsignedTransfer(transfer: TronTransfer): UnsignedTransfer {
  const { from, to, contract, amountBase, reference } = transfer
  if (contract === null && amountBase > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('too many sun for JSON')
  const { name, number } = contract === null ? TYPES.coin : TYPES.token
  const owner = ACCOUNT_PREFIX + from
  const raw = rawBytes(transfer, { typeUrl: `type.googleapis.com/protocol.${name}`, number })
  const value =
    contract === null
      ? { amount: Number(amountBase), owner_address: owner, to_address: ACCOUNT_PREFIX + to }
      : { data: callData(to, amountBase), owner_address: owner, contract_address: ACCOUNT_PREFIX + contract }
  const { ref_block_bytes, ref_block_hash, expiration, timestamp } = reference
  return {
    visible: false,
    txID: Buffer.from(sha256(raw)).toString('hex'),
    raw_data: {
      contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${name}` }, type: name }],
      ...{ ref_block_bytes, ref_block_hash, expiration },
      ...(contract !== null && { fee_limit: FEE_LIMIT }),
      timestamp,
    },
    raw_data_hex: Buffer.from(raw).toString('hex'),
  }
}

/** `Transaction` (Tron.proto) with one signature, as hex for `broadcasthex`. */
export function signedTransfer({ raw_data_hex }: UnsignedTransfer, signature: Uint8Array): string {
  const fields = [
    [1, Buffer.from(raw_data_hex, 'hex')],
    [2, signature],
  ] as const
  return Buffer.from(encodeMessage(fields)).toString('hex')
}

function rawBytes(
  { from, to, contract, amountBase, reference }: TronTransfer,
  { typeUrl, number }: { readonly typeUrl: string; readonly number: bigint },
): Uint8Array {
  const bytes = (hex: string) => Buffer.from(hex, 'hex')
  const account = (hex: string) => bytes(ACCOUNT_PREFIX + hex)
  const value = encodeMessage(
    contract === null
      ? [
          [1, account(from)],
          [2, account(to)],
          [3, amountBase],
        ]
      : [
          [1, account(from)],
          [2, account(contract)],
          [4, bytes(callData(to, amountBase))],
        ],
  )
  const parameter = encodeMessage([
    [1, Buffer.from(typeUrl)],
    [2, value],
  ])
  const call = encodeMessage([
    [1, number],
    [2, parameter],
  ])
  return encodeMessage([
    [1, bytes(reference.ref_block_bytes)],
    [4, bytes(reference.ref_block_hash)],
    [8, BigInt(reference.expiration)],
    [11, call],
    [14, BigInt(reference.timestamp)],
    [18, contract === null ? 0n : BigInt(FEE_LIMIT)],
  ])
}

const callData = (to: string, amountBase: bigint): string =>
  `${TRANSFER}${to.padStart(64, '0')}${amountBase.toString(16).padStart(64, '0')}`

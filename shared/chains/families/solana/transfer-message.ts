import { sha256 } from '@noble/hashes/sha2.js'
import { base58 } from '@scure/base'
import { isOnCurve } from './address.ts'
import { TOKEN_PROGRAM } from './extract.ts'

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
/** Instruction numbers: Transfer of the System program, TransferChecked of the token program, CreateIdempotent of the associated token program. */
const SYSTEM_TRANSFER = 2
const TRANSFER_CHECKED = 12
const CREATE_IDEMPOTENT = 1
const SIGNATURE_BYTES = 64
const KEY_BYTES = 32
const ascii = new TextEncoder()

/** A transfer that a payer's wallet signs. Keys are base58. */
export interface SolanaTransfer {
  /** Signs, pays the fee, and owns what is sent. */
  readonly from: string
  /** The owner that receives, not a token account. */
  readonly to: string
  /** Null moves SOL. */
  readonly mint: { readonly address: string; readonly decimals: number } | null
  readonly amountBase: bigint
  /** A read-only account that names the invoice (Solana Pay); null for none. */
  readonly reference: string | null
  readonly blockhash: string
}

interface Account {
  readonly key: string
  readonly signs?: boolean
  readonly changes?: boolean
}

interface Instruction {
  readonly program: string
  readonly accounts: readonly Account[]
  readonly data: Uint8Array
}

/**
 * The unsigned legacy transaction of a transfer, with room for its one signature (solana.com/docs/core/transactions). A token account of the
 * receiver that is missing is created, as wallets do for a Solana Pay request. Throws a RangeError for a key that is not 32 bytes.
 */
export function transferTransaction(transfer: SolanaTransfer): Uint8Array {
  const instructions = transfer.mint === null ? [moveCoins(transfer)] : moveTokens(transfer, transfer.mint)
  const accounts = orderedAccounts(transfer.from, instructions)
  const at = new Map(accounts.map(({ key }, index) => [key, index]))
  const indexOf = (key: string): number => at.get(key) ?? -1
  const readOnly = accounts.filter(({ signs, changes }) => signs !== true && changes !== true).length
  const message = [
    ...[1, 0, readOnly],
    ...length(accounts.length),
    ...accounts.flatMap(({ key }) => [...bytesOf(key)]),
    ...bytesOf(transfer.blockhash),
    ...length(instructions.length),
    ...instructions.flatMap(({ program, accounts: used, data }) => [
      indexOf(program),
      ...length(used.length),
      ...used.map(({ key }) => indexOf(key)),
      ...length(data.length),
      ...data,
    ]),
  ]
  return Uint8Array.of(1, ...new Uint8Array(SIGNATURE_BYTES), ...message)
}

/** The token account of an owner that everyone can compute (SPL Associated Token Account). */
export function associatedAccount(owner: string, mint: string): string {
  const seeds = [owner, TOKEN_PROGRAM, mint].flatMap((key) => [...bytesOf(key)])
  for (let bump = 255; bump >= 0; bump -= 1) {
    const text = [...bytesOf(ASSOCIATED_TOKEN_PROGRAM), ...ascii.encode('ProgramDerivedAddress')]
    const key = sha256(Uint8Array.of(...seeds, bump, ...text))
    // An address of a program is one that no secret key can have.
    if (!isOnCurve(key)) return base58.encode(key)
  }
  throw new RangeError('no address can be derived')
}

function moveCoins({ from, to, amountBase, reference }: SolanaTransfer): Instruction {
  const data = new DataView(new ArrayBuffer(12))
  data.setUint32(0, SYSTEM_TRANSFER, true)
  data.setBigUint64(4, amountBase, true)
  const accounts = [{ key: from, signs: true, changes: true }, { key: to, changes: true }, ...named(reference)]
  return { program: SYSTEM_PROGRAM, accounts, data: new Uint8Array(data.buffer) }
}

function moveTokens(
  { from, to, amountBase, reference }: SolanaTransfer,
  { address: mint, decimals }: NonNullable<SolanaTransfer['mint']>,
): readonly Instruction[] {
  const [source, target] = [associatedAccount(from, mint), associatedAccount(to, mint)]
  const data = new DataView(new ArrayBuffer(10))
  data.setUint8(0, TRANSFER_CHECKED)
  data.setBigUint64(1, amountBase, true)
  data.setUint8(9, decimals)
  const create = [{ key: from, signs: true, changes: true }, { key: target, changes: true }, { key: to }, { key: mint }]
  const move = [{ key: source, changes: true }, { key: mint }, { key: target, changes: true }]
  return [
    {
      program: ASSOCIATED_TOKEN_PROGRAM,
      accounts: [...create, { key: SYSTEM_PROGRAM }, { key: TOKEN_PROGRAM }],
      data: Uint8Array.of(CREATE_IDEMPOTENT),
    },
    {
      program: TOKEN_PROGRAM,
      accounts: [...move, { key: from, signs: true }, ...named(reference)],
      data: new Uint8Array(data.buffer),
    },
  ]
}

const named = (reference: string | null): readonly Account[] => (reference === null ? [] : [{ key: reference }])

/** Every account once, with the most that any instruction does to it: the payer, those that change, those that are read. */
function orderedAccounts(payer: string, instructions: readonly Instruction[]): readonly Account[] {
  const known = new Map<string, Account>([[payer, { key: payer, signs: true, changes: true }]])
  for (const { program, accounts } of instructions) {
    for (const { key, signs = false, changes = false } of [...accounts, { key: program }]) {
      const before = known.get(key)
      known.set(key, { key, signs: before?.signs === true || signs, changes: before?.changes === true || changes })
    }
  }
  const all = [...known.values()]
  const isRead = ({ signs, changes }: Account) => signs !== true && changes !== true
  return [...all.filter((account) => !isRead(account)), ...all.filter(isRead)]
}

/** A count in one or more bytes of seven bits (`compact-u16`). */
function length(count: number): readonly number[] {
  return count < 0x80 ? [count] : [(count & 0x7f) | 0x80, ...length(count >> 7)]
}

function bytesOf(key: string): Uint8Array {
  const bytes = base58.decode(key)
  if (bytes.length !== KEY_BYTES) throw new RangeError('a key has 32 bytes')
  return bytes
}

import { z } from 'zod'
import { TIME_MAX_MS } from '../time-max.ts'
import { wireList } from '../wire-list.ts'

/** 32 bytes in base58. A full block contains tens of thousands: validity is checked only where one is compared. */
const publicKey = z.string()
/** Hashes are 32 bytes in base58 as well: 32 to 44 digits. */
const hash = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
/** A 64-byte Ed25519 signature in base58. The first one of a transaction is its id. */
const signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)
/** Lamports are JSON numbers. Above 2^53 the parser loses digits: such values must not be used. */
const lamports = z.number().nonnegative()
const slot = z.int().nonnegative()
const seconds = z.int().max(TIME_MAX_MS / 1_000)

/** Null means success. A missing field must not pass for it. */
const failure = z.custom<unknown>(
  (err) => err === null || typeof err === 'string' || (typeof err === 'object' && !Array.isArray(err)),
)

const tokenBalance = z.object({
  accountIndex: slot,
  mint: publicKey,
  // Nodes before 1.10 omit these; a watched balance without them is refused where it is used.
  owner: publicKey.optional(),
  programId: publicKey.optional(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d{1,20}$/), decimals: z.int().min(0).max(255) }),
})
export type TokenBalance = z.infer<typeof tokenBalance>

const signatures = wireList(signature).refine((list) => list.length > 0)
const accountKeys = wireList(
  z.object({ pubkey: publicKey, signer: z.boolean(), writable: z.boolean(), source: z.string().optional() }),
).refine((list) => list.length > 0)

const meta = z.object({
  err: failure,
  fee: lamports,
  preBalances: wireList(lamports),
  postBalances: wireList(lamports),
  preTokenBalances: wireList(tokenBalance),
  postTokenBalances: wireList(tokenBalance),
})

const transaction = z.object({ transaction: z.object({ signatures, accountKeys }), meta })

/** A transaction as `getBlock` returns it with `transactionDetails: 'accounts'`: keys and balances, no instructions. */
export type Transaction = z.infer<typeof transaction>

/** A block without its transactions, `getBlock` with `transactionDetails: 'none'`. `blockTime` is in seconds. */
export const headerSchema = z.object({
  blockhash: hash,
  previousBlockhash: hash,
  parentSlot: slot,
  blockTime: seconds.nullable(),
})
export type Header = z.infer<typeof headerSchema>

/** A block with its transactions, `getBlock` with `transactionDetails: 'accounts'`. */
export const blockSchema = headerSchema.extend({ transactions: wireList(transaction) })

/** A block with the ids of its transactions, `getBlock` with `transactionDetails: 'signatures'`. */
export const signedBlockSchema = headerSchema.extend({ signatures: wireList(signature) })

/** `getLatestBlockhash`. */
export const latestHashSchema = z.object({ value: z.object({ blockhash: hash }) })

/** `getSlot`. */
export const slotSchema = slot
/** `getBlocks` and `getBlocksWithLimit`. */
export const slotsSchema = wireList(slot)
/** `getBlockTime`: seconds, null where the node does not have it. */
export const blockTimeSchema = seconds.nullable()
/** `getGenesisHash`. */
export const genesisSchema = hash
/** `getVersion`; Surfpool adds the second field. */
export const versionSchema = z.object({ 'solana-core': z.string(), 'surfnet-version': z.string().optional() })
/** `getSignatureStatuses`: null for a signature that the node does not have. */
export const statusesSchema = z.object({
  value: wireList(z.object({ slot, err: failure, confirmationStatus: z.string().nullable() }).nullable()),
})
/** `getTransaction` with `encoding: 'jsonParsed'`: the same fields in another place, and the slot. */
export const placedTransactionSchema = z
  .object({ slot, transaction: z.object({ signatures, message: z.object({ accountKeys }) }), meta })
  .transform(({ slot, transaction: { signatures, message }, meta }) => ({
    slot,
    entry: { transaction: { signatures, accountKeys: message.accountKeys }, meta } satisfies Transaction,
  }))
/** `getAccountInfo` with `encoding: 'base64'`. */
export const accountSchema = z.object({
  value: z.object({ owner: publicKey, data: z.tuple([z.base64(), z.literal('base64')]) }).nullable(),
})

import { sha256 } from '@noble/hashes/sha2.js'
import { z } from 'zod'
import {
  type ChainClient,
  NodeMismatch,
  NodeUnreliable,
  type SendOutcome,
  type WantedTransfer,
} from '#shared/ports/scanning.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { signingAccount } from '../evm/address.ts'
import { parseAccount } from './address.ts'
import type { TronNode } from './api.ts'
import { refOf } from './head.ts'
import { signedTransfer, type TransferReference, unsignedTransfer } from './transfer-message.ts'
import { broadcastSchema, headerSchema } from './wire.ts'

/** How long a reference serves for every payer, milliseconds: however many transfers are made, the node is asked once in that time. */
const REFERENCE_LIFE_MS = 5_000
/** How long a payer may look at the wallet, milliseconds; the protocol allows a day, and its tools take a minute. */
const SIGN_WITHIN_MS = 300_000
const SIGNATURE = /^[0-9a-f]{130}$/
/** Codes of `Return.response_code` (api.proto) with which a node refuses the transaction itself. */
const REFUSED = new Set([
  ...['SIGERROR', 'CONTRACT_VALIDATE_ERROR', 'CONTRACT_EXE_ERROR', 'BANDWITH_ERROR', 'TAPOS_ERROR'],
  ...['TOO_BIG_TRANSACTION_ERROR', 'TRANSACTION_EXPIRATION_ERROR'],
])
/** The node took it, or has it already. */
const TAKEN = new Set(['SUCCESS', 'DUP_TRANSACTION_ERROR'])

/** The fields of a prepared transfer that are not the invoice's; everything else is built again from its values. */
const preparedSchema = z.object({
  transaction: z.object({
    raw_data_hex: z.string(),
    raw_data: z.object({
      ref_block_bytes: z.string().regex(/^[0-9a-f]{4}$/),
      ref_block_hash: z.string().regex(/^[0-9a-f]{16}$/),
      expiration: z.int().positive(),
      timestamp: z.int().positive(),
    }),
  }),
})

interface Reference {
  readonly block: TransferReference
  /** As wallets state it: the last four bytes of block 0 (TIP-474). */
  readonly chainId: string
}

/**
 * Transfers of payers, whose wallets only sign (docs/decisions/0080). A prepared one is JSON of `chainId` and the unsigned
 * `transaction`. What comes back is built again from the wanted transfer, so that nothing else can be sent through the node.
 */
export function createPayerTransfers(
  pool: RpcPool<TronNode>,
): Required<Pick<ChainClient, 'prepareTransfer' | 'sendTransfer'>> {
  let recent: { readonly at: number; readonly reference: Promise<Reference> } | null = null

  function reference(): Promise<Reference> {
    if (recent !== null && performance.now() - recent.at <= REFERENCE_LIFE_MS) return recent.reference
    const read = pool.use(readReference)
    recent = { at: performance.now(), reference: read }
    read.catch(() => {
      recent = null
    })
    return read
  }

  return {
    async prepareTransfer(wanted) {
      const { block, chainId } = await reference()
      return JSON.stringify({ chainId, transaction: build(wanted, block) })
    },
    async sendTransfer(wanted, { prepared, signature }) {
      const transaction = rebuild(wanted, prepared)
      const bytes = readSignature(signature)
      if (transaction === null || bytes === null) return 'different'
      const hash = sha256(Buffer.from(transaction.raw_data_hex, 'hex'))
      if (signingAccount(hash, bytes) !== parseAccount(wanted.from)) return 'different'
      return broadcast(pool, signedTransfer(transaction, bytes))
    },
  }
}

async function readReference(node: TronNode): Promise<Reference> {
  const first = await node.call('wallet/getblockbynum', { num: 0 }, headerSchema)
  const head = refOf(await node.call('wallet/getnowblock', {}, headerSchema))
  // A solid block is on every node and stays; the time must be that of the head, which transactions are compared with.
  const solid = refOf(await node.call('walletsolidity/getnowblock', {}, headerSchema))
  if (head.time === 0) throw new NodeUnreliable('the node has no block yet')
  return {
    chainId: `0x${first.blockID.slice(-8)}`,
    block: {
      ref_block_bytes: solid.hash.slice(12, 16),
      ref_block_hash: solid.hash.slice(16, 32),
      expiration: head.time + SIGN_WITHIN_MS,
      timestamp: head.time,
    },
  }
}

function build({ from, to, contract, amountBase }: WantedTransfer, reference: TransferReference) {
  const token = contract === null ? null : parseAccount(contract)
  return unsignedTransfer({ from: parseAccount(from), to: parseAccount(to), contract: token, amountBase, reference })
}

/** The wanted transfer with the reference of the prepared one; null when that does not give the same bytes. */
function rebuild(wanted: WantedTransfer, prepared: string) {
  let json: unknown
  try {
    json = JSON.parse(prepared)
  } catch {
    return null
  }
  const parsed = preparedSchema.safeParse(json)
  if (!parsed.success) return null
  const { raw_data, raw_data_hex } = parsed.data.transaction
  const transaction = build(wanted, raw_data)
  return transaction.raw_data_hex === raw_data_hex ? transaction : null
}

function readSignature(text: string): Uint8Array | null {
  const hex = text.toLowerCase().replace(/^0x/, '')
  return SIGNATURE.test(hex) ? Buffer.from(hex, 'hex') : null
}

/** One node after the other. Where one may have taken the transaction, the refusal of another does not count. */
async function broadcast(pool: RpcPool<TronNode>, transaction: string): Promise<SendOutcome> {
  let mayHaveIt = false
  const attempt = async (node: TronNode): Promise<SendOutcome> => {
    try {
      const { result, code } = await node.call('wallet/broadcasthex', { transaction }, broadcastSchema)
      if (TAKEN.has(code) && (result || code !== 'SUCCESS')) return 'sent'
      if (REFUSED.has(code)) return mayHaveIt ? 'unclear' : 'refused'
      throw new NodeUnreliable(`broadcasthex: ${code}`)
    } catch (error) {
      mayHaveIt = true
      throw error
    }
  }
  return pool.use(attempt).catch((error: unknown) => {
    if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return mayHaveIt ? 'unclear' : 'unsent'
    throw error
  })
}

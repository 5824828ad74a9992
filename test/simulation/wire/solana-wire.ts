import { base58 } from '@scure/base'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetRow } from '#shared/chains/definitions/chain.ts'
import { TOKEN_PROGRAM } from '#shared/chains/families/solana/extract.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { SimBlock, SimChain, SimTx } from '../world/chain.ts'
import { formOf, solanaAddress } from '../world/chain-forms.ts'
import { heldAt, type NodeView, placeOf, type WireForm } from './wire-node.ts'

type Json = Readonly<Record<string, unknown>>

const form = formOf('solana')
const TOKENS: readonly AssetId[] = ['usdc_solana', 'usdt_solana']
const PAYER = base58.encode(new Uint8Array(32).fill(7))
const PAYER_LAMPORTS = 2 ** 52

/** How Agave 4.0 refuses (`rpc-client-api/src/custom_error.rs`). */
class Refusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const rowOf = (asset: AssetId): AssetRow => ASSETS[asset]

function headerOf({ hash, parentHash, height, time }: SimBlock): Json {
  return {
    blockhash: hash,
    previousBlockhash: parentHash,
    parentSlot: form.heightOf(Math.max(0, height - 1)),
    blockTime: time / 1_000,
  }
}

/** Keys of a transaction and the balances before and after it. */
function entryOf({ hash, payouts }: SimTx) {
  const keys = [PAYER]
  const gained = [0]
  const tokens: Json[] = []
  for (const [index, { matchKey, asset, amountBase }] of payouts.entries()) {
    const owner = solanaAddress(matchKey)
    if (asset === null) continue
    const { contract: mint, decimals } = rowOf(asset)
    const account = mint === null ? owner : base58.encode(new Uint8Array(32).fill(100 + index))
    const at = keys.includes(account) ? keys.indexOf(account) : keys.push(account) - 1
    gained[at] = (gained[at] ?? 0) + (mint === null ? Number(amountBase) : 0)
    if (mint === null) continue
    const uiTokenAmount = { amount: String(amountBase), decimals }
    tokens.push({ accountIndex: at, mint, owner, programId: TOKEN_PROGRAM, uiTokenAmount })
  }
  const sum = gained.reduce((one, other) => one + other, 0)
  return {
    signatures: [hash],
    accountKeys: keys.map((pubkey, at) => ({ pubkey, signer: at === 0, writable: true, source: 'transaction' })),
    meta: {
      err: null,
      fee: 5_000,
      preBalances: keys.map((_, at) => (at === 0 ? PAYER_LAMPORTS : 0)),
      postBalances: keys.map((_, at) => (at === 0 ? PAYER_LAMPORTS - 5_000 - sum : (gained[at] ?? 0))),
      preTokenBalances: [],
      postTokenBalances: tokens,
    },
  }
}

function blockAt(view: NodeView, slot: number): SimBlock {
  const index = form.indexOf(slot)
  if (index === null)
    throw new Refusal(-32_007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`)
  const block = view.block(index)
  if (block === 'gone') throw new Refusal(-32_001, `Block ${slot} cleaned up, does not exist on node`)
  if (block === null) throw new Refusal(-32_004, `Block not available for slot ${slot}`)
  return block
}

function getBlock(view: NodeView, slot: number, details: unknown): Json {
  const block = blockAt(view, slot)
  const header = headerOf(block)
  if (details === 'none') return header
  const entries = block.txs.map(entryOf)
  if (details === 'signatures') return { ...header, signatures: entries.map(({ signatures }) => signatures[0]) }
  return {
    ...header,
    transactions: entries.map(({ meta, ...transaction }) => ({ version: 1, meta, transaction })),
  }
}

/** Slots that the node lists, from the first block that it kept. */
function listed(view: NodeView, from: number, to: number, limit: number): number[] {
  const slots: number[] = []
  for (let slot = from; slot <= to && slots.length < limit && slot <= form.heightOf(view.head); slot += 1) {
    const index = form.indexOf(slot)
    if (index !== null && view.lists(index)) slots.push(slot)
  }
  return slots
}

function account(chain: SimChain, view: NodeView, address: string): { lamports: number } | null {
  const lamports = heldAt(chain, view.final, Buffer.from(base58.decode(address)).toString('hex'), 'sol_solana')
  return lamports === 0n ? null : { lamports: Number(lamports) }
}

function holdings(chain: SimChain, view: NodeView, owner: string, mint: string): Json[] {
  const asset = TOKENS.find((one) => rowOf(one).contract === mint) ?? ''
  const held = heldAt(chain, view.final, Buffer.from(base58.decode(owner)).toString('hex'), asset)
  const data = Buffer.alloc(165)
  data.writeBigUInt64LE(held, 64)
  return held === 0n ? [] : [{ account: { data: [data.toString('base64'), 'base64'] } }]
}

function mintAccount(mint: string): Json {
  const asset = TOKENS.find((one) => rowOf(one).contract === mint)
  const data = Buffer.alloc(82)
  data[44] = asset === undefined ? 0 : rowOf(asset).decimals
  data[45] = 1
  return { owner: TOKEN_PROGRAM, data: [data.toString('base64'), 'base64'] }
}

type Params = readonly [never, never]

/** The JSON-RPC of Agave, as far as a scanner uses it. */
const METHODS: Readonly<Record<string, (chain: SimChain, view: NodeView, params: Params) => unknown>> = {
  getGenesisHash: (chain) => chain.blocks[0]?.hash,
  getSlot: (_chain, view, [options]) =>
    form.heightOf((options as { commitment: string }).commitment === 'finalized' ? view.final : view.head),
  getBlocks: (_chain, view, [from, to]) => listed(view, from, to, Number.POSITIVE_INFINITY),
  getBlocksWithLimit: (_chain, view, [from, limit]) => listed(view, from, Number.POSITIVE_INFINITY, limit),
  getBlock: (_chain, view, [slot, options]) => getBlock(view, slot, (options as Json)['transactionDetails']),
  getBlockTime: (_chain, view, [slot]) => blockAt(view, slot).time / 1_000,
  getTransaction: (_chain, view, [hash]) => {
    const place = placeOf(view, hash)
    if (place === null) return null
    const { signatures, accountKeys, meta } = entryOf(place.tx)
    const message = { accountKeys, instructions: [], recentBlockhash: place.block.hash }
    return { slot: form.heightOf(place.block.height), version: 1, meta, transaction: { signatures, message } }
  },
  getSignatureStatuses: (_chain, view, [hashes]) => ({
    value: (hashes as string[]).map((hash) => {
      const place = placeOf(view, hash)
      if (place === null) return null
      const confirmationStatus = place.block.height <= view.final ? 'finalized' : 'confirmed'
      return { slot: form.heightOf(place.block.height), err: null, confirmationStatus }
    }),
  }),
  getAccountInfo: (_chain, _view, [mint]) => ({ value: mintAccount(mint) }),
  getMultipleAccounts: (chain, view, [owners]) => ({
    context: { slot: form.heightOf(view.final) },
    value: (owners as string[]).map((owner) => account(chain, view, owner)),
  }),
  getTokenAccountsByOwner: (chain, view, [owner, filter]) => ({
    value: holdings(chain, view, owner, (filter as { mint: string }).mint),
  }),
}

/** Answers JSON-RPC as Agave does. */
export const solanaWire: WireForm = (chain, view, { method, body }) => {
  const { id, params } = body as { readonly id: number; readonly params: Params }
  const envelope = { jsonrpc: '2.0', id }
  const answer = METHODS[method]
  if (answer === undefined) throw new Error(`no simulated node of Solana answers ${method}`)
  try {
    const result = answer(chain, view, params)
    return { status: 200, body: JSON.stringify({ ...envelope, result }) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { code, message } = error
    return { status: 200, body: JSON.stringify({ ...envelope, error: { code, message } }) }
  }
}

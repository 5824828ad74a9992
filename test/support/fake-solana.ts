import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base58 } from '@scure/base'
import { afterEach, expect } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createSolanaClient, type SolanaClient } from '#shared/chains/families/solana/client.ts'
import { matchKeyOf, TOKEN_PROGRAM } from '#shared/chains/families/solana/extract.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
/** Hash of devnet's first block, which a fake node shows unless it is told otherwise. */
export const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
/** Time of slot 0, seconds; a slot takes one second. */
export const TIME = 1_800_000_000
/** Slots 12 to 14 and 16 were skipped. */
export const SLOTS = [10, 11, 15, 17, 18]

/** Base58 of bytes that are all the same. */
export const bytes = (fill: number, length = 32) => base58.encode(new Uint8Array(length).fill(fill))
const PAYER = bytes(1)
const OURS = bytes(2)
/** Watches the one account that fake blocks pay. */
export const watches = createWatchIndex()
watches.add(matchKeyOf(OURS))

/** What every doubtful answer ends in. */
export const unreliable = expect.any(NodeUnreliable)
/** What every wrong chain ends in. */
export const mismatch = expect.objectContaining({ name: 'NodeMismatch' })

/** A chain with blocks at these slots only; each block pays us its own slot in lamports, in a transaction of version 1. */
export function chainOf(slots: readonly number[], branch = 0) {
  const hash = (slot: number) => base58.encode(Uint8Array.of(...new Uint8Array(30).fill(100 + branch), slot >> 8, slot))
  return slots.map((slot, index) => ({
    slot,
    blockhash: hash(slot),
    parentSlot: slots[index - 1] ?? 0,
    previousBlockhash: hash(slots[index - 1] ?? 0),
    blockTime: (TIME + slot) as number | null,
    transactions: [
      {
        version: 1,
        transaction: {
          signatures: [bytes(slot, 64)],
          accountKeys: [
            { pubkey: PAYER, signer: true, writable: true, source: 'transaction' },
            { pubkey: OURS, signer: false, writable: true, source: 'transaction' },
          ],
        },
        meta: {
          err: null,
          fee: 5_000,
          preBalances: [9_000_000, 0],
          postBalances: [9_000_000 - 5_000 - slot, slot],
          preTokenBalances: [],
          postTokenBalances: [],
        },
      },
    ],
  }))
}
type FakeBlock = ReturnType<typeof chainOf>[number]

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly [never, never]
}
type Answer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } }

/** Words of Agave 4.0 (`rpc-client-api/src/custom_error.rs`) about a slot without a block. */
const AGAVE: ReadonlyMap<number, string> = new Map([
  [-32_004, 'Block not available for slot 7'],
  [-32_007, 'Slot 7 was skipped, or missing due to ledger jump to recent snapshot'],
  [-32_009, 'Slot 7 was skipped, or missing in long-term storage'],
  [-32_014, 'Block status not yet available for slot 7'],
])

/** An error answer in these words. */
export const words = (code: number, message: string): Answer => ({ error: { code, message } })

/** An error answer. */
export const failure = (code: number): Answer => words(code, AGAVE.get(code) ?? `code ${code}`)

/** A node over HTTP that shows `blocks`, except where it lies. */
export interface FakeNode {
  blocks: readonly FakeBlock[]
  genesis: string
  /** Answers a call in place of the truth; null leaves it. */
  lie(call: Call, truth: Answer): Answer | null
  readonly url: string
}

function truth({ blocks, genesis }: FakeNode, { method, params: [first, second] }: Call): Answer {
  const slots = blocks.map(({ slot }) => slot)
  const head = slots.at(-1) ?? 0
  switch (method) {
    case 'getGenesisHash':
      return { result: genesis }
    case 'getVersion':
      return { result: { 'solana-core': '4.2.0', 'feature-set': 1 } }
    case 'getSlot':
      return { result: (first as { commitment: string }).commitment === 'finalized' ? Math.max(0, head - 32) : head }
    case 'getBlocks':
      return { result: slots.filter((slot) => slot >= first && slot <= second) }
    case 'getBlocksWithLimit':
      return { result: slots.filter((slot) => slot >= first).slice(0, second) }
    case 'getBlockTime':
      return { result: TIME + first }
    case 'getSignatureStatuses':
      return { result: { context: { slot: head }, value: (first as string[]).map((id) => statusOf(blocks, id)) } }
    case 'getTransaction':
      return { result: transactionOf(blocks, first as string) }
    case 'getAccountInfo':
      return { result: { context: { slot: head }, value: mint(6) } }
    case 'getBlock': {
      const block = blocks.find(({ slot }) => slot === first)
      if (block === undefined) return failure(first > head ? -32_004 : -32_007)
      const { slot: _slot, transactions, ...header } = block
      const options = second as { transactionDetails: string; maxSupportedTransactionVersion: number }
      if (options.maxSupportedTransactionVersion !== 1) return failure(-32_015)
      if (options.transactionDetails === 'none') return { result: header }
      const signatures = transactions.map(({ transaction }) => transaction.signatures[0])
      return {
        result: options.transactionDetails === 'signatures' ? { ...header, signatures } : { ...header, transactions },
      }
    }
    default:
      return failure(-32_601)
  }
}

function statusOf(blocks: readonly FakeBlock[], id: string) {
  const block = blocks.find(({ transactions }) => transactions[0]?.transaction.signatures[0] === id)
  const confirmationStatus = (block?.slot ?? 0) <= (blocks.at(-1)?.slot ?? 0) - 32 ? 'finalized' : 'confirmed'
  return block === undefined ? null : { slot: block.slot, err: null, confirmationStatus }
}

/** As `jsonParsed` gives it. */
function transactionOf(blocks: readonly FakeBlock[], id: string) {
  return (
    blocks.flatMap(({ slot, transactions }) =>
      transactions
        .filter(({ transaction }) => transaction.signatures[0] === id)
        .map(({ version, transaction: { signatures, accountKeys }, meta }) => ({
          ...{ slot, version, meta },
          transaction: { signatures, message: { accountKeys, instructions: [], recentBlockhash: id } },
        })),
    )[0] ?? null
  )
}

/** The account of a mint as `getAccountInfo` gives it. */
export function mint(decimals: number, change: { owner?: string; length?: number } = {}) {
  const data = Buffer.alloc(change.length ?? 82)
  data[44] = decimals
  data[45] = 1
  return { owner: change.owner ?? TOKEN_PROGRAM, data: [data.toString('base64'), 'base64'] }
}

/** Fake nodes and clients of them that end with the test. */
export function useFakeSolana() {
  const opened: { close(): unknown }[] = []
  afterEach(async () => {
    for (const resource of opened.splice(0)) await resource.close()
  })

  async function startNode(slots: readonly number[], lie: FakeNode['lie'] = () => null): Promise<FakeNode> {
    const server: Server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const call = JSON.parse(Buffer.concat(chunks).toString()) as Call
        const honest = truth(node, call)
        response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...(node.lie(call, honest) ?? honest) }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    opened.push(server)
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const node: FakeNode = { blocks: chainOf(slots), genesis: DEVNET, lie, url }
    return node
  }

  function clientOf(node: FakeNode, mode: Mode = 'test', genesis: string | null = null, others: string[] = []) {
    const client = createSolanaClient({
      chain: CHAINS.solana,
      mode,
      rpcUrls: [node.url, ...others],
      genesis,
      nativeAsset: 'sol_solana',
      tokens: [{ asset: 'usdc_solana', contract: ASSETS.usdc_solana.contract, decimals: 6 }],
      metrics: silent,
    })
    // Before its server, which waits for the connections.
    opened.unshift(client)
    return client
  }

  return { startNode, clientOf }
}

/** Heights and amounts of a scan. */
export async function found(client: SolanaClient, from: number, to: number): Promise<readonly (number | bigint)[][]> {
  const blocks = await client.scan(from, to, watches)
  return blocks.map(({ height, transfers }) => [height, ...transfers.map(({ amountBase }) => amountBase)])
}

type Change = (block: FakeBlock) => object
/** A lie about the block of one slot. */
export const onSlot =
  (slot: number, change: Change): FakeNode['lie'] =>
  ({ method, params: [requests] }, honest) => {
    if (method !== 'getBlock' || requests !== slot || !('result' in honest)) return null
    return { result: { ...(honest.result as object), ...change(honest.result as FakeBlock) } }
  }
/** One answer to every call of a method. */
export const on =
  (method: string, answer: Answer): FakeNode['lie'] =>
  (call) =>
    call.method === method ? answer : null

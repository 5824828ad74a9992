import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Block, Transaction } from 'bitcoinjs-lib'
import { afterEach, expect } from 'vitest'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'

export const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }

export const SCRIPT = `76a914${'44'.repeat(20)}88ac`

/** 100,000,000.00000001 DOGE: no double holds it. */
export const AMOUNT = 10_000_000_000_000_001n

export const watches = createWatchIndex()

watches.add(SCRIPT)

/** Three linked blocks as Dogecoin has them: the last two merged-mined, the last one with a payment to us. */
export const first = block(0, undefined)

export const second = block(1, first)

export const chain = [first, second, block(2, second)]

export const idOf = (height: number) => chain[height]?.getId() ?? ''

export function block(height: number, parent: Block | undefined): Block {
  const made = new Block()
  made.version = height === 0 ? 1 : 0x0062_0104
  made.timestamp = 1_700_000_000 + height
  made.bits = 0x207f_ffff
  made.nonce = height
  made.prevHash = parent?.getHash() ?? new Uint8Array(32)
  made.transactions = [
    transaction(height, 0xffff_ffff, 5n, '6a'),
    transaction(height, 1, AMOUNT, height === 2 ? SCRIPT : '6a'),
  ]
  made.merkleRoot = Block.calculateMerkleRoot(made.transactions, false)
  return made
}

export function transaction(salt: number, index: number, amount: bigint, script: string): Transaction {
  const made = new Transaction()
  made.addInput(new Uint8Array(32).fill(salt), index)
  made.addOutput(Buffer.from(script, 'hex'), amount)
  return made
}

export function serialised(made: Block): string {
  const proof = [transaction(9, 0xffff_ffff, 1n, '6a').toBuffer(), new Uint8Array(32 + 1 + 4 + 1 + 4 + 80)]
  const transactions = made.transactions ?? []
  return Buffer.concat([
    made.toBuffer(true),
    ...(made.version === 1 ? [] : proof),
    Buffer.of(transactions.length),
    ...transactions.map((one) => one.toBuffer()),
  ]).toString('hex')
}

export interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

export type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

export const refusal = (code: number, message: string): Answer => ({ error: { code, message } })

/** Dogecoin Core 1.14: `getblock` knows a boolean only, and `getrawtransaction` no block hash; here without `-txindex`. */
export function dogecoin({ method, params: [first, second, third] }: Call): Answer {
  const found = chain.find((one) => one.getId() === first)
  switch (method) {
    case 'getblockchaininfo':
      return { result: { chain: 'regtest', blocks: 2, bestblockhash: idOf(2) } }
    case 'getblockhash':
      return typeof first === 'number' && chain[first] !== undefined
        ? { result: idOf(first) }
        : refusal(-8, 'Block height out of range')
    case 'getblockheader':
      return found === undefined ? refusal(-5, 'Block not found') : { result: serialised(found).slice(0, 400) }
    case 'getblock':
      if (found !== undefined && second === undefined)
        return { result: { tx: found.transactions?.map((one) => one.getId()) } }
      if (typeof second !== 'boolean') return refusal(-1, 'JSON value is not a boolean as expected')
      return found === undefined ? refusal(-5, 'Block not found') : { result: serialised(found) }
    case 'getrawtransaction':
      if (third !== undefined) return refusal(-1, 'getrawtransaction "txid" ( verbose )')
      return refusal(-5, 'No such mempool transaction. Use -txindex to enable blockchain transaction queries.')
    case 'getrawmempool':
      return { result: [] }
    default:
      return refusal(-32_601, 'Method not found')
  }
}

export type Lie = (call: Call, truth: Answer) => Answer | string

export const honest: Lie = (_call, truth) => truth

export const unreliable = expect.any(NodeUnreliable)

export const when =
  (method: string, answer: (truth: Answer, call: Call) => Answer | string): Lie =>
  (call, truth) =>
    call.method === method ? answer(truth, call) : truth
export const bend = (truth: Answer, change: (hex: string) => string): Answer =>
  'result' in truth && typeof truth.result === 'string' ? { result: change(truth.result) } : truth

/** Nodes that answer as Dogecoin Core does, except where they lie, and clients of them; all are closed after each test. */
export function useDogecoinNodes() {
  const opened: { close(): unknown }[] = []

  afterEach(async () => {
    for (const resource of opened.splice(0)) await resource.close()
  })

  async function serve(lie: Lie, calls: Call[] = []): Promise<string> {
    const server: Server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const call = JSON.parse(Buffer.concat(chunks).toString()) as Call
        calls.push(call)
        const answer = lie(call, dogecoin(call))
        // A method that is not on the whitelist has status 403 (`httprpc.cpp`).
        if (typeof answer === 'string') return response.writeHead(answer === 'forbidden' ? 403 : 500).end(answer)
        // Core answers in the form of JSON-RPC 1.0, errors with status 500.
        response.writeHead('error' in answer ? 500 : 200)
        return response.end(JSON.stringify({ result: null, error: null, id: call.id, ...answer }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    opened.push(server)
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  function open(urls: readonly string[], genesis = idOf(0)): OpenChainClient {
    const settings = { live: {}, test: { dogecoin: { rpcUrls: urls, genesis } } }
    const client = createChainClient(settings, 'test', 'dogecoin', silent)
    if (client === null) throw new Error('no client')
    opened.push(client)
    return client
  }

  return { serve, open }
}

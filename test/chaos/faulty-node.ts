import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a node does wrong for a while. */
export const FAULTS = ['http error', 'hang up', 'cut off', 'null', 'empty', 'one short', 'stale head'] as const
export type Fault = (typeof FAULTS)[number]

/** Calls of each family whose answers are lists that may come empty or one short. */
const LIST_METHODS = new Set(['eth_getLogs', 'getrawmempool'])
/** How far a stale head lies behind. */
const STALE_BLOCKS = 2

/** A JSON-RPC node that passes everything on to an honest one, except while it is told to fail. */
export interface FaultyNode {
  readonly url: string
  /** Spoils the next answers that can be spoiled in this way. */
  fail(fault: Fault, answers: number): void
  /** Honest from now on. */
  mend(): void
  close(): Promise<void>
}

interface Call {
  readonly method: string
  readonly params?: readonly unknown[]
  readonly id: number
}

/** Starts a faulty node in front of an honest one; credentials in its URL are kept for the honest one. */
export async function startFaultyNode(honestUrl: string): Promise<FaultyNode> {
  const { origin, username, password } = new URL(honestUrl)
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const headers = { 'content-type': 'application/json', ...(username !== '' && { authorization }) }
  let current: { readonly fault: Fault; left: number } | null = null

  const forward = async (call: object): Promise<{ status: number; text: string }> => {
    const answer = await fetch(origin, { method: 'POST', headers, body: JSON.stringify(call) })
    return { status: answer.status, text: await answer.text() }
  }
  const resultOf = async (method: string, params: readonly unknown[]): Promise<unknown> =>
    (JSON.parse((await forward({ jsonrpc: '2.0', id: 1, method, params })).text) as { result: unknown }).result

  /** Takes one of the announced faults when this call can suffer it. */
  function take(call: Call): Fault | null {
    if (current === null || current.left === 0 || !suffers(call, current.fault)) return null
    current.left -= 1
    return current.fault
  }

  async function answer(body: string, response: ServerResponse): Promise<void> {
    const call = JSON.parse(body) as Call
    const fault = take(call)
    if (fault === 'hang up') response.destroy()
    else if (fault === 'http error') response.writeHead(502).end('Bad Gateway')
    else if (fault === 'stale head') send(response, 200, JSON.stringify(await staleAnswer(call, resultOf)))
    else {
      const { status, text } = await forward(call)
      send(response, status, fault === null ? text : spoil(text, fault))
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      answer(Buffer.concat(chunks).toString(), response).catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail(fault, answers) {
      current = { fault, left: answers }
    },
    mend() {
      current = null
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function suffers({ method, params }: Call, fault: Fault): boolean {
  if (fault === 'empty') return LIST_METHODS.has(method)
  if (fault === 'one short') return method === 'getrawmempool' || (method === 'eth_getLogs' && spansBlocks(params))
  if (fault === 'stale head') return method === 'getblockchaininfo' || params?.[0] === 'latest'
  return true
}

/** Nodes cut off what is long. One that leaves out some of a single block's logs cannot be told from an honest one. */
function spansBlocks(params: Call['params']): boolean {
  const [question] = (params ?? []) as readonly { fromBlock?: string; toBlock?: string }[]
  return question?.fromBlock !== question?.toBlock
}

function spoil(text: string, fault: Fault): string {
  if (fault === 'cut off') return text.slice(0, Math.floor(text.length / 2))
  const answer = JSON.parse(text) as { result?: unknown }
  if (fault === 'null') return JSON.stringify({ ...answer, result: null })
  const list = Array.isArray(answer.result) ? answer.result : []
  return JSON.stringify({ ...answer, result: fault === 'empty' ? [] : list.slice(0, -1) })
}

/** The head as it was two blocks ago, true in itself. */
async function staleAnswer(
  { id, method }: Call,
  resultOf: (method: string, params: readonly unknown[]) => Promise<unknown>,
): Promise<object> {
  if (method === 'getblockchaininfo') {
    const info = (await resultOf(method, [])) as { blocks: number }
    const blocks = info.blocks - STALE_BLOCKS
    return { id, error: null, result: { ...info, blocks, bestblockhash: await resultOf('getblockhash', [blocks]) } }
  }
  const height = Number(await resultOf('eth_blockNumber', [])) - STALE_BLOCKS
  const tag = `0x${Math.max(0, height).toString(16)}`
  return { jsonrpc: '2.0', id, result: await resultOf('eth_getBlockByNumber', [tag, false]) }
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

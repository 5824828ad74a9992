import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basicAuthentication } from '#shared/chains/nodes/http-endpoint.ts'

/** A JSON-RPC answer without its envelope. */
export interface RpcAnswer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  /** Sent instead of the id of the request. */
  readonly id?: unknown
  /** Sent instead of 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent instead of JSON-RPC. */
  readonly body?: string
}

/** Makes an answer out of a call and what the honest node said to it. */
export type Lie = (call: { method: string; params: unknown[] }, truth: RpcAnswer) => RpcAnswer | Promise<RpcAnswer>

/** A node that answers like the one at `honestUrl`, except where it lies. Credentials in that URL are sent to it as headers. */
export async function startLyingNode(
  honestUrl: string,
  lie: Lie,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const honest = new URL(honestUrl)
  const headers = { 'content-type': 'application/json', ...basicAuthentication(honest) }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      fetch(`${honest.origin}${honest.pathname}${honest.search}`, { method: 'POST', body, headers })
        .then(async (answer) => lie(JSON.parse(body), (await answer.json()) as RpcAnswer))
        .then(({ status = 200, headers = {}, body: text, ...answer }) => {
          response.writeHead(status, { ...headers })
          response.end(text ?? JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, ...answer }))
        })
        .catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Changes what one method answers, and is honest otherwise. */
export function lieAbout(method: string, change: (truth: never, params: unknown[]) => unknown): Lie {
  return (call, truth) => (call.method === method ? { result: change(truth.result as never, call.params) } : truth)
}

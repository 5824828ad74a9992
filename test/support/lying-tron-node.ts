import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseLosslessJson } from '#shared/chains/families/tron/lossless-json.ts'

/** One request to a TRON node and its honest answer. */
export interface TronTruth {
  /** Last part of the path, such as `getblockbynum`. */
  readonly method: string
  /** The whole path: `/wallet/getnowblock` and `/walletsolidity/getnowblock` have the same last part. */
  readonly path: string
  readonly params: Readonly<Record<string, unknown>>
  /** The answer, parsed. */
  readonly json: unknown
}

/** What to answer instead: text as it is, anything else as JSON, null cuts the connection. Undefined: the truth. */
export type TronLie = (truth: TronTruth) => unknown

/** A TRON node that answers like the one at `honestUrl`, except where it lies. */
export async function startLyingTronNode(
  honestUrl: string,
  lie: TronLie,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      const body = Buffer.concat(chunks).toString()
      fetch(`${honestUrl}${path}`, { method: 'POST', body })
        .then((answer) => answer.text())
        .then((text) => {
          const method = path.slice(path.lastIndexOf('/') + 1)
          const params = JSON.parse(body) as TronTruth['params']
          const said = lie({ method, path, params, json: parseLosslessJson(text) })
          if (said === null) response.destroy()
          else response.end(said === undefined ? text : typeof said === 'string' ? said : JSON.stringify(said))
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

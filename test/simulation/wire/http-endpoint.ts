import type { HttpAnswer, HttpEndpoint, HttpQuestion } from '#shared/chains/nodes/http-endpoint.ts'
import { RpcFailure } from '#shared/chains/nodes/rpc-failure.ts'

/** A simulated node behind a host: its answer to one POST, or `RpcFailure` where it gives none. */
export type WireNode = (question: HttpQuestion) => Promise<HttpAnswer>

const nodes = new Map<string, WireNode>()

/** Puts a node behind a host, in the place of the one that was there. */
export function listenAt(host: string, node: WireNode): void {
  nodes.set(host, node)
}

/**
 * Stands in for `shared/chains/nodes/http-endpoint.ts` in the bundle of the simulation: above it the product's clients run as they are, below it
 * are simulated nodes that speak the wire format.
 */
export function createHttpEndpoint(url: string): HttpEndpoint {
  const { host } = new URL(url)
  return {
    host,
    post: async (question) => {
      const node = nodes.get(host)
      if (node === undefined) throw new RpcFailure('retry', `${question.what} at ${host}: refused the connection`)
      return node(question)
    },
    close: async () => undefined,
  }
}

/** Simulated nodes ask nobody for a password. */
export const basicAuthentication = (): Readonly<Record<string, string>> => ({})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Stands between Paymesh and a shop, and does to deliveries what networks do to them. */
export interface Relay {
  readonly url: string
  /** How often each delivery reaches the shop, all at once. 0: it is answered with 200 and lost. */
  copies: number
  /** Where they go; set once the shop's address is there. */
  target: string
  /** Deliveries that came. */
  readonly seen: readonly { readonly type: string; readonly invoice: string }[]
  stop(): Promise<void>
}

/** Forwards deliveries with their bytes and signature, and answers with the worst of the shop's answers. */
export async function startRelay(): Promise<Relay> {
  const seen: { type: string; invoice: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const headers = {
      'content-type': 'application/json',
      'x-webhook-signature': String(request.headers['x-webhook-signature']),
    }
    const send = async (): Promise<number> =>
      await fetch(relay.target, { method: 'POST', headers, body }).then(
        ({ status }) => status,
        () => 502,
      )
    const answers = await Promise.all(Array.from({ length: relay.copies }, send))
    const { type, data } = JSON.parse(String(body))
    seen.push({ type, invoice: data.object.id })
    response.writeHead(Math.max(200, ...answers)).end()
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const relay: Relay = {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    copies: 1,
    target: '',
    seen,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return relay
}

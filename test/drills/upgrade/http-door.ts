import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http'
import { buffer } from 'node:stream/consumers'

/** One address in front of several processes. */
export interface HttpDoor {
  stop(): Promise<void>
}

const HOST = '127.0.0.1'

/**
 * Passes each request on `port` to the next of `targets` over its own connection, as nginx does with its default settings: a process
 * that is no longer a target gets no further request, whatever connections clients keep open. A request is sent to one target only; the next one
 * is tried when a connection is refused, before any byte was sent. Answers 502 when that fails for all. Rejects when the port is taken.
 */
export async function startHttpDoor(port: number, targets: readonly number[]): Promise<HttpDoor> {
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    const order = targets.map((_, index) => targets[(turn + index) % targets.length] ?? 0)
    turn += 1
    void buffer(incoming).then(
      (body) => pass(incoming, outgoing, body, order),
      () => outgoing.destroy(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, resolve)
  })
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: Buffer,
  [next, ...others]: readonly number[],
): void {
  if (next === undefined) return void outgoing.writeHead(502).end('no process accepts connections')
  const { method, url: path, headers } = incoming
  const forwarded = sendRequest({ host: HOST, port: next, method, path, headers: endToEnd(headers), agent: false })
  let isConnected = false
  forwarded.once('socket', (socket) => socket.once('connect', () => (isConnected = true)))
  forwarded.once('error', () => {
    if (isConnected) outgoing.destroy()
    else pass(incoming, outgoing, body, others)
  })
  forwarded.once('response', (response) => {
    response.once('error', () => outgoing.destroy())
    outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.headers))
    response.pipe(outgoing)
  })
  forwarded.end(body)
}

/** Headers without those of a single connection (RFC 9110, section 7.6.1). */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...others } = headers
  return others
}

import type { ServerResponse } from 'node:http'
import type { TransportFault } from './faults.ts'

const SLOW_MS = 100
/** Above what a rate source may send. */
const HUGE_BYTES = 6 * 1_024 * 1_024
const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends `body` over a connection with this fault. */
export function sendBroken(fault: TransportFault, body: string, response: ServerResponse): void {
  switch (fault) {
    case 'timeout':
      return
    case 'slow_body':
      sendSlowly(body, response)
      return
    case 'reset':
      response.writeHead(200, { ...JSON_TYPE, 'content-length': Buffer.byteLength(body) })
      response.write(body.slice(0, body.length / 2), () => response.socket?.resetAndDestroy())
      return
    case 'broken_gzip':
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
      response.end(body)
      return
    case 'huge':
      response.writeHead(200, JSON_TYPE)
      response.end(body + ' '.repeat(HUGE_BYTES))
  }
}

function sendSlowly(body: string, response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE)
  let sent = 0
  const timer = setInterval(() => {
    response.write(body.charAt(sent))
    sent += 1
    if (sent >= body.length) response.end()
  }, SLOW_MS)
  response.on('close', () => clearInterval(timer))
}

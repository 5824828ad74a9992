import type { IncomingMessage, ServerResponse } from 'node:http'
import compression from 'compression'

/**
 * Compresses responses of at least `thresholdBytes` with Brotli or gzip, as the client accepts them. Responses that are already
 * encoded, responses to HEAD and `Cache-Control: no-transform` stay as they are. Streams of server-sent events do too: a compressor
 * holds back an event until its window is full. For responses of few pieces: each wait for `drain` leaves a listener behind.
 */
export function compressAnswers(thresholdBytes: number): ReturnType<typeof compression> {
  return compression({
    threshold: thresholdBytes,
    filter: (request, response) => !isEventStream(request, response) && compression.filter(request, response),
  })
}

function isEventStream(request: IncomingMessage, response: ServerResponse): boolean {
  const type = response.getHeader('content-type')
  const isAsked = request.headers.accept?.includes('text/event-stream') === true
  return isAsked || String(type).startsWith('text/event-stream')
}

import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { StreamedEvent } from './forward-event.ts'
import { askServer, type ServerAccess, ServerRefusal } from './server-access.ts'

/** Messages of an event stream, in order. */
export type StreamMessage =
  | { readonly kind: 'ready'; readonly workspaceId: string; readonly mode: string }
  /** An event, or one of before that somebody had delivered once more. */
  | { readonly kind: 'event'; readonly event: StreamedEvent; readonly resent: boolean; readonly place: string | null }
  | { readonly kind: 'place'; readonly place: string }
  /** The history does not reach back to the end of the last stream. */
  | { readonly kind: 'gap'; readonly place: string | null }

/** Without any message for this long the connection is dead: the server sends a position every 15 s. */
const SILENCE_MS = 45_000

/**
 * One connection to the stream of events, starting at a position if one is given; it ends when the connection does. Throws
 * `ServerRefusal` when the key is not allowed, at once or later.
 */
export async function* followStream(
  access: ServerAccess,
  {
    events,
    place,
    signal,
  }: { readonly events: string | null; readonly place: string | null; readonly signal: AbortSignal },
): AsyncGenerator<StreamMessage> {
  const silence = new AbortController()
  const either = AbortSignal.any([signal, silence.signal])
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const query = events === null ? '' : `?events=${encodeURIComponent(events)}`
    const headers = { accept: 'text/event-stream', ...(place !== null && { 'last-event-id': place }) }
    const response = await askServer(access, `/listen${query}`, { headers, signal: either })
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null) {
      throw new ServerRefusal({ status: 404, code: 'NOT_FOUND', message: 'this server has no stream of events' })
    }
    const messages = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
    for await (const message of messages) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      const read = readMessage(message)
      if (read !== null) yield read
    }
  } finally {
    clearTimeout(timer)
  }
}

function readMessage(message: {
  event?: string | undefined
  id?: string | undefined
  data: string
}): StreamMessage | null {
  const { event: name, id: place = null, data } = message
  const value = JSON.parse(data)
  if (name === 'ready') return { kind: 'ready', workspaceId: String(value.workspace_id), mode: String(value.mode) }
  if (name === 'event' || name === 'resend') {
    const event = { id: String(value.id), type: String(value.type), body: data }
    return { kind: 'event', event, resent: name === 'resend', place }
  }
  if (name === 'place' && place !== null) return { kind: 'place', place }
  if (name === 'gap') return { kind: 'gap', place }
  if (name === 'end') {
    throw new ServerRefusal({ status: 403, code: String(value.code), message: String(value.message) })
  }
  return null
}

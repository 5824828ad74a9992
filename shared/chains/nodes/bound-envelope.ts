import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/**
 * What a node may send for one request beside the body of its response, in bytes on the wire, and as much again as the body has: heads, 1xx
 * responses, chunk sizes with their extensions, empty lines and TLS records. HTTP bounds none but the head, so they could go on until the
 * deadline, and take most of a processor.
 */
export const ENVELOPE_MAX_BYTES = 262_144

/** More came around a response than `ENVELOPE_MAX_BYTES`. */
export class EnvelopeTooLarge extends Error {
  override readonly name = 'EnvelopeTooLarge'
}

/** Bytes of a body that were read. */
interface Answer {
  readonly responseBytes: number
}

/** Requests by their bodies, which is how undici's diagnostics channel names them together with their connection. */
const answers = new WeakMap<object, Answer>()
/** The last request of a connection, and what had come on it before. */
const lastOf = new WeakMap<Socket, { readonly answer: Answer; readonly before: number }>()

/** Ends the connection of an HTTP/1.1 request of undici with `EnvelopeTooLarge` when more comes around its response. `body` is the request's, and of no other one. */
export function boundEnvelope(body: Buffer, answer: Answer): void {
  answers.set(body, answer)
}

subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: { body?: unknown }; socket: Socket }
  const answer = typeof request.body === 'object' && request.body !== null ? answers.get(request.body) : undefined
  if (answer === undefined) return
  const isNew = !lastOf.has(socket)
  lastOf.set(socket, { answer, before: socket.bytesRead })
  if (isNew) socket.on('readable', () => check(socket))
})

function check(socket: Socket): void {
  const last = lastOf.get(socket)
  if (last === undefined) return
  const body = last.answer.responseBytes
  if (socket.bytesRead - last.before > 2 * body + ENVELOPE_MAX_BYTES) socket.destroy(new EnvelopeTooLarge())
}

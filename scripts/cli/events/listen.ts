import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { parsePlainUrl } from '#shared/contracts/http/plain-url.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { deliveryIdFrom } from '#shared/domain/ids.ts'
import type { OutputOptions } from '../text/output.ts'
import { wholeNumber } from '../text/whole-number.ts'
import { type ForwardOutcome, forwardEvent, isTlsReason, localSecret, type StreamedEvent } from './forward-event.ts'
import {
  callServer,
  reasonOf,
  type ServerAccess,
  type ServerOptions,
  ServerRefusal,
  serverAccess,
  withServerOptions,
} from './server-access.ts'

interface ListenOptions extends OutputOptions, ServerOptions {
  readonly forwardTo: string
  readonly events?: string
  readonly resend?: string
  readonly skipVerify?: boolean
  readonly retry?: number
  readonly duplicate?: boolean
}

/** Pause between attempts to reach the server or the receiver, milliseconds. */
const RETRY_MS = 1_000
/** Ids of forwarded events that are kept: a stream that is read again may repeat some. */
const REMEMBERED_MAX = 2_000
/** Temporary refusals that are retried. */
const PASSING: readonly number[] = [429, 500, 502, 503, 504]

function parseUrl(text: string): string {
  const url = parsePlainUrl(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidArgumentError('an http:// or https:// address')
  // No request is sent to such an address, so that every event would fail.
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('an address without a name and a password')
  return url.href
}

const parseCount = wholeNumber(/^[1-8]$/, 'a whole number from 1 to 8')

function parseEvents(text: string): string {
  const unknown = text.split(',').filter((name) => name !== '*' && !EVENT_TYPES.some((type) => type === name))
  if (unknown.length > 0)
    throw new InvalidArgumentError(`unknown event ${unknown.join(', ')}; known events: ${EVENT_TYPES.join(', ')}`)
  return text
}

/** Prints lines for people, or one JSON value per line. */
function createVoice({ json }: OutputOptions) {
  return (value: Readonly<Record<string, unknown>>, text: string): void =>
    void process.stdout.write(`${json === true ? JSON.stringify(value) : text}\n`)
}
type Voice = ReturnType<typeof createVoice>

interface ForwardOptions {
  readonly url: string
  readonly secret: string
  readonly skipVerify: boolean
  /** Attempts after the first for an event that was not accepted. */
  readonly retries: number
  /** Sends every accepted event once more, as a real delivery may come twice. */
  readonly duplicates: boolean
  readonly say: Voice
  readonly stop: AbortSignal
}

/** An id in the form of real deliveries. */
const freshDeliveryId = (): string => deliveryIdFrom(randomBytes(32).toString('hex'))

const isAccepted = (outcome: ForwardOutcome): boolean =>
  outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300

/**
 * Forwards one event, with the retries and the duplicate that were asked for, each with its own line. Resolves with false when it was
 * stopped.
 */
async function forward(event: StreamedEvent, forwarding: ForwardOptions): Promise<boolean> {
  const { retries, duplicates, say, stop } = forwarding
  const id = freshDeliveryId()
  for (let attempt = 0; attempt <= retries; attempt += 1) {
    if (attempt > 0) await pause(RETRY_MS, undefined, { signal: stop }).catch(() => undefined)
    const outcome = await forwardUntilTaken(event, id, forwarding)
    if (outcome === null) return false
    sayOutcome(say, event, outcome)
    if (!isAccepted(outcome)) continue
    if (!duplicates) return true
    const again = await forwardUntilTaken(event, id, forwarding)
    if (again === null) return false
    sayOutcome(say, event, again)
    return true
  }
  return true
}

/** Sends one attempt, waiting while no receiver is listening; any response is final. Resolves with null when it was stopped. */
async function forwardUntilTaken(
  event: StreamedEvent,
  id: string,
  { url, secret, skipVerify, say, stop }: ForwardOptions,
): Promise<ForwardOutcome | null> {
  let said = false
  while (!stop.aborted) {
    const outcome = await forwardEvent(event, { url, secret, deliveryId: id, skipVerify, stop })
    // A request that was ended by Ctrl-C has no outcome worth a line.
    if (stop.aborted && outcome.kind !== 'answered') return null
    if (outcome.kind !== 'unreachable') return outcome
    if (!said) {
      const { reason } = outcome
      const cure = isTlsReason(reason)
        ? 'Its certificate or its TLS was refused: --skip-verify takes any certificate, NODE_EXTRA_CA_CERTS names a file with its issuer.'
        : 'Start your receiver.'
      const text = `No response from ${url} (${reason}). ${cure} ${event.type} ${event.id} and later events wait for it.`
      say({ kind: 'waiting', event: event.id, reason }, text)
    }
    said = true
    await pause(RETRY_MS, undefined, { signal: stop }).catch(() => undefined)
  }
  return null
}

function sayOutcome(say: Voice, event: StreamedEvent, outcome: ForwardOutcome): void {
  const { id, type } = event
  const again = `Resend it with: paymesh listen --forward-to … --resend ${id}`
  if (outcome.kind === 'answered') {
    const { status, durationMs } = outcome
    const isTaken = isAccepted(outcome)
    say(
      { kind: 'forwarded', id, type, status, duration_ms: durationMs },
      `${type}  ${id}  ${status} in ${durationMs} ms${isTaken ? '' : `\n  The receiver did not accept it. ${again}`}`,
    )
  } else {
    say(
      { kind: 'failed', id, type, reason: outcome.reason },
      `${type}  ${id}  no response (${outcome.reason})\n  ${again}`,
    )
  }
}

async function resend(access: ServerAccess, id: string, forwarding: ForwardOptions): Promise<void> {
  const response = await callServer(access, `/listen/events/${encodeURIComponent(id)}`)
  const body = await response.text()
  const event = { id, type: String(JSON.parse(body).type), body }
  const outcome = await forwardEvent(event, { ...forwarding, deliveryId: freshDeliveryId() })
  sayOutcome(forwarding.say, event, outcome)
  if (!isAccepted(outcome)) process.exitCode = 1
}

/** Follows the stream across interrupted connections until it is stopped or the server refuses. */
async function forwardAll(access: ServerAccess, events: string | null, forwarding: ForwardOptions): Promise<void> {
  const { say, stop } = forwarding
  const forwarded = new Set<string>()
  let place: string | null = null
  let isFirst = true
  let isCut = false
  const remember = (id: string): void => {
    forwarded.add(id)
    const [oldest] = forwarded
    if (forwarded.size > REMEMBERED_MAX && oldest !== undefined) forwarded.delete(oldest)
  }
  while (!stop.aborted) {
    try {
      for await (const message of followStream(access, { events, place, signal: stop })) {
        if (message.kind === 'ready') {
          sayReady(message, { isFirst, isCut, forwarding })
          isFirst = false
          isCut = false
          continue
        }
        if (message.kind === 'gap') {
          say(
            { kind: 'gap' },
            'The server’s history does not reach back to the lost connection: events may be missing. Check the Events page.',
          )
        } else if (message.kind === 'event' && (message.resent || !forwarded.has(message.event.id))) {
          if (!(await forward(message.event, forwarding))) return
          remember(message.event.id)
        }
        // Only now: an event that was not forwarded is read again by the next connection.
        place = message.place ?? place
      }
    } catch (error) {
      if (stop.aborted) return
      const passes = error instanceof ServerRefusal ? PASSING.includes(error.status) && !isFirst : !isFirst
      if (!passes) throw error
      if (!isCut)
        say(
          { kind: 'lost', reason: reasonOf(error) },
          `The connection to ${access.url} was lost (${reasonOf(error)}); reconnecting. No events are lost meanwhile.`,
        )
      isCut = true
    }
    await pause(RETRY_MS, undefined, { signal: stop }).catch(() => undefined)
  }
}

function sayReady(
  ready: { readonly mode: string; readonly workspaceId: string },
  {
    isFirst,
    isCut,
    forwarding,
  }: { readonly isFirst: boolean; readonly isCut: boolean; readonly forwarding: ForwardOptions },
): void {
  const { say, url, secret } = forwarding
  if (isCut) say({ kind: 'resumed' }, 'Reconnected; continuing after the last event.')
  if (!isFirst) return
  say(
    { kind: 'ready', mode: ready.mode, workspace_id: ready.workspaceId, forward_to: url, secret },
    `Forwarding ${ready.mode} events of workspace ${ready.workspaceId} to ${url}.\nSigning secret of these deliveries: ${secret}\nTrigger one with \`paymesh trigger invoice.paid\`; press Ctrl-C to stop.`,
  )
}

async function listen(options: ListenOptions, command: Command): Promise<void> {
  const access = serverAccess({ ...options, ...command.optsWithGlobals<ListenOptions>() })
  const stopping = new AbortController()
  const stop = (): void => stopping.abort()
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, stop)
  const forwarding = {
    url: options.forwardTo,
    secret: localSecret(access.apiKey),
    skipVerify: options.skipVerify === true,
    retries: options.retry ?? 0,
    duplicates: options.duplicate === true,
    say: createVoice(options),
    stop: stopping.signal,
  }
  try {
    if (options.resend !== undefined) await resend(access, options.resend, forwarding)
    else await forwardAll(access, options.events ?? null, forwarding)
  } finally {
    for (const signal of signals) process.off(signal, stop)
  }
}

/** `listen`: real events on a developer's machine, without a public address. */
export function addListenCommand(program: Command): void {
  withServerOptions(
    program
      .command('listen')
      .description(
        'Forward the events of an API key’s workspace and mode to a receiver on this machine, signed with a separate secret. The key needs webhooks:manage.',
      )
      .requiredOption('--forward-to <url>', 'the receiver, for example http://localhost:3000/webhooks', parseUrl)
      .option('--events <types>', 'only these, separated by commas; default: all', parseEvents)
      .option('--resend <id>', 'send this event (evt_…) once more, and end')
      .option('--skip-verify', 'take any TLS certificate of the receiver, for one that signed its own')
      .option('--retry <count>', 'send an event that was not accepted this many times more, a second apart', parseCount)
      .option('--duplicate', 'send every accepted event twice, as a real delivery may come twice'),
  )
    .option('--json', 'print one JSON value a line')
    .action(listen)
}

/** Messages of an event stream, in order. */
type StreamMessage =
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
async function* followStream(
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
    const response = await callServer(access, `/listen${query}`, { headers, signal: either })
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

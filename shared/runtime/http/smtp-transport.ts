import { PassThrough } from 'node:stream'
import nodemailer from 'nodemailer'
import { errorText } from '#shared/contracts/error-text.ts'
import type { MailAddress } from '#shared/contracts/mail-address.ts'
import type { MailFault, MailResult, MailTransport, OutgoingMail } from '#shared/ports/mail-transport.ts'

/** One deadline for everything, well within the mailer's lease. */
const DEADLINE_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
const SILENCE_TIMEOUT_MS = 20_000
const REPLY_CHARS = 300

export interface SmtpTransportOptions {
  /** `smtp://` or `smtps://`, with credentials if the server requires them. */
  readonly url: string
  readonly from: MailAddress
  /** Total deadline of one mail. Default 30 s. */
  readonly deadlineMs?: number
}

/** A `MailTransport` that can be closed. */
export interface SmtpTransport extends MailTransport {
  /** Aborts mails in progress with the fault `stopped`. */
  close(): void
}

/** Stage of the SMTP session: only errors from `envelope` on concern the mail. */
type Stage = 'server' | 'envelope'

interface Conversation {
  stage: Stage
  readonly over: AbortController
}

/**
 * Sends over SMTP, one connection for each mail. Credentials are sent only encrypted: with them, and anywhere but on this
 * machine, a connection that cannot be upgraded to TLS is closed.
 */
export function createSmtpTransport(options: SmtpTransportOptions): SmtpTransport {
  const settings = connectionSettings(options.url)
  const talking = new Set<Conversation>()
  return {
    send: async (mail) => {
      const conversation: Conversation = { stage: 'server', over: new AbortController() }
      talking.add(conversation)
      const timer = setTimeout(() => conversation.over.abort('timeout'), options.deadlineMs ?? DEADLINE_MS)
      try {
        return { outcome: 'sent', reply: plain(await converse(conversation, settings, options.from, mail)) }
      } catch (error) {
        return failure(conversation, error)
      } finally {
        clearTimeout(timer)
        talking.delete(conversation)
      }
    },
    close: () => {
      for (const { over } of talking) over.abort('stopped')
    },
  }
}

/** What the URL states, `requireTLS=false` among it, goes before the rest. */
function connectionSettings(url: string) {
  const { protocol, hostname, username, searchParams } = new URL(url)
  const isLocal = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
  const isEncrypted = protocol === 'smtps:' || searchParams.get('secure') === 'true'
  return {
    // A login that the server does not offer fails: mails would go out under no name.
    forceAuth: true,
    requireTLS: username !== '' && !isEncrypted && !isLocal,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    url,
  }
}

/**
 * The server's final reply when it accepted the mail. Addresses are passed as objects, never as text to be parsed; nothing is read from
 * files or URLs.
 */
async function converse(
  conversation: Conversation,
  settings: ReturnType<typeof connectionSettings>,
  from: MailAddress,
  mail: OutgoingMail,
): Promise<string> {
  const transporter = nodemailer.createTransport(settings)
  transporter.use('stream', ({ message }, done) => {
    // The message is read when the session is open and its envelope is about to be sent.
    message?.transform(() => {
      conversation.stage = 'envelope'
      return new PassThrough()
    })
    done()
  })
  const to = { name: '', address: mail.to }
  const { response } = await transporter.sendMail({
    from,
    to,
    envelope: { from: { name: '', address: from.address }, to: [to] },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: mail.messageId,
    date: new Date(mail.date),
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
    signal: conversation.over.signal,
  })
  return response
}

function failure({ stage, over }: Conversation, error: unknown): MailResult {
  if (over.signal.reason === 'stopped')
    return { outcome: 'failed', fault: 'stopped', reason: 'the mailer was stopping' }
  const said = errorText(error)
  const reason = over.signal.aborted ? 'the server had not accepted the mail at the deadline' : plain(said)
  return { outcome: 'failed', fault: faultOf(stage, error), reason }
}

/** By stage and reply code, never by text (RFC 5321 §4.2.1: 5yz is permanent, 4yz temporary). */
function faultOf(stage: Stage, error: unknown): MailFault {
  if (stage === 'server') return 'server'
  const code = numberIn(error, 'responseCode')
  if (code === null) return 'unclear'
  // A rejected sender, or a command out of sequence, is a fault of this installation and not of the mail.
  if (code === 503 || (error instanceof Error && 'command' in error && error.command === 'MAIL FROM')) return 'server'
  return code >= 500 ? 'refused' : 'deferred'
}

function numberIn(error: unknown, field: string): number | null {
  const value: unknown = error instanceof Error ? (error as Error & Record<string, unknown>)[field] : null
  return typeof value === 'number' ? value : null
}

function plain(text: string): string {
  return text.replace(/\p{C}+/gu, ' ').slice(0, REPLY_CHARS)
}

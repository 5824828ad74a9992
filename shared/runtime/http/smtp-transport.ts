import MailComposer from 'nodemailer/lib/mail-composer'
import { parseConnectionUrl } from 'nodemailer/lib/shared'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
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
type Stage = 'server' | 'envelope' | 'done'

interface Conversation {
  stage: Stage
  readonly connection: SMTPConnection
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
      const { auth, ...connectionOptions } = settings
      const connection = new SMTPConnection(connectionOptions)
      const conversation: Conversation = { stage: 'server', connection, over: new AbortController() }
      talking.add(conversation)
      const timer = setTimeout(() => conversation.over.abort('timeout'), options.deadlineMs ?? DEADLINE_MS)
      try {
        const reply = await Promise.race([converse(conversation, auth, options.from, mail), ended(conversation)])
        return { outcome: 'sent', reply: plain(reply) }
      } catch (error) {
        return failure(conversation, error)
      } finally {
        clearTimeout(timer)
        talking.delete(conversation)
        connection.close()
      }
    },
    close: () => {
      for (const { over } of talking) over.abort('stopped')
    },
  }
}

function connectionSettings(url: string) {
  const given = parseConnectionUrl(url)
  const isLocal = given.host === 'localhost' || given.host === '127.0.0.1' || given.host === '[::1]'
  return {
    requireTLS: given.auth !== undefined && given.secure !== true && !isLocal,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    socketCloseTimeout: 0,
    ...given,
    logger: false,
  }
}

/** The server's final reply when it accepted the mail. */
async function converse(
  conversation: Conversation,
  auth: ReturnType<typeof connectionSettings>['auth'],
  from: MailAddress,
  mail: OutgoingMail,
): Promise<string> {
  const { connection } = conversation
  const message = await compose(from, mail)
  await new Promise<void>((resolve, reject) => connection.connect((error) => (error ? reject(error) : resolve())))
  if (auth !== undefined) {
    if (!connection.allowsAuth) throw new Error('the server offers no login')
    const credentials = { user: auth.user ?? '', pass: auth.pass ?? '' }
    await new Promise<void>((resolve, reject) =>
      connection.login({ user: credentials.user, credentials }, (error) => (error ? reject(error) : resolve())),
    )
  }
  conversation.stage = 'envelope'
  const envelope = { from: from.address, to: [mail.to] }
  const response = await new Promise<string>((resolve, reject) =>
    connection.send(envelope, message, (error, info) => (error ? reject(error) : resolve(info?.response ?? ''))),
  )
  conversation.stage = 'done'
  return response
}

/** Addresses are passed as objects, never as text to be parsed; nothing is read from files or URLs. */
function compose(from: MailAddress, mail: OutgoingMail): Promise<Buffer> {
  return new MailComposer({
    from,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: mail.messageId,
    date: new Date(mail.date),
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: 'win',
  })
    .compile()
    .build()
}

function ended({ connection, over }: Conversation): Promise<never> {
  return new Promise((_resolve, reject) => {
    over.signal.addEventListener('abort', () => reject(new Error(String(over.signal.reason))), { once: true })
    // Without a listener, a second error of one connection would end the process.
    connection.on('error', (error: unknown) => reject(error))
    connection.once('end', () => reject(new Error('the server ended the connection')))
  })
}

function failure({ stage, over }: Conversation, error: unknown): MailResult {
  if (over.signal.reason === 'stopped')
    return { outcome: 'failed', fault: 'stopped', reason: 'the mailer was stopping' }
  const said = error instanceof Error ? error.message : String(error)
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

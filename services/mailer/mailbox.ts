import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MailAddress } from '#shared/contracts/mail-address.ts'
import type { MailQueue } from '#shared/db/mails/mail-queue.ts'
import type { QueuedMail } from '#shared/ports/mail-queue.ts'
import { type RenderedMail, renderMail } from '#shared/usecases/mails/render-mail.ts'
import { listPage, mailPage, STYLE_HASH } from './mailbox-pages.ts'

/** The local mailbox of a development installation. */
export interface Mailbox {
  readonly port: number
  stop(): Promise<void>
}

export interface MailboxOptions {
  readonly mails: Pick<MailQueue, 'listNewest' | 'findById'>
  readonly from: MailAddress
  /** 0 = any free port. */
  readonly port: number
}

const LIST_MAX = 100
/** Only our own style sheet; a mail is framed from here and may load nothing at all. */
const PAGE_POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
/** Mails carry their style in attributes. `sandbox` also when one is opened directly. */
const MAIL_POLICY = `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox`

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly policy: string
}

/**
 * Serves a page on 127.0.0.1 that lists the newest mails and shows each as its receiver would see it. Read-only, and
 * only for host names of this machine, so that no web page elsewhere can read it through DNS rebinding. Rejects when the
 * port is taken.
 */
export async function startMailbox(options: MailboxOptions): Promise<Mailbox> {
  const server = createServer((request, response) => {
    answer(options, request).then(
      (found) => send(response, found),
      () => send(response, plain(500, 'Could not load the emails.')),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(options: MailboxOptions, request: IncomingMessage): Promise<Answer> {
  const { mails, from } = options
  if (!isOwnName(request.headers.host)) return plain(421, 'This page is only available on this machine.')
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'This page is read-only.')
  const path = request.url?.split('?')[0] ?? '/'
  if (path === '/') return page(200, listPage(await mails.listNewest(LIST_MAX), titleOf))
  const { id = '', part } = /^\/mails\/(?<id>[^/]+?)(?<part>\/html)?$/.exec(path)?.groups ?? {}
  const mail = await mails.findById(decoded(id))
  if (mail === null) return plain(404, 'Email not found.')
  if (part === undefined) return page(200, mailPage(mail, from, rendered(mail)))
  return { status: 200, type: 'text/html', body: rendered(mail)?.html ?? '', policy: MAIL_POLICY }
}

/** Null when the mail lacks values of its template; the page then shows its data. */
function rendered(mail: QueuedMail): RenderedMail | null {
  try {
    return renderMail(mail)
  } catch {
    return null
  }
}

function titleOf(mail: QueuedMail): string {
  return rendered(mail)?.subject ?? `(${mail.template} cannot be rendered)`
}

function isOwnName(host: string | undefined): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(host ?? '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

const page = (status: number, body: string): Answer => ({ status, type: 'text/html', body, policy: PAGE_POLICY })
const plain = (status: number, text: string): Answer => {
  return { status, type: 'text/plain', body: `${text}\n`, policy: PAGE_POLICY }
}

function send(response: ServerResponse, { status, type, body, policy }: Answer): void {
  response
    .writeHead(status, {
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      ...(status === 405 && { allow: 'GET, HEAD' }),
    })
    .end(response.req.method === 'HEAD' ? undefined : body)
}

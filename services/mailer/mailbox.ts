import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Html, html } from '#shared/contracts/html.ts'
import type { MailAddress } from '#shared/contracts/mail-address.ts'
import type { MailQueue } from '#shared/db/mails/mail-queue.ts'
import type { QueuedMail } from '#shared/ports/mail-queue.ts'
import { listenOn } from '#shared/runtime/http/listen-on.ts'
import { type RenderedMail, renderMail } from '#shared/usecases/mails/render-mail.ts'
import { mailMessageId } from '#shared/usecases/mails/send-mails.ts'

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; overflow-wrap: anywhere }
iframe { width: 100%; height: 28rem; border: 1px solid #8884; background: #fff }
pre { white-space: pre-wrap; border: 1px solid #8884; padding: 1rem }
.failed { color: #c33 }
`

/** The only style sheet that the pages' policy admits, as a CSP source. */
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`

const REFRESH_S = 3

/** The newest mails, newest first; the page refreshes automatically. */
function listPage(mails: readonly QueuedMail[], titleOf: (mail: QueuedMail) => string): string {
  const rows = mails.map(
    (mail) => html`<tr><td><time>${time(mail.createdAt)}</time></td><td>${mail.to}</td>
<td><a href="/mails/${encodeURIComponent(mail.id)}">${titleOf(mail)}</a></td>
<td class="${mail.status}">${mail.status}</td></tr>\n`,
  )
  const list = html`<table><thead><tr><th>Time</th><th>To</th><th>Subject</th><th>Status</th></tr></thead>
<tbody>${rows}</tbody></table>`
  const body = html`<h1>Local mailbox</h1>
<p>Emails sent by this development server, newest first. This page refreshes every ${REFRESH_S} seconds.</p>
${mails.length === 0 ? html`<p>No emails yet.</p>` : list}`
  return frame('Local mailbox', html`<meta http-equiv="refresh" content="${REFRESH_S}">`, body)
}

/** One mail with its headers, both bodies and its outcome; `rendered` is null when it cannot be rendered. */
function mailPage(mail: QueuedMail, from: MailAddress, rendered: RenderedMail | null): string {
  const facts: readonly (readonly [string, string])[] = [
    ['From', from.name === '' ? from.address : `${from.name} <${from.address}>`],
    ['To', mail.to],
    ['Date', time(mail.createdAt)],
    ['Message-ID', mailMessageId(mail.id, from)],
    ['Status', [mail.status, mail.lastReply].filter((part) => part !== null).join(': ')],
  ]
  const title = rendered?.subject ?? mail.template
  const rows = facts.map(([name, value]) => html`<tr><th>${name}</th><td>${value}</td></tr>\n`)
  const bodies =
    rendered === null
      ? html`<pre>${JSON.stringify(mail.data, null, 2)}</pre>`
      : html`<iframe sandbox title="HTML body" src="/mails/${encodeURIComponent(mail.id)}/html"></iframe>
<h2>Plain text</h2><pre>${rendered.text}</pre>`
  return frame(
    title,
    null,
    html`<p><a href="/">All emails</a></p><h1>${title}</h1><table><tbody>${rows}</tbody></table>${bodies}`,
  )
}

function frame(title: string, head: Html | null, body: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
${head}<style>${{ markup: STYLE }}</style></head>
<body>${body}</body></html>
`.markup
}

function time(at: number): string {
  return new Date(at).toISOString()
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
export async function startMailbox(options: MailboxOptions) {
  const server = createServer((request, response) => {
    answer(options, request).then(
      (found) => send(response, found),
      () => send(response, plain(500, 'Could not load the emails.')),
    )
  })
  const { port } = await listenOn(server, options.port, '127.0.0.1')
  return {
    port,
    stop: () =>
      new Promise<void>((resolve) => {
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

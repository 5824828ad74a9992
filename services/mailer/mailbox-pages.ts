import { createHash } from 'node:crypto'
import { type Html, html } from '#shared/contracts/html.ts'
import type { MailAddress } from '#shared/contracts/mail-address.ts'
import type { QueuedMail } from '#shared/ports/mail-queue.ts'
import type { RenderedMail } from '#shared/usecases/mails/render-mail.ts'
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
export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`

const REFRESH_S = 3

/** The newest mails, newest first; the page refreshes automatically. */
export function listPage(mails: readonly QueuedMail[], titleOf: (mail: QueuedMail) => string): string {
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
export function mailPage(mail: QueuedMail, from: MailAddress, rendered: RenderedMail | null): string {
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

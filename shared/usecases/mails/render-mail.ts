import { type Html, html } from '#shared/contracts/html.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import { ACCOUNT_MAILS } from './account-mails.ts'
import type { Content, Fact } from './mail-content.ts'

const OPERATOR_REASON = 'You receive this email because you are an operator of this Paymesh server.'

const problemsOf = (fact: Fact): readonly string[] =>
  Array.from({ length: Number(fact('count')) }, (_, place) => fact(`problem_${place + 1}`))

/** Mails to the operators of the installation. */
const INSTALLATION_MAILS = {
  installation_problems: (fact: Fact): Content => ({
    subject: `Paymesh needs you: ${fact('headline')}`,
    paragraphs: [...problemsOf(fact), 'This is the only email about this until it is over.'],
    facts: [
      ['Problems', fact('count')],
      ['Seen', fact('time')],
    ],
    advice: 'Run `paymesh doctor` on the server: it names each fault and what to do about it.',
    reason: OPERATOR_REASON,
  }),
  installation_recovered: (fact: Fact): Content => ({
    subject: `Paymesh recovered: ${fact('headline')}`,
    paragraphs: ['This is over, and was not seen for 15 minutes:', ...problemsOf(fact)],
    facts: [
      ['Problems', fact('count')],
      ['Over', fact('time')],
    ],
    advice: 'Nothing is left to do for it.',
    reason: OPERATOR_REASON,
  }),
} as const

/** A mail in both forms. */
export interface RenderedMail {
  /** One line. */
  readonly subject: string
  readonly text: string
  readonly html: string
}

const TEMPLATES: Readonly<Record<MailRecord['template'], (fact: Fact) => Content>> = {
  ...ACCOUNT_MAILS,
  ...INSTALLATION_MAILS,
  payment_reorged: (fact) => ({
    subject: `A payment of invoice ${fact('invoice_number')} was reversed`,
    paragraphs: [
      `The network reversed a payment of invoice ${fact('invoice_number')}: another block replaced its block.`,
      'The invoice keeps its status, because you may have delivered already. If the payment returns in another block, it is applied again automatically.',
    ],
    facts: [
      ['Invoice', fact('invoice_id')],
      ['Payment', fact('payment_key')],
      ['Mode', fact('mode')],
    ],
    advice: 'Do not ship until the payment is back. Run `paymesh invoice explain ID` to see its state.',
  }),
  endpoint_failing: (fact) => ({
    subject: 'A webhook endpoint is failing',
    paragraphs: [
      'We could not deliver three events in a row to one of your webhook endpoints. We tried each event nine times over two days and will not retry them automatically.',
      'We still send new events. This is the only email about these failures until a delivery succeeds.',
    ],
    facts: [
      ['Endpoint', fact('endpointId')],
      ['URL', withoutQuery(fact('url'))],
      ['First failed delivery', fact('firstDeliveryId')],
    ],
    advice:
      'Fix the receiver, test it with `paymesh endpoint test ID`, then resend the missed events with `paymesh delivery recover ID --since TIME`.',
  }),
  endpoints_behind: (fact) => ({
    subject: `Webhooks of ${fact('workspace')} are late`,
    paragraphs: [
      `Events for ${fact('workspace')} arrive faster than your receiver answers, so they are delivered late. Nothing is lost, and we keep sending as fast as it allows.`,
      'This is the only email about it until your endpoints have kept up for an hour, and at most one a day.',
    ],
    facts: [
      ['Endpoints', fact('count')],
      ['Slowest', fact('endpointId')],
      ['URL', withoutQuery(fact('url'))],
      ['State', fact('state')],
      ['Since', fact('since')],
    ],
    advice:
      'Answer each request at once with 200 and process the event afterwards, or let the receiver take more requests at the same time. Under Webhooks in the dashboard you can see how far each endpoint is behind.',
  }),
  shared_key_material: (fact) => ({
    subject: 'A receiving key is used by more than one workspace',
    paragraphs: [
      `Another workspace on this Paymesh server added a key for ${fact('family')} addresses that one of your wallets uses.`,
      'Each address is still used for only one invoice across both workspaces, and payments are not mixed up. But both owners can see the payments that arrive.',
    ],
    facts: [
      ['Fingerprint', fact('fingerprint')],
      ['Mode', fact('mode')],
    ],
    advice: 'If you do not know the other workspace, add a new key and disable the old wallet.',
  }),
  addresses_low: (fact) => ({
    subject: `Only ${fact('free')} ${fact('family')} addresses left`,
    paragraphs: [
      `Only ${fact('free')} of ${fact('total')} ${fact('family')} addresses in your pool are free. When none are left, customers can no longer pay with its coins.`,
    ],
    facts: [
      ['Free', fact('free')],
      ['Total', fact('total')],
      ['Mode', fact('mode')],
    ],
    advice: 'Add addresses to the wallet with `paymesh wallet add`.',
  }),
  exceptions_digest: (fact) => ({
    subject: `${fact('count')} open exceptions at ${fact('workspace')}`,
    paragraphs: [
      `${fact('count')} exceptions at ${fact('workspace')} need a decision. The money is safe in your wallets.`,
    ],
    facts: [
      ['Open', fact('count')],
      ['Kinds', fact('kinds')],
    ],
    advice: 'Open Exceptions in the dashboard. The oldest come first.',
  }),
  wallet_changed: (fact) => ({
    subject: `A live wallet of ${fact('workspace')} was ${fact('change')}`,
    paragraphs: [
      `${fact('actor')} changed a live wallet of ${fact('workspace')}: it was ${fact('change')}. Every owner gets this email.`,
    ],
    facts: [
      ['Takes effect', fact('effective')],
      ['Family', fact('family')],
      ['Kind', fact('kind')],
      ['First address', fact('first_address')],
      ['Wallet', fact('wallet')],
    ],
    advice:
      'If none of you did this, disable the wallet in the dashboard before it takes effect, and change your passwords.',
  }),
  address_displaced: (fact) => ({
    subject: `${fact('workspace')} no longer receives on ${fact('what')}`,
    paragraphs: [
      `Another workspace on this Paymesh server proved with a signed message that it controls ${fact('what')} that a live wallet of ${fact('workspace')} used. ${fact('workspace')} had not proved control.`,
      'New invoices do not use these addresses. Open invoices keep their address until they end, but payments to it now appear under Exceptions of the other workspace and pay none of your invoices.',
    ],
    facts: [
      ['Family', fact('family')],
      ['Addresses', fact('addresses')],
    ],
    advice:
      'If you control them, prove it in the dashboard under Wallets. If not, add your own wallet and cancel open invoices that use these addresses.',
  }),
  address_proved: (fact) => ({
    subject: `${fact('workspace')} proved that it controls ${fact('what')}`,
    paragraphs: [
      `${fact('workspace')} proved with a signed message that it controls ${fact('what')}. Another workspace on this Paymesh server received payments there before and no longer does.`,
      'Open invoices of that workspace may show these addresses until they end. Payments to them reach your wallet and appear under your Exceptions.',
    ],
    facts: [
      ['Family', fact('family')],
      ['Addresses', fact('addresses')],
    ],
    advice: 'If none of you signed this message, someone else can sign with the keys of this wallet. Move your funds.',
  }),
}

const REASON = 'You receive this email because this is the owner’s address of a workspace on this Paymesh server.'

/** Renders the mail. Throws a TypeError when its data lack a value that the template names: that is a bug. */
export function renderMail({ template, data }: Pick<MailRecord, 'template' | 'data'>): RenderedMail {
  const content = TEMPLATES[template]((name) => {
    const value = Object.hasOwn(data, name) ? data[name] : undefined
    if (value === undefined) throw new TypeError(`mail ${template} lacks its value ${name}`)
    return oneLine(value)
  })
  return { subject: oneLine(content.subject), text: asText(content), html: asHtml(content).markup }
}

function asText({ paragraphs, facts, advice, reason = REASON }: Content): string {
  const width = Math.max(...facts.map(([label]) => label.length))
  const lines = facts.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`)
  return [...paragraphs, lines.join('\n'), advice, `-- \n${reason}`].join('\n\n')
}

function asHtml({ subject, paragraphs, facts, advice, reason = REASON }: Content): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font-family:sans-serif;max-width:40em">
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}<table>
${facts.map(([label, value]) => html`<tr><th align="left">${label}</th><td><code>${value}</code></td></tr>\n`)}</table>
<p>${advice}</p>
<p><small>${reason}</small></p>
</body></html>
`
}

/** Line breaks and control characters of any script become spaces, so that no value can end a header or a line. */
function oneLine(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]+/gu, ' ').trim()
}

/** Queries of URLs may hold tokens. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*/s, '')
}

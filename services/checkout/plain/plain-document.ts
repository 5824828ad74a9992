import type { Response } from 'express'
import { fiatText } from '#services/checkout/web/src/format/format-values.ts'
import { plain } from '#services/checkout/web/src/format/plain.ts'
import type { FiatView, MerchantView } from '#shared/contracts/checkout/invoice-view.ts'
import { type Content, type Html, html } from '#shared/contracts/html.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { PlainSpeech } from './plain-speech.ts'

/** No script at all; forms are sent to this origin alone. Codes are pictures of the document's own. */
const PLAIN_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

/** A document without JavaScript. */
export interface PlainPage {
  readonly title: string
  /** Null on a page about nothing. */
  readonly bill: {
    readonly mode: Mode
    readonly merchant: MerchantView
    readonly head: Content
    readonly total: Content
    readonly description: string | null
    readonly facts: readonly (readonly [string, Content])[]
  } | null
  readonly body: Content
  /** The same page with JavaScript; null where there is none. */
  readonly scripted: string | null
}

/** Sends a document. Browsers send the origin with its forms, which the checks of `plain-routes.ts` need. */
export function sendPlain(
  response: Response,
  { speech, styles }: { readonly speech: PlainSpeech; readonly styles: readonly string[] },
  { title, bill, body, scripted }: PlainPage,
): void {
  const { language, say, words } = speech
  const isTest = bill?.mode === 'test'
  const name = bill === null ? title : `${title} · ${plain(bill.merchant.name)}`
  const page = html`<!doctype html>
<html lang="${language}" data-mode="${bill?.mode ?? 'live'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
${styles.map((path) => html`<link rel="stylesheet" href="${path}">\n`)}<title>${isTest ? '[TEST] ' : ''}${name}</title>
</head>
<body>
${isTest ? html`<aside class="test-band" aria-label="${say('test.label')}"><b>${say('test.mode')}</b><span>${say('test')}</span></aside>` : null}
<main class="sheet${bill === null ? ' narrow-sheet' : ''}">
${bill === null ? null : billOf(speech, bill)}
<section class="till" id="till">${body}${
    scripted === null ? null : html`<p class="tip"><a href="${scripted}">${words.script}</a></p>`
  }</section>
</main>
<footer class="page-foot">${say('by')}</footer>
</body>
</html>
`
  response
    .set({
      'Content-Security-Policy': PLAIN_POLICY,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'same-origin',
      Vary: 'Accept-Language',
    })
    .type('html')
    .send(page.markup)
}

function billOf({ say }: PlainSpeech, bill: NonNullable<PlainPage['bill']>): Html {
  return html`<header class="bill open">
<div class="bill-head"><div class="who"><strong>${foreign(bill.merchant.name)}</strong><small>${bill.head}</small></div></div>
<div class="total"><span class="sum">${bill.total}</span></div>
<div class="facts">${bill.description === null ? null : html`<p class="description">${foreign(bill.description)}</p>`}
${factList(bill.facts)}
<p class="bill-foot"><span>${say('foot', { m: bill.merchant.name })}</span></p></div>
</header>`
}

/** Names and values; nothing without any. */
export function factList(facts: readonly (readonly [string, Content])[], kind = ''): Html | null {
  if (facts.length === 0) return null
  return html`<dl class="${kind}">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`
}

/** Text of other people: apart from the direction of what surrounds it. */
export const foreign = (text: string): Html => html`<bdi dir="auto">${plain(text)}</bdi>`

/** An amount of fiat, its code smaller. */
export function sumOf({ locale }: PlainSpeech, fiat: FiatView): Html {
  const text = fiatText(fiat, locale(fiat.currency))
  return html`${text.slice(0, -fiat.currency.length - 1)} <i>${fiat.currency}</i>`
}

/** A message with its heading. */
export const message = (title: string, text: Content): Html => html`<h1>${title}</h1><div class="sub">${text}</div>`

/** What went wrong with a form. */
export const problem = (text: string | null): Html | null =>
  text === null ? null : html`<p class="problem" role="alert">${text}</p>`

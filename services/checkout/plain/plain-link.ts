import { fiatText } from '#services/checkout/web/src/format/format-values.ts'
import { linkEnd } from '#services/checkout/web/src/format/link-end.ts'
import { noneText } from '#services/checkout/web/src/format/problem-text.ts'
import type { LinkView, NoOption } from '#shared/contracts/checkout/invoice-view.ts'
import { type Content, html } from '#shared/contracts/html.ts'
import { foreign, message, type PlainPage, problem, sumOf } from './plain-document.ts'
import type { PlainSpeech } from './plain-speech.ts'

/** What the page of a payment link without JavaScript needs. */
export interface PlainLink {
  readonly link: LinkView
  readonly actionId: string
  /** What was typed, and what is wrong with it; null before a form was sent. */
  readonly typed: string
  readonly problem: string | null
  /** Why no coin can pay its price; null where one can, or where the payer types the price. */
  readonly none: NoOption | null
}

/** A payment link without JavaScript: its form makes this payer's invoice, whose page asks for the coin. */
export function plainLink(speech: PlainSpeech, shown: PlainLink): PlainPage {
  const { say, query, locale } = speech
  const { link } = shown
  const { amount, currency } = link
  const bound = (value: string) => fiatText({ value, currency }, locale(currency))
  const facts: (readonly [string, Content])[] = []
  if (amount.kind === 'custom' && amount.min !== null) facts.push([say('fact.least'), bound(amount.min)])
  if (amount.kind === 'custom' && amount.max !== null) facts.push([say('fact.most'), bound(amount.max)])
  return {
    title: link.title,
    bill: {
      mode: link.mode,
      merchant: link.merchant,
      head: say('link'),
      total: amount.kind === 'fixed' ? sumOf(speech, { value: amount.value, currency }) : say('link.choose'),
      description: link.description,
      facts,
    },
    body: bodyOf(speech, shown),
    scripted: `/l/${link.id}${query}`,
  }
}

function bodyOf(speech: PlainSpeech, shown: PlainLink): Content {
  const { link, none } = shown
  if (!link.isActive) return endedText(speech, link)
  if (none === null) return formOf(speech, shown)
  return message(speech.say(`none.${none.cause}.title`), noneText(speech, none, link.currency, link.merchant.name))
}

function formOf({ say, words, query }: PlainSpeech, { link, actionId, typed, problem: fault }: PlainLink): Content {
  const field = html`<label for="amount">${say('fact.amount')} (${link.currency})</label>
<input class="field" id="amount" name="amount" value="${typed}" inputmode="decimal" autocomplete="off" maxlength="31" required>`
  return html`<h1>${foreign(link.title)}</h1>
<p class="sub">${link.amount.kind === 'fixed' ? say('link.next') : say('link.sub')}</p>
${problem(fault)}
<form class="plain-form" method="post" action="/l/${link.id}/plain${query}">
<input type="hidden" name="actionId" value="${actionId}">
${link.amount.kind === 'fixed' ? null : field}
<button type="submit" class="button main">${words.go}</button>
</form>`
}

function endedText({ say }: PlainSpeech, link: LinkView): Content {
  const { title, text, t } = linkEnd(link)
  const m = link.merchant.name
  return message(say(title, { m }), say(text, { m, t }))
}

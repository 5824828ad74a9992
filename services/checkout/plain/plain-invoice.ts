import { coinsText } from '#services/checkout/web/src/format/coins-text.ts'
import { neededText } from '#services/checkout/web/src/format/confirmation-text.ts'
import {
  durationText,
  estimateText,
  fiatText,
  fullMomentText,
} from '#services/checkout/web/src/format/format-values.ts'
import { noneText } from '#services/checkout/web/src/format/problem-text.ts'
import { isGone, isRefunded, isZero, slowest, stepOf } from '#services/checkout/web/src/format/step.ts'
import type { AssetOptionsView, InvoiceView, PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { type Content, type Html, html } from '#shared/contracts/html.ts'
import { NETWORKS, networkText } from '#shared/domain/networks.ts'
import { factList, foreign, message, type PlainPage, problem, sumOf } from './plain-document.ts'
import type { PlainSpeech } from './plain-speech.ts'
import { qrPicture } from './qr-picture.ts'

/** An invoice at a moment of the store's clock, and what its page without JavaScript needs. */
export interface PlainInvoice {
  readonly view: InvoiceView
  readonly now: number
  /** Of the form that is shown: the id of its action. */
  readonly actionId: string
  /** What may be chosen; null when the page asks for no choice. */
  readonly options: AssetOptionsView | null
  /** What went wrong with the form that was sent. */
  readonly problem: string | null
}

/** A moment for a reader whose time zone the server cannot see. */
export const utcText = ({ locale }: PlainSpeech, at: number): Html =>
  html`<time datetime="${new Date(at).toISOString()}">${fullMomentText(at, locale(), false, 'UTC')} UTC</time>`

/** The bill of an invoice. */
export function billOf(speech: PlainSpeech, view: InvoiceView, facts: readonly (readonly [string, Content])[]) {
  const { say } = speech
  return {
    mode: view.mode,
    merchant: view.merchant,
    head: view.orderId === null ? say('invoice', { x: view.number }) : say('order', { x: view.orderId }),
    total: sumOf(speech, view.fiat),
    description: view.description,
    facts: [[say('fact.invoice'), `#${view.number}`] as const, ...facts],
  }
}

/** The checkout of one invoice without JavaScript: the same steps as on its page, each loaded by the payer. */
export function plainInvoice(speech: PlainSpeech, shown: PlainInvoice): PlainPage {
  const { say, words, query } = speech
  const { view, now, options } = shown
  const step = options === null ? stepOf(view, now) : 'pick'
  const { title, body } = stepBody(speech, shown, step)
  const path = `/i/${view.id}`
  const end = view.paymentMethod === null ? view.expiresAt : Math.min(view.paymentMethod.quoteEndsAt, view.expiresAt)
  const isOpen = step === 'pick' || step === 'pay' || step === 'partial'
  const deadline = html`${utcText(speech, end)} (${words.left.replace('{t}', durationText(end - now))})`
  return {
    title,
    bill: billOf(speech, view, isOpen ? [[say('fact.before'), deadline]] : []),
    body: html`${problem(shown.problem)}${body}
${paymentsOf(speech, view)}
<p class="tip">${words.reloadSub} <a href="${path}/plain${query}">${words.reload}</a></p>
<p class="tip"><a href="${path}/receipt/plain${query}">${say('receipt')}</a></p>`,
    scripted: `${path}${query}`,
  }
}

type Body = { readonly title: string; readonly body: Content }

function stepBody(speech: PlainSpeech, shown: PlainInvoice, step: ReturnType<typeof stepOf>): Body {
  const { say } = speech
  const { view, options } = shown
  const { paymentMethod, merchant } = view
  if (step === 'pick') return pickBody(speech, shown, options ?? { assets: [], holdMs: 0 })
  if ((step === 'pay' || step === 'partial') && paymentMethod !== null) return payBody(speech, view, paymentMethod)
  const m = merchant.name
  const sum = { a: view.received, b: paymentMethod?.due ?? '', c: paymentMethod?.symbol ?? '', m, x: view.number }
  const say2 = (title: Parameters<typeof say>[0], ...texts: readonly string[]): Body => ({
    title: say(title, sum),
    body: message(
      say(title, sum),
      texts.map((text) => html`<p>${text}</p>`),
    ),
  })
  const moment = (at: number) => `${fullMomentText(at, speech.locale(), false, 'UTC')} UTC`
  const t = moment(Math.min(paymentMethod?.quoteEndsAt ?? view.expiresAt, view.expiresAt))
  const n = paymentMethod === null ? '' : NETWORKS[paymentMethod.network].name
  if (step === 'lapsed') return lapsedBody(speech, shown)
  if (step === 'checking') return say2('unread.title', say('unread.sub', { t, n }))
  if (step === 'confirming') {
    const progress = slowest(view)
    const count = progress === null ? '' : say('confirmations', { a: progress.have, b: progress.need })
    return say2('confirming', count, say('close'))
  }
  if (step === 'paid') {
    const isOver = view.status === 'overpaid'
    const fiat = `${view.fiat.value} ${view.fiat.currency}`
    return say2(
      'paid',
      isOver
        ? say(isRefunded(view) ? 'overpaid.back' : 'overpaid', { ...sum, a: view.excess })
        : say(view.isAcceptedShort ? 'paid.short' : 'paid.sub', { m, a: fiat }),
    )
  }
  if (step === 'cancelled') return say2('cancelled.title', say('cancelled', sum), say('cancelled.sent', sum))
  if (step === 'late' || step === 'short') {
    const text = step === 'short' ? say('short.sub', { ...sum, t: moment(view.expiresAt) }) : ''
    const open = isRefunded(view) ? [] : [say('late.safe'), say('late.decide', sum), say('late.quote', sum)]
    return say2(`${step}.title`, text, ...open)
  }
  return say2(
    'expired.title',
    view.isUnread ? say('unread.sub', { t, n }) : say(paymentMethod === null ? 'expired.new' : 'expired.sub', { t }),
    paymentMethod === null ? '' : say('expired.barSub'),
  )
}

function pickBody(speech: PlainSpeech, { view, actionId }: PlainInvoice, options: AssetOptionsView): Body {
  const { say, words, query } = speech
  const title = say('pick.title')
  if (options.none !== undefined) {
    const { none } = options
    const text = noneText(speech, none, view.fiat.currency, view.merchant.name)
    return { title: say(`none.${none.cause}.title`), body: message(say(`none.${none.cause}.title`), text) }
  }
  if (!view.canChoose) return { title, body: message(title, say('pick.suspended', { m: view.merchant.name })) }
  const isPaused = options.assets.every(({ isAvailable }) => !isAvailable)
  return {
    title,
    body: html`${message(title, say('pick.sub'))}
${isPaused ? html`<p class="tip" role="alert">${say('pick.paused.all')}</p>` : null}
<form class="plain-form" method="post" action="/i/${view.id}/plain/asset${query}">
<input type="hidden" name="actionId" value="${actionId}">
<fieldset><legend>${words.choose}</legend>
${options.assets.map(
  (option) =>
    html`<label class="plain-choice"><input type="radio" name="asset" value="${option.asset}" required${
      option.isAvailable ? null : html` disabled`
    }> <span>${option.symbol} · ${networkText(option.network, option.symbol !== NETWORKS[option.network].mark)}${
      option.isAvailable && option.estimate !== null
        ? html` <small>≈ ${estimateText(option.estimate)} ${option.symbol}</small>`
        : html` <small>${option.isAvailable ? '' : say('pick.paused')}</small>`
    }</span></label>\n`,
)}</fieldset>
<button type="submit" class="button main">${words.go}</button>
<p>${say('pick.hold', { t: durationText(options.holdMs) })}</p>
</form>`,
  }
}

function payBody(speech: PlainSpeech, view: InvoiceView, paymentMethod: PaymentMethodView): Body {
  const { say, query } = speech
  const n = NETWORKS[paymentMethod.network].name
  const { remaining: a, symbol: c, address, uri } = paymentMethod
  const isRest = !isZero(view.received)
  const title = say(isRest ? 'partial.title' : 'pay.title', { a, c, n })
  const content = uri !== null && !paymentMethod.isToken ? uri : address
  const code = qrPicture(content)
  const label = say(content === uri ? 'qr.labelUri' : 'qr.labelAddress')
  return {
    title,
    body: html`${message(title, isRest ? say('partial') : say(content === uri ? 'pay.sub' : 'pay.subAddress'))}
${factList(
  [
    [
      say('pay.check'),
      html`<b>${networkText(paymentMethod.network, paymentMethod.isToken)}</b> ${say('network.only', { c, n })}`,
    ],
    [say(isRest ? 'pay.still' : 'pay.amount'), html`<b class="plain-value">${a}</b> ${c}`],
    [say(isRest ? 'pay.toSame' : 'pay.to'), html`<b class="plain-value mono">${address}</b>`],
  ],
  'plain-facts',
)}
${paymentMethod.isExact ? html`<p class="tip">${say('pay.exact')}</p>` : null}
<p class="plate"><img src="${code.src}" width="${code.size}" height="${code.size}" alt="${label}"></p>
<p class="tip">${neededText(speech, paymentMethod)}</p>
<p class="tip">${say('exchange.q')} ${say('exchange', { a })}</p>
${view.canChoose ? html`<p class="tip"><a href="/i/${view.id}/plain/coins${query}">${say('other.do')}</a></p>` : null}`,
  }
}

function lapsedBody(speech: PlainSpeech, { view, now, actionId }: PlainInvoice): Body {
  const { say, query } = speech
  const title = say('held.over')
  const sum = { a: view.received, c: view.paymentMethod?.symbol ?? '', m: view.merchant.name }
  const canRenew = view.canRenew && now < view.expiresAt
  const text = canRenew
    ? say(isZero(view.received) ? 'requote' : 'requote.rest', sum)
    : say(isZero(view.received) ? 'expired.barSub' : 'requote.none', sum)
  if (!canRenew) return { title, body: message(title, text) }
  return {
    title,
    body: html`${message(title, text)}
<form class="plain-form" method="post" action="/i/${view.id}/plain/price${query}">
<input type="hidden" name="actionId" value="${actionId}">
<button type="submit" class="button main">${say('requote.do')}</button>
</form>`,
  }
}

/** Every transfer and what was sent back, with whole hashes: nothing can be copied by a button. Nothing without any. */
export function paymentsOf(speech: PlainSpeech, view: InvoiceView): Html | null {
  const { say } = speech
  const refunds = view.books.refunds.map(({ amount: a, symbol: c, network, at, txHash }) => {
    const t = `${fullMomentText(at, speech.locale(), false, 'UTC')} UTC`
    const text = say('refunded', { m: view.merchant.name, a, c, n: NETWORKS[network].name, t })
    return html`<li>${text}${hashLine(txHash)}</li>\n`
  })
  if (view.payments.length + refunds.length === 0) return null
  const rows = view.payments.map((payment) => {
    const figure = `${payment.amount} ${payment.symbol}`
    const state = say(payment.isSimulated ? 'badge.simulated' : `badge.${payment.state}`)
    const counts = { a: payment.confirmations, b: payment.requiredConfirmations }
    const why = payment.uncounted === null ? '' : say(`uncounted.${payment.uncounted}`, { m: view.merchant.name })
    return html`<li>${isGone(payment) ? html`<s>${figure}</s>` : figure} · ${state}${payment.isLate ? ` · ${say('badge.late')}` : ''}${
      payment.state === 'detected' ? ` · ${say('confirmations', counts)}` : ''
    } · ${utcText(speech, payment.seenAt)} ${why}${hashLine(payment.txHash)}</li>\n`
  })
  const list = (title: string, items: readonly Html[]) =>
    items.length === 0 ? null : html`<h2>${title}</h2>\n<ul class="plain-payments">${items}</ul>`
  return html`${list(say('receipt.refunded'), refunds)}${list(say('payments'), rows)}`
}

const hashLine = (txHash: string | null): Html | null =>
  txHash === null ? null : html`<br><span class="mono hash-line">${txHash}</span>`

/** What came, beside the price: never one as the other. */
function bookFacts({ say, locale }: PlainSpeech, { books }: InvoiceView): readonly (readonly [string, Content])[] {
  const { received, short, shortKind, excess, refunded } = books
  const facts = [
    ['receipt.received', received],
    [`receipt.short.${shortKind ?? 'outstanding'}`, short],
    ['receipt.excess', excess],
    ['receipt.refunded', refunded],
  ] as const
  return facts.flatMap(([name, fiat]) =>
    fiat === null ? [] : [[say(name), fiatText(fiat, locale(fiat.currency))] as const],
  )
}

/** The receipt without JavaScript. */
export function plainReceipt(speech: PlainSpeech, { view, now }: Pick<PlainInvoice, 'view' | 'now'>): PlainPage {
  const { say, query } = speech
  const { paymentMethod, merchant } = view
  const title = `${say('receipt.title')} #${view.number}`
  const facts: (readonly [string, Content])[] = [[say(`status.${view.status}`), utcText(speech, view.paidAt ?? now)]]
  if (merchant.contact !== null) facts.push([say('receipt.contact'), foreign(merchant.contact)])
  if (paymentMethod !== null) {
    facts.push(
      ...bookFacts(speech, view),
      [say(view.paidAt === null ? 'fact.received' : 'fact.paidWith'), coinsText(view, paymentMethod)],
      [say('receipt.address'), html`<span class="mono">${paymentMethod.address}</span>`],
    )
  }
  return {
    title,
    bill: billOf(speech, view, []),
    body: html`<h1>${title}</h1>
${factList(facts, 'plain-facts')}
${paymentsOf(speech, view) ?? html`<p>${say('receipt.none')}</p>`}
<p class="tip">${say('receipt.tax')}</p>
<p class="tip"><a href="/i/${view.id}/plain${query}">${say('receipt.back')}</a></p>`,
    scripted: `/i/${view.id}/receipt${query}`,
  }
}

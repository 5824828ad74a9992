import type { ComponentChildren } from 'preact'
import type {
  FiatView,
  InvoiceView,
  PaymentMethodView,
  PaymentView,
  RefundedView,
} from '#shared/contracts/checkout/invoice-view.ts'
import type { Tone } from '#shared/contracts/tone.ts'
import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { coinsText } from '../format/coins-text.ts'
import { fiatText, fullMomentText, rateText } from '../format/format-values.ts'
import type { Problem } from '../format/problem-text.ts'
import { isGone } from '../format/step.ts'
import { useInvoice } from '../invoice/use-invoice.ts'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import { Away, Badge } from '../parts/blocks.tsx'
import { ContactLink } from '../parts/contact.tsx'
import { TestBand, usePageMarks } from '../parts/frame.tsx'
import { Guilloche } from '../parts/guilloche.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { MerchantMark, useBrandColour } from '../parts/merchant-mark.tsx'
import { Qr } from '../parts/qr.tsx'
import { UnloadedPage } from './missing-page.tsx'

const ICONS: Readonly<Record<InvoiceStatus, IconName>> = {
  new: 'none',
  pending: 'clock',
  partial: 'half',
  confirming: 'blocks',
  paid: 'done',
  overpaid: 'plus',
  expired: 'hourglass',
  cancelled: 'slash',
}

/** A printable page about an invoice, whatever its state. */
export function ReceiptPage({ id }: { readonly id: string }) {
  const { state, refresh } = useInvoice(id)
  if (state.view === null) return <UnloadedPage problem={state.away} retry={refresh} />
  return <Receipt view={state.view} away={state.away} />
}

function Receipt({ view, away }: { readonly view: InvoiceView; readonly away: Problem | null }) {
  const { say } = useSpeech()
  const { paymentMethod, status } = view
  const tone: Tone = status
  const address = `${location.origin}${location.pathname}`
  usePageMarks(view.mode, `${say('receipt.title')} #${view.number} · ${view.merchant.name}`)
  useBrandColour(view.merchant)
  return (
    <div class="receipt-page">
      <TestBand mode={view.mode} />
      <nav class="receipt-bar" aria-label={say('receipt.title')}>
        <a class="button" href={`/i/${view.id}`}>
          <Icon name="left" />
          {say('receipt.back')}
        </a>
        <button type="button" class="button" onClick={() => print()}>
          <Icon name="print" />
          {say('receipt.print')}
        </button>
      </nav>
      {away !== null && <Away problem={away} />}
      <main class="paper">
        <Guilloche kind="receipt" />
        <div class="receipt-head">
          <MerchantMark merchant={view.merchant} />
          <div class="receipt-who">
            <h1>{say('receipt.title')}</h1>
            <p>
              <Foreign text={view.merchant.name} /> · {say('invoice', { x: view.number })}
            </p>
          </div>
          <Badge tone={tone} icon={ICONS[status]}>
            {say(`status.${status}`)}
          </Badge>
        </div>
        <Total view={view} />
        <Particulars view={view} />
        <h2>{say('receipt.transactions')}</h2>
        {view.payments.length === 0 && view.books.refunds.length === 0 ? (
          <p>{say('receipt.none')}</p>
        ) : (
          <Transactions view={view} symbol={paymentMethod?.symbol ?? ''} />
        )}
        <div class="receipt-foot">
          <Qr text={address} label={say('receipt.qr')} />
          <p>
            {say('receipt.now')} <span class="mono">{address}</span>.{' '}
            {paymentMethod !== null && say('receipt.check', { n: NETWORKS[paymentMethod.network].name })}{' '}
            {say('receipt.tax')}
          </p>
        </div>
      </main>
    </div>
  )
}

/** The price, and beside it what came: never one as the other. */
function Total({ view }: { readonly view: InvoiceView }) {
  const { say, locale } = useSpeech()
  const { received, short, shortKind, excess, refunded } = view.books
  const amount = (fiat: FiatView) => fiatText(fiat, locale(fiat.currency))
  return (
    <>
      <p class="receipt-total">
        <span>{say('receipt.total')}</span>
        <b>{amount(view.fiat)}</b>
      </p>
      <dl class="particulars">
        <dt>{say('receipt.received')}</dt>
        <dd>{amount(received)}</dd>
        {short !== null && shortKind !== null && (
          <>
            <dt>{say(`receipt.short.${shortKind}`)}</dt>
            <dd>{amount(short)}</dd>
          </>
        )}
        {excess !== null && (
          <>
            <dt>{say('receipt.excess')}</dt>
            <dd>{amount(excess)}</dd>
          </>
        )}
        {refunded !== null && (
          <>
            <dt>{say('receipt.refunded')}</dt>
            <dd>{amount(refunded)}</dd>
          </>
        )}
      </dl>
    </>
  )
}

function Particulars({ view }: { readonly view: InvoiceView }) {
  const { say, locale } = useSpeech()
  const { paymentMethod } = view
  const precise = (at: number) => (
    <time dateTime={new Date(at).toISOString()}>{fullMomentText(at, locale(), true)}</time>
  )
  return (
    <dl class="particulars">
      {view.orderId !== null && (
        <>
          <dt>{say('receipt.order')}</dt>
          <dd>
            <Foreign text={view.orderId} />
          </dd>
        </>
      )}
      {view.description !== null && (
        <>
          <dt>{say('fact.for')}</dt>
          <dd>
            <Foreign text={view.description} />
          </dd>
        </>
      )}
      {view.merchant.contact !== null && (
        <>
          <dt>{say('receipt.contact')}</dt>
          <dd>
            <ContactLink merchant={view.merchant} />
          </dd>
        </>
      )}
      {view.paidAt !== null && (
        <>
          <dt>{say('fact.paidAt')}</dt>
          <dd>{precise(view.paidAt)}</dd>
        </>
      )}
      {paymentMethod !== null && <PaymentMethodFacts view={view} paymentMethod={paymentMethod} precise={precise} />}
    </dl>
  )
}

interface PaymentMethodFactsProps {
  readonly view: InvoiceView
  readonly paymentMethod: PaymentMethodView
  readonly precise: (at: number) => ComponentChildren
}

function PaymentMethodFacts({ view, paymentMethod, precise }: PaymentMethodFactsProps) {
  const { say, locale } = useSpeech()
  return (
    <>
      <dt>{say(view.paidAt === null ? 'fact.received' : 'fact.paidWith')}</dt>
      <dd>{coinsText(view, paymentMethod)}</dd>
      <dt>{say('receipt.rate')}</dt>
      <dd>
        1 {paymentMethod.symbol} = {rateText(paymentMethod.fiatPerAsset, locale(view.fiat.currency))}{' '}
        {view.fiat.currency}, {precise(paymentMethod.quotedAt)}
      </dd>
      <dt>{say('receipt.address')}</dt>
      <dd class="mono">{paymentMethod.address}</dd>
      {view.status === 'overpaid' && (
        <>
          <dt>{say('status.overpaid')}</dt>
          <dd>
            {view.excess} {paymentMethod.symbol}
          </dd>
        </>
      )}
    </>
  )
}

function Transactions({ view, symbol }: { readonly view: InvoiceView; readonly symbol: string }) {
  const { say } = useSpeech()
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{say('receipt.when')}</th>
          <th scope="col" class="right">
            {symbol}
          </th>
        </tr>
      </thead>
      <tbody>
        {view.payments.map((payment) => (
          <TransactionRow
            key={`${payment.txHash ?? ''}${payment.seenAt}${payment.amount}`}
            payment={payment}
            view={view}
          />
        ))}
        {view.books.refunds.map((refund) => (
          <RefundRow key={`${refund.txHash ?? ''}${refund.at}${refund.amount}`} refund={refund} symbol={symbol} />
        ))}
      </tbody>
    </table>
  )
}

function RefundRow({ refund, symbol: own }: { readonly refund: RefundedView; readonly symbol: string }) {
  const { say, locale } = useSpeech()
  const { at, txHash, explorerUrl, amount, symbol } = refund
  return (
    <tr>
      <td>
        <time dateTime={new Date(at).toISOString()}>{fullMomentText(at, locale(), true)}</time> ·{' '}
        {say('receipt.refunded')}
        <HashLine txHash={txHash} explorerUrl={explorerUrl} />
      </td>
      <td class="right">−{symbol === own ? amount : `${amount} ${symbol}`}</td>
    </tr>
  )
}

/** A transaction, with a link where an explorer has it; nothing without one. */
function HashLine({ txHash, explorerUrl }: Pick<PaymentView, 'txHash' | 'explorerUrl'>) {
  const { say } = useSpeech()
  if (txHash === null) return null
  if (explorerUrl === null) return <span class="hash-line">{txHash}</span>
  return (
    <a class="hash-line" href={explorerUrl} rel="noreferrer" target="_blank">
      {txHash}
      <span class="unseen"> {say('explorer')}</span>
    </a>
  )
}

function TransactionRow({ payment, view }: { readonly payment: PaymentView; readonly view: InvoiceView }) {
  const { say, locale } = useSpeech()
  const { seenAt, txHash, explorerUrl, uncounted, symbol, amount, state, isSimulated } = payment
  const figure = symbol === view.paymentMethod?.symbol ? amount : `${amount} ${symbol}`
  return (
    <tr>
      <td>
        <time dateTime={new Date(seenAt).toISOString()}>{fullMomentText(seenAt, locale(), true)}</time> ·{' '}
        {say(isSimulated ? 'badge.simulated' : `badge.${state}`)}
        {payment.isLate && ` · ${say('badge.late')}`}
        {uncounted !== null && (
          <>
            {' · '}
            <Say w={`uncounted.${uncounted}`} m={<Foreign text={view.merchant.name} />} />
          </>
        )}
        <HashLine txHash={txHash} explorerUrl={explorerUrl} />
      </td>
      <td class="right">{isGone(payment) ? <s>{figure}</s> : figure}</td>
    </tr>
  )
}

import type { InvoiceView, PaymentView } from '#shared/contracts/checkout/invoice-view.ts'
import type { Tone } from '#shared/contracts/tone.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { fullMomentText, momentText, shortHash } from '../format/format-values.ts'
import { isGone } from '../format/step.ts'
import type { MessageKey } from '../locales/en.ts'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import { Badge, Note } from './blocks.tsx'
import { Icon, type IconName } from './icon.tsx'

const STATES: Readonly<
  Record<PaymentView['state'], { readonly tone: Tone; readonly icon: IconName; readonly key: MessageKey }>
> = {
  detected: { tone: 'confirming', icon: 'eye', key: 'badge.detected' },
  confirmed: { tone: 'paid', icon: 'checks', key: 'badge.confirmed' },
  replaced: { tone: 'cancelled', icon: 'swap', key: 'badge.replaced' },
  dropped: { tone: 'expired', icon: 'down', key: 'badge.dropped' },
  orphaned: { tone: 'danger', icon: 'broken', key: 'badge.orphaned' },
}

/** Every transfer with its progress; one that disappeared is struck through. */
export function PaymentList({ view, now }: { readonly view: InvoiceView; readonly now: number }) {
  const { say } = useSpeech()
  if (view.payments.length === 0) return null
  return (
    <ul class="payments" aria-label={say('payments')}>
      {view.payments.map((payment) => (
        <PaymentRow
          key={`${payment.txHash ?? ''}${payment.seenAt}${payment.amount}`}
          payment={payment}
          view={view}
          now={now}
        />
      ))}
    </ul>
  )
}

function PaymentRow({
  payment,
  view,
  now,
}: {
  readonly payment: PaymentView
  readonly view: InvoiceView
  readonly now: number
}) {
  const { say, locale } = useSpeech()
  const { tone, icon, key } = STATES[payment.state]
  const { amount, symbol, confirmations, requiredConfirmations, txHash, explorerUrl, uncounted } = payment
  const figure = `${amount} ${symbol}`
  return (
    <li>
      <span class="amount">{isGone(payment) ? <s>{figure}</s> : figure}</span>
      <span class="badges">
        {payment.isLate && (
          <Badge tone="partial" icon="clock">
            {say('badge.late')}
          </Badge>
        )}
        <Badge tone={tone} icon={icon}>
          {say(payment.isSimulated ? 'badge.simulated' : key)}
        </Badge>
      </span>
      <span class="meta">
        <span>
          <time dateTime={new Date(payment.seenAt).toISOString()}>{momentText(payment.seenAt, now, locale())}</time>
          {!isGone(payment) && ` · ${say('of', { a: confirmations, b: requiredConfirmations })}`}
        </span>
        {txHash !== null && <Transaction hash={txHash} url={explorerUrl} />}
        {uncounted !== null && (
          <span>
            <Say w={`uncounted.${uncounted}`} m={<Foreign text={view.merchant.name} />} />
          </span>
        )}
      </span>
    </li>
  )
}

/** What the merchant sent back, in whatever state the invoice is. */
export function RefundNotes({ view }: { readonly view: InvoiceView }) {
  const { locale } = useSpeech()
  return view.books.refunds.map(({ amount, symbol, network, at, txHash, explorerUrl }) => (
    <Note key={`${txHash ?? ''}${at}${amount}`} tone="confirming" icon="left">
      <Say
        w="refunded"
        m={<Foreign text={view.merchant.name} />}
        a={amount}
        c={symbol}
        n={NETWORKS[network].name}
        t={<time dateTime={new Date(at).toISOString()}>{fullMomentText(at, locale())}</time>}
      />{' '}
      {txHash !== null && <Transaction hash={txHash} url={explorerUrl} />}
    </Note>
  ))
}

function Transaction({ hash, url }: { readonly hash: string; readonly url: string | null }) {
  const { say } = useSpeech()
  if (url === null) return <span class="mono">{shortHash(hash)}</span>
  return (
    <a href={url} rel="noreferrer" target="_blank">
      <span class="mono">{shortHash(hash)}</span> <Icon name="out" />
      <span class="unseen">{say('explorer')}</span>
    </a>
  )
}

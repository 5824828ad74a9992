import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { api, trpc } from '../../api/trpc.ts'
import { showRate } from '../../format/amounts.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card, type Fact, Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { Money } from '../../parts/money.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useNow } from '../../parts/use-now.ts'
import { useRefusal, useScope, useTo } from '../../session/scope.ts'
import type { InvoiceDetail } from '../money/answers.ts'

interface Props {
  readonly invoice: InvoiceDetail
}

/** What people look an invoice up for, in view before anything else: whose it is, for which order, and where the money goes. */
export function KeyFacts({ invoice: { orderId, description, customer, coins, receiving } }: Props) {
  const facts: readonly Fact[] = [
    ['Order', orDash(orderId ?? description)],
    ['Customer', customer.name === null ? orDash(customer.email) : customerText(customer.name, customer.email)],
    coins === null || receiving === null
      ? null
      : [
          `${coins.symbol} on ${coins.networkName}`,
          <CopyText key="address" text={receiving.address} what="receiving address" />,
        ],
  ]
  return (
    <div className="pm-key-facts">
      <Facts facts={facts} />
    </div>
  )
}

function customerText(name: string, email: string | null): ReactNode {
  return (
    <>
      <UntrustedText>{name}</UntrustedText>
      {email === null ? null : (
        <span className="pm-muted">
          {' '}
          <UntrustedText>{email}</UntrustedText>
        </span>
      )}
    </>
  )
}

/** Coin, address and the rules that were frozen with the quote. */
export function ReceivingCard({ invoice: { coins, receiving } }: Props) {
  if (coins === null || receiving === null) return null
  const facts: readonly Fact[] = [
    ['Coin', `${coins.symbol} on ${coins.networkName}`],
    ['Amount', <CryptoAmount key="amount" amount={coins.due} symbol={coins.symbol} />],
    ['Address', <CopyText key="address" text={receiving.address} what="address" />],
    [
      'Confirmations',
      `${receiving.requiredConfirmations} ${receiving.requiredConfirmations === 1 ? 'confirmation' : 'confirmations'}${receiving.needsFinality ? ' and a final block' : ''}`,
    ],
    ['Tolerance', `${receiving.tolerance} ${coins.symbol}`],
    [
      'Late payments',
      `up to ${receiving.lateGraceMinutes} min late, price change up to ${receiving.lateDriftBps / 100} %`,
    ],
    receiving.otherMethods > 0 ? ['Coins chosen earlier', String(receiving.otherMethods)] : null,
  ]
  return (
    <Card title="Receiving">
      <Facts facts={facts} />
    </Card>
  )
}

/** The source of the price. */
export function RateCard({ invoice: { coins, rate, amount } }: Props) {
  if (coins === null || rate === null) return null
  const facts: readonly Fact[] = [
    [`1 ${coins.symbol}`, <b key="rate">{`${showRate(rate.fiatPerAsset)} ${amount.currency}`}</b>],
    ['Locked', <Time key="locked" at={rate.quotedAt} detail />],
    ['Locked until', <Time key="held" at={rate.expiresAt} detail />],
    ['Rate', `median of ${rate.sources.length} sources: ${rate.sources.join(', ')}`],
    rate.fxSources.length > 0 ? ['Exchange rate', rate.fxSources.join(', ')] : null,
    ['Spread', `${(rate.spreadBps / 100).toFixed(2)} %`],
    rate.quotes > 1 ? ['Quote', `${rate.quotes} of ${rate.quotes}`] : null,
  ]
  return (
    <Card title="Locked rate">
      <Facts facts={facts} />
    </Card>
  )
}

const SOURCES = { api: 'API', link: 'Payment link', manual: 'Created here', billing: 'Billing' } as const

/** The clock decides the tense, and the end of an invoice whether it ever came to that. */
function expiryLabel(status: InvoiceDetail['status'], isPast: boolean): string {
  if (status === 'new' || status === 'pending' || status === 'partial') return isPast ? 'Time to pay ended' : 'Expires'
  if (status === 'expired') return 'Expired'
  return isPast ? 'Would have expired' : 'Would expire'
}

/** The order of the invoice. */
export function OrderCard({ invoice }: Props) {
  const to = useTo()
  const { paymentLinkId, metadata, status, expiresAt } = invoice
  const expiry = expiryLabel(status, useNow(1_000) >= expiresAt)
  const facts: readonly Fact[] = [
    ['Description', orDash(invoice.description)],
    ['Order', orDash(invoice.orderId)],
    [
      'Source',
      paymentLinkId === null ? (
        SOURCES[invoice.source]
      ) : (
        <Link key="link" to={to('links', paymentLinkId)}>
          {SOURCES[invoice.source]}
        </Link>
      ),
    ],
    ['Created', <Time key="created" at={invoice.createdAt} detail />],
    [expiry, <Time key="expires" at={expiresAt} detail />],
    ...Object.entries(metadata).map(
      ([name, value]): Fact => [
        name,
        <UntrustedText key={name} mono>
          {value}
        </UntrustedText>,
      ],
    ),
    invoice.successUrl === null
      ? null
      : [
          'Return URL',
          <UntrustedText key="back" mono>
            {invoice.successUrl}
          </UntrustedText>,
        ],
    invoice.reporting === null
      ? null
      : [
          'In reports',
          <span key="reporting">
            <Money value={invoice.reporting.amount} currency={invoice.reporting.currency} />{' '}
            <span className="pm-dim">
              1 {invoice.amount.currency} = {showRate(invoice.reporting.rate)} {invoice.reporting.currency}, rate of{' '}
              <Time at={invoice.reporting.at} detail />
            </span>
          </span>,
        ],
    ['ID', <CopyText key="id" text={invoice.id} what="invoice ID" short />],
  ]
  return (
    <Card title="Order">
      <Facts facts={facts} />
    </Card>
  )
}

function orDash(text: string | null): ReactNode {
  return text === null ? <span className="pm-dim">–</span> : <UntrustedText>{text}</UntrustedText>
}

/** The customer, and the erasure of their data. */
export function CustomerCard({ invoice }: Props) {
  const scope = useScope()
  const to = useTo()
  const refusal = useRefusal('admin')
  const { customer, id } = invoice
  const erase = useAction({
    call: (ids, input: { readonly id: string }) =>
      api.invoices.eraseCustomer.mutate({ ...scope, ...input, ...ids, reason: ids.reason ?? '' }),
    done: 'Personal data erased.',
    refresh: [trpc.invoices.pathFilter()],
  })
  const hasNotes = invoice.notes.some(({ text }) => text !== null)
  const known = customer.email !== null || customer.name !== null || hasNotes
  return (
    <Card title="Customer">
      <Facts
        facts={[
          ['Name', orDash(customer.name)],
          ['Email', orDash(customer.email)],
        ]}
      />
      {known ? (
        <div className="pm-row pm-end pm-gap-top">
          {customer.email === null ? null : (
            <Button component={Link} to={to('customers', id)} variant="default" size="xs">
              All invoices of this customer
            </Button>
          )}
          <ActionButton
            action={erase}
            input={{ id }}
            variant="default"
            size="xs"
            reason="required"
            refusal={refusal}
            confirm="Name, email and the texts of notes are removed from this invoice now, and name and email from stored events once they are delivered. Order, description and metadata stay. This can’t be undone."
          >
            Erase personal data
          </ActionButton>
        </div>
      ) : null}
    </Card>
  )
}

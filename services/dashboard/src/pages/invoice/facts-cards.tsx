import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card, Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import type { InvoiceDetail } from '../money/answers.ts'

interface Props {
  readonly invoice: InvoiceDetail
}
type Fact = readonly [string, ReactNode]

/** Coin, address and the rules that were frozen with it. */
export function ReceivingCard({ invoice: { coins, receiving } }: Props) {
  if (coins === null || receiving === null) return null
  const facts: readonly Fact[] = [
    ['Coin', `${coins.symbol} on ${coins.networkName}`],
    ['Amount', <CryptoAmount key="amount" amount={coins.due} symbol={coins.symbol} />],
    ['Address', <CopyText key="address" text={receiving.address} what="address" />],
    [
      'Needs',
      `${receiving.requiredConfirmations} ${receiving.requiredConfirmations === 1 ? 'confirmation' : 'confirmations'}${receiving.needsFinality ? ' and a final block' : ''}`,
    ],
    ['Tolerance', `${receiving.tolerance} ${coins.symbol}`],
    ['Late money', `${receiving.lateGraceMinutes} min, ${receiving.lateDriftBps / 100} % drift`],
    ...(receiving.otherLocks > 0 ? ([['Chosen before', `${receiving.otherLocks} other coins`]] as const) : []),
  ]
  return (
    <Card title="Receiving">
      <Facts facts={facts} />
    </Card>
  )
}

/** Where the price came from. */
export function RateCard({ invoice: { coins, rate, amount } }: Props) {
  if (coins === null || rate === null) return null
  const facts: readonly Fact[] = [
    [`1 ${coins.symbol}`, <b key="rate">{`${rate.fiatPerAsset} ${amount.currency}`}</b>],
    ['Locked', <Time key="locked" at={rate.lockedAt} detail />],
    ['Held until', <Time key="held" at={rate.expiresAt} detail />],
    ['Median of', `${rate.sources.length} sources: ${rate.sources.join(', ')}`],
    ...(rate.fxSources.length > 0 ? ([['Exchange rate', rate.fxSources.join(', ')]] as const) : []),
    ['Spread', `${(rate.spreadBps / 100).toFixed(2)} %`],
    ...(rate.quotes > 1 ? ([['Quotes', `${rate.quotes}, this is the last`]] as const) : []),
  ]
  return (
    <Card title="Rate at lock">
      <Facts facts={facts} />
    </Card>
  )
}

const SOURCES = { api: 'API', link: 'Payment link', manual: 'By hand', billing: 'Billing' } as const

/** What it is for. */
export function OrderCard({ invoice }: Props) {
  const to = useTo()
  const { paymentLinkId, metadata } = invoice
  const facts: readonly Fact[] = [
    ['For', orDash(invoice.description)],
    ['Order', orDash(invoice.orderId)],
    [
      'Made by',
      paymentLinkId === null ? (
        SOURCES[invoice.source]
      ) : (
        <Link key="link" to={to('links', paymentLinkId)}>
          {SOURCES[invoice.source]}
        </Link>
      ),
    ],
    ['Created', <Time key="created" at={invoice.createdAt} detail />],
    ['Expires', <Time key="expires" at={invoice.expiresAt} detail />],
    ...Object.entries(metadata).map(
      ([name, value]): Fact => [
        name,
        <ForeignText key={name} mono>
          {value}
        </ForeignText>,
      ],
    ),
    ...(invoice.successUrl === null
      ? []
      : ([
          [
            'Back to',
            <ForeignText key="back" mono>
              {invoice.successUrl}
            </ForeignText>,
          ],
        ] as const)),
    ['ID', <CopyText key="id" text={invoice.id} what="invoice ID" short />],
  ]
  return (
    <Card title="Order">
      <Facts facts={facts} />
    </Card>
  )
}

function orDash(text: string | null): ReactNode {
  return text === null ? <span className="pm-dim">–</span> : <ForeignText>{text}</ForeignText>
}

/** Who pays, and how to forget them. */
export function CustomerCard({ invoice }: Props) {
  const scope = useScope()
  const mayErase = useMay('admin')
  const { customer, id } = invoice
  const erase = useDeed({
    call: (ids, input: { readonly id: string }) =>
      api.invoices.eraseCustomer.mutate({ ...scope, ...input, ...ids, reason: ids.reason ?? '' }),
    done: 'Name and e-mail are erased.',
    refresh: [trpc.invoices.pathFilter()],
  })
  const known = customer.email !== null || customer.name !== null
  return (
    <Card title="Customer">
      <Facts
        facts={[
          ['Name', orDash(customer.name)],
          ['E-mail', orDash(customer.email)],
        ]}
      />
      {known ? (
        <div className="pm-row pm-end pm-gap-top">
          <DeedButton
            deed={erase}
            input={{ id }}
            variant="default"
            size="xs"
            reason="required"
            refusal={mayErase ? null : 'This needs the role admin.'}
            confirm="Name and e-mail are taken out of this invoice at once, and out of its stored events once their deliveries are over. Order, description and metadata stay. It cannot be undone."
          >
            Erase name and e-mail
          </DeedButton>
        </div>
      ) : null}
    </Card>
  )
}

import { Button } from '@mantine/core'
import { IconExternalLink, IconZoomQuestion } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { api, trpc } from '#services/dashboard/src/api/trpc.ts'
import type { InvoiceDetail } from '#services/dashboard/src/pages/money/answers.ts'
import { Card, Note } from '#services/dashboard/src/parts/card.tsx'
import { CopyText } from '#services/dashboard/src/parts/copy-text.tsx'
import { Money } from '#services/dashboard/src/parts/money.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import { QueryView } from '#services/dashboard/src/parts/query-view.tsx'
import { StatusBadge } from '#services/dashboard/src/parts/status-badge.tsx'
import { VOCABULARY } from '#services/dashboard/src/parts/status-vocabulary.ts'
import { Until, WithTimes } from '#services/dashboard/src/parts/time.tsx'
import { useLoaded } from '#services/dashboard/src/parts/use-loaded.ts'
import { useRefusal, useScope, useTo } from '#services/dashboard/src/session/scope.ts'
import '#services/dashboard/src/pages/money/money.css'
import { ActionButton } from '#services/dashboard/src/parts/action/action-button.tsx'
import { useAction } from '#services/dashboard/src/parts/action/use-action.ts'
import { amountRows } from './amount-rows.ts'
import { CustomerCard, KeyFacts, OrderCard, RateCard, ReceivingCard } from './facts-cards.tsx'
import { NotesCard } from './notes-card.tsx'
import { PaymentsTable } from './payments-table.tsx'
import { RefundsCard } from './refunds-card.tsx'
import { Timeline } from './timeline.tsx'

const TONES = { good: 'paid', wait: 'confirming', bad: 'partial', plain: 'new' } as const
/** Polling interval for states that may change without a signal. */
const REFETCH_EVERY_MS = 15_000

/** One invoice: its status and everything behind it. */
export function InvoicePage() {
  const scope = useScope()
  const { id = '' } = useParams()
  const invoice = useQuery(trpc.invoices.get.queryOptions({ ...scope, id }, { refetchInterval: REFETCH_EVERY_MS }))
  return (
    <QueryView query={invoice} what="this invoice" title="Invoice">
      {(data) => <Loaded invoice={data} />}
    </QueryView>
  )
}

function Loaded({ invoice }: { readonly invoice: InvoiceDetail }) {
  const to = useTo()
  const { mode } = useScope()
  const { id, number, amount, status, flags } = invoice
  const isSimulated = mode === 'test' && !isOver(status)
  const Simulate = useLoaded(isSimulated, async () => (await import('./simulate-buttons.tsx')).SimulateButtons)
  return (
    <Page
      title={`Invoice #${number}`}
      parent={{ label: 'Invoices', to: to('invoices') }}
      documentTitle={`#${number} ${VOCABULARY.invoice[status].word}`}
      beside={
        <span className="pm-row">
          <span className="pm-amount">
            <Money {...amount} />
          </span>
          <StatusBadge of="invoice" status={status} />
          {flags.map((flag) => (
            <StatusBadge key={flag} of="flag" status={flag} />
          ))}
        </span>
      }
      actions={<Actions invoice={invoice} />}
    >
      {isSimulated && Simulate !== null ? <Simulate invoice={invoice} /> : null}
      <div className="pm-split">
        <div className="pm-stack">
          <Card flush>
            <div className="pm-card-body">
              <Sentence invoice={invoice} />
              <Progress invoice={invoice} />
              <KeyFacts invoice={invoice} />
            </div>
            <PaymentsTable payments={invoice.payments} />
          </Card>
          {invoice.exceptions.length > 0 ? (
            <Card title="Needs a decision">
              {invoice.exceptions.map((exception) => (
                <p key={exception.id}>
                  <Link to={to('exceptions', exception.id)}>{exception.detail}</Link>
                </p>
              ))}
            </Card>
          ) : null}
          <Timeline invoiceId={id} />
        </div>
        <div className="pm-stack">
          <ReceivingCard invoice={invoice} />
          <RateCard invoice={invoice} />
          <OrderCard invoice={invoice} />
          <CustomerCard invoice={invoice} />
          <RefundsCard invoice={invoice} />
          <NotesCard invoice={invoice} />
        </div>
      </div>
    </Page>
  )
}

function Actions({ invoice }: { readonly invoice: InvoiceDetail }) {
  const to = useTo()
  return (
    <>
      <CopyText text={invoice.checkoutUrl} what="checkout link" shown="Checkout link" />
      <Button
        component={Link}
        to={`${to('explain')}?q=${invoice.id}`}
        variant="default"
        leftSection={<IconZoomQuestion size={16} aria-hidden />}
      >
        Trace{' '}
      </Button>
      <CancelInvoice invoice={invoice} />
      <PayerPage to={invoice.checkoutUrl}>Open checkout</PayerPage>
      <PayerPage to={invoice.receiptUrl}>Receipt</PayerPage>
    </>
  )
}

/** Nothing can be simulated on an invoice that takes no more payments. */
const isOver = (status: InvoiceDetail['status']): boolean =>
  ['paid', 'overpaid', 'expired', 'cancelled'].includes(status)

/** A page of the payer, in its own tab. */
function PayerPage({ to, children }: { readonly to: string; readonly children: string }) {
  return (
    <Button
      component="a"
      href={to}
      target="_blank"
      rel="noreferrer"
      variant="default"
      leftSection={<IconExternalLink size={16} aria-hidden />}
    >
      {children}
    </Button>
  )
}

function Sentence({ invoice }: { readonly invoice: InvoiceDetail }) {
  const { sentence, tone, coins, status, expiresAt } = invoice
  const open = status === 'new' || status === 'pending' || status === 'partial'
  return (
    <Note tone={TONES[tone]}>
      <p className="pm-sentence">
        {coins === null && status === 'new' ? (
          'No coin chosen yet. Send the checkout link.'
        ) : (
          <WithTimes text={sentence} />
        )}
      </p>
      {open ? <Until at={expiresAt}>{(left) => <p className="pm-muted">Expires in {left}.</p>}</Until> : null}
    </Note>
  )
}

/** Due, seen and confirmed amounts as a bar and in words. */
function Progress({ invoice }: { readonly invoice: InvoiceDetail }) {
  const { coins } = invoice
  if (coins === null) return null
  const part = (base: string) => {
    const due = BigInt(coins.dueBase)
    if (due === 0n) return 0
    const thousandth = Number((BigInt(base) * 1_000n) / due)
    return Math.min(100, thousandth / 10)
  }
  const confirmed = part(coins.confirmedBase)
  const seen = Math.max(0, part(coins.seenBase) - confirmed)
  const words = `${coins.confirmed} of ${coins.due} ${coins.symbol} confirmed, ${coins.received} received`
  return (
    <>
      <div className="pm-bar" role="img" aria-label={words}>
        <span className="pm-bar-confirmed" style={{ width: `${confirmed}%` }} />
        <span className="pm-bar-seen" style={{ width: `${seen}%` }} />
      </div>
      <dl className="pm-sums pm-num">
        {amountRows(invoice.status, coins).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value} {coins.symbol}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

const REFRESH = [trpc.invoices.pathFilter(), trpc.payments.pathFilter(), trpc.exceptions.pathFilter()]

/** Cancels an invoice that received nothing. */
export function CancelInvoice({ invoice }: { readonly invoice: InvoiceDetail }) {
  const scope = useScope()
  const refusal = useRefusal('support')
  const cancel = useAction({
    call: (ids, input: { readonly id: string }) => api.invoices.cancel.mutate({ ...scope, ...ids, ...input }),
    done: 'Invoice cancelled.',
    refresh: REFRESH,
  })
  return (
    <ActionButton
      action={cancel}
      input={{ id: invoice.id }}
      variant="default"
      reason="optional"
      dismiss="Keep invoice"
      confirmColor="red"
      refusal={refusal ?? invoice.may.cancel}
      confirm="The checkout tells the customer not to pay. If money still arrives, it shows up under Exceptions."
    >
      Cancel invoice
    </ActionButton>
  )
}

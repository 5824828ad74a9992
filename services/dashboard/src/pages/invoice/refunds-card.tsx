import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Card, Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { loadedDialog } from '../../parts/dialog/loaded-dialog.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import type { InvoiceDetail, Refund } from '../money/answers.ts'

const RefundDialog = loadedDialog(async () => (await import('./refund-dialog.tsx')).RefundDialog)

const WORDS = {
  requested: { word: 'Address requested', tone: 'pending' },
  addressed: { word: 'Address received', tone: 'partial' },
  sent: { word: 'Sent', tone: 'paid' },
  withdrawn: { word: 'Withdrawn', tone: 'cancelled' },
} as const
const REFRESH = [trpc.invoices.pathFilter()]

/** Refunds of the invoice: records, not transfers. */
export function RefundsCard({ invoice }: { readonly invoice: InvoiceDetail }) {
  const may = useMay('support')
  const mayOpen = useMay('support', 'restricted')
  // A suggestion elsewhere leads here with the question open.
  const [params] = useSearchParams()
  const [isOpen, setOpen] = useState(mayOpen && invoice.may.refund === null && params.has('refund'))
  const { refunds, coins } = invoice
  if (refunds.length === 0 && invoice.may.refund !== null) return null
  return (
    <Card title="Refunds">
      <p className="pm-muted pm-small">
        Paymesh can’t move money. Send the refund from your own wallet and record it here.
      </p>
      {refunds.map((refund) => (
        <RefundItem key={refund.id} refund={refund} mayAct={may} />
      ))}
      {mayOpen && invoice.may.refund === null ? (
        <div className="pm-row pm-end pm-gap-top">
          {invoice.refundSuggestion === null || coins === null ? null : (
            <span className="pm-muted pm-small">
              Suggested: {invoice.refundSuggestion} {coins.symbol}
            </span>
          )}
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            Refund …
          </Button>
        </div>
      ) : null}
      <RefundDialog invoice={invoice} open={isOpen} onClose={() => setOpen(false)} />
    </Card>
  )
}

function RefundItem({ refund, mayAct }: { readonly refund: Refund; readonly mayAct: boolean }) {
  const { word, tone } = WORDS[refund.status]
  const open = refund.status === 'requested' || refund.status === 'addressed'
  return (
    <div className="pm-stack pm-gap-top">
      <div className="pm-row">
        <CryptoAmount amount={refund.amount} symbol={refund.symbol} />
        <ToneBadge tone={tone}>{word}</ToneBadge>
      </div>
      <Facts
        facts={[
          refund.link === null
            ? null
            : ['Link', <CopyText key="link" text={refund.link} what="refund link" shown="for the customer" />],
          refund.address === null ? null : ['To', <CopyText key="to" text={refund.address} what="refund address" />],
          refund.txHash === null
            ? null
            : ['Transaction', <CopyText key="tx" text={refund.txHash} what="transaction" short />],
          ['Requested by', refund.requestedBy],
          refund.sentAt === null
            ? null
            : [
                'Sent',
                <span key="sent">
                  <Time at={refund.sentAt} /> by {refund.sentBy}
                </span>,
              ],
          refund.status === 'requested' ? ['Link expires', <Time key="ends" at={refund.expiresAt} />] : null,
        ]}
      />
      {open && mayAct ? <RecordForm refund={refund} /> : null}
    </div>
  )
}

function RecordForm({ refund }: { readonly refund: Refund }) {
  const scope = useScope()
  const [txHash, setTxHash] = useState('')
  const record = useAction({
    call: (ids, input: { readonly refundId: string; readonly txHash: string }) =>
      api.invoices.recordRefund.mutate({ ...scope, ...ids, ...input }),
    done: 'Refund recorded.',
    refresh: REFRESH,
  })
  const withdraw = useAction({
    call: (ids, input: { readonly refundId: string }) =>
      api.invoices.withdrawRefund.mutate({ ...scope, ...ids, ...input }),
    done: 'Refund withdrawn.',
    refresh: REFRESH,
  })
  return (
    <ActionForm
      action={record}
      onSubmit={() => void record.run({ refundId: refund.id, txHash: txHash.trim() })}
      submit="Mark as refunded"
      look={{ size: 'xs' }}
      disabled={txHash.trim() === ''}
      beside={
        <ActionButton
          action={withdraw}
          input={{ refundId: refund.id }}
          size="xs"
          variant="default"
          reason="optional"
          confirm="The customer's link stops working."
        >
          Withdraw
        </ActionButton>
      }
      noValidate
    >
      <TextInput
        label="Transaction ID of your refund"
        description="Never paste a private key here."
        {...bindText(txHash, setTxHash)}
        maxLength={200}
        autoComplete="off"
        error={record.failure?.fields['txid']}
      />
    </ActionForm>
  )
}

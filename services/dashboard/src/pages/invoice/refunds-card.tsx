import { Button, Radio, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useSearchParams } from 'react-router'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card, Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { Modal } from '../../parts/modal.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import type { InvoiceDetail, Refund } from '../money/answers.ts'

const WORDS = {
  asked: { word: 'Address requested', tone: 'pending' },
  addressed: { word: 'Address received', tone: 'partial' },
  sent: { word: 'Sent', tone: 'paid' },
  withdrawn: { word: 'Withdrawn', tone: 'cancelled' },
} as const
const REFRESH = [trpc.invoices.pathFilter()]

/** Refunds of the invoice: records, not transfers. */
export function RefundsCard({ invoice }: { readonly invoice: InvoiceDetail }) {
  const may = useMay('support')
  // A suggestion elsewhere leads here with the question open.
  const [params] = useSearchParams()
  const [asking, setAsking] = useState(may && invoice.may.refund === null && params.has('refund'))
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
      {may && invoice.may.refund === null && coins !== null ? (
        <div className="pm-row pm-end pm-gap-top">
          {invoice.refundSuggestion === null ? null : (
            <span className="pm-muted pm-small">
              Suggested: {invoice.refundSuggestion} {coins.symbol}
            </span>
          )}
          <Button size="xs" variant="default" onClick={() => setAsking(true)}>
            Refund …
          </Button>
        </div>
      ) : null}
      <Modal opened={asking} onClose={() => setAsking(false)} title="Prepare a refund">
        <AskForm invoice={invoice} onClose={() => setAsking(false)} />
      </Modal>
    </Card>
  )
}

function AskForm({ invoice, onClose }: { readonly invoice: InvoiceDetail; readonly onClose: () => void }) {
  const scope = useScope()
  const { coins } = invoice
  const [amount, setAmount] = useState(invoice.refundSuggestion ?? '')
  const [reason, setReason] = useState('')
  const sender = senderOf(invoice)
  const [way, setWay] = useState<'ask' | 'given'>('ask')
  const [address, setAddress] = useState(sender ?? '')
  const ask = useAction({
    call: (ids, input: { readonly id: string; readonly amount: string; readonly address: string | null }) =>
      api.invoices.openRefund.mutate({ ...scope, ...ids, ...input }),
    done:
      way === 'ask'
        ? 'Link created. Copy it and send it to the customer.'
        : 'Refund prepared. Send it from your own wallet.',
    refresh: REFRESH,
    onDone: onClose,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const why = reason.trim()
    const to = way === 'given' ? address.trim() : null
    void ask.run({ id: invoice.id, amount: amount.trim(), address: to }, why === '' ? undefined : why)
  }
  return (
    <form onSubmit={submit} className="pm-stack" noValidate>
      <TextInput
        label={`Amount in ${coins?.symbol ?? ''}`}
        description={receivedLabel(invoice)}
        required
        inputMode="decimal"
        value={amount}
        onChange={({ currentTarget }) => setAmount(currentTarget.value)}
        error={ask.failure?.fields['amount']}
        data-autofocus
      />
      <Radio.Group label="Where it goes" value={way} onChange={(next) => setWay(next === 'given' ? 'given' : 'ask')}>
        <div className="pm-stack pm-gap-top">
          <Radio
            value="ask"
            label="Ask the customer by link"
            description={`The link asks for ${coins === null || !/^[aeiou]/i.test(coins.networkName) ? 'a' : 'an'} ${coins?.networkName ?? ''} address. It expires in 14 days and can be used once.`}
          />
          <Radio
            value="given"
            label={sender === null ? 'To an address that I know' : 'Back to the address that paid'}
            description={
              sender === null
                ? 'The customer told you where to send it.'
                : 'Only if the customer confirmed that it is theirs: money sent back to an exchange is usually lost.'
            }
          />
        </div>
      </Radio.Group>
      {way === 'given' ? (
        <TextInput
          label={`${coins?.networkName ?? ''} address`}
          required
          value={address}
          maxLength={120}
          autoComplete="off"
          onChange={({ currentTarget }) => setAddress(currentTarget.value)}
          error={ask.failure?.fields['address']}
        />
      ) : null}
      <TextInput
        label="Reason (optional)"
        description="Saved in the audit log."
        value={reason}
        maxLength={500}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <ActionFailure failure={ask.failure} />
      <div className="pm-row pm-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          type="submit"
          loading={ask.busy}
          disabled={amount.trim() === '' || (way === 'given' && address.trim() === '')}
        >
          {way === 'ask' ? 'Create link' : 'Prepare refund'}
        </Button>
      </div>
    </form>
  )
}

/** The address that all counted payments of the chosen coin came from; null when there are several, or it is not known. */
function senderOf({ payments, coins }: InvoiceDetail): string | null {
  const counted = payments.filter(({ counted: counts, asset }) => counts && asset === coins?.asset)
  const senders = [...new Set(counted.map(({ fromAddress }) => fromAddress))]
  return senders.length === 1 ? (senders[0] ?? null) : null
}

/** How the suggested amount was computed. */
function receivedLabel({ coins, status, refunds, payments }: InvoiceDetail): string {
  if (coins === null) return ''
  const { received, due, symbol } = coins
  if (payments.some(({ uncountedReason }) => uncountedReason === 'out_of_quote'))
    return `Received ${received} ${symbol}, and more while no price was valid. Only confirmed money that did not pay the invoice is suggested.`
  if (payments.some(({ counted, state }) => counted && state === 'detected'))
    return `Received ${received} of ${due} ${symbol}, part of it not confirmed yet. Only confirmed money is suggested.`
  const earlier = refunds.some((refund) => refund.status !== 'withdrawn') ? ', less earlier refunds' : ''
  if (status === 'overpaid') {
    return `Received ${received} of ${due} ${symbol}. Suggested: the amount above the price${earlier}.`
  }
  return status === 'paid' && coins.receivedBase !== coins.seenBase
    ? `Received ${received} ${symbol}, of which ${coins.seen} ${symbol} paid the invoice. Suggested: what came too late${earlier}.`
    : `Received ${received} ${symbol}. Suggested: all of it${earlier}.`
}

function RefundItem({ refund, mayAct }: { readonly refund: Refund; readonly mayAct: boolean }) {
  const { word, tone } = WORDS[refund.status]
  const open = refund.status === 'asked' || refund.status === 'addressed'
  return (
    <div className="pm-stack pm-gap-top">
      <div className="pm-row">
        <CryptoAmount amount={refund.amount} symbol={refund.symbol} />
        <ToneBadge tone={tone}>{word}</ToneBadge>
      </div>
      <Facts
        facts={[
          ...(refund.link === null
            ? []
            : ([
                ['Link', <CopyText key="link" text={refund.link} what="refund link" shown="for the customer" />],
              ] as const)),
          ...(refund.address === null
            ? []
            : ([['To', <CopyText key="to" text={refund.address} what="refund address" />]] as const)),
          ...(refund.txHash === null
            ? []
            : ([['Transaction', <CopyText key="tx" text={refund.txHash} what="transaction" short />]] as const)),
          ['Requested by', refund.askedBy],
          ...(refund.sentAt === null
            ? []
            : ([
                [
                  'Sent',
                  <span key="sent">
                    <Time at={refund.sentAt} /> by {refund.sentBy}
                  </span>,
                ],
              ] as const)),
          ...(refund.status === 'asked'
            ? ([['Link expires', <Time key="ends" at={refund.expiresAt} />]] as const)
            : []),
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void record.run({ refundId: refund.id, txHash: txHash.trim() })
  }
  return (
    <form onSubmit={submit} className="pm-stack" noValidate>
      <TextInput
        label="Transaction ID of your refund"
        description="Never paste a private key here."
        value={txHash}
        maxLength={200}
        autoComplete="off"
        onChange={({ currentTarget }) => setTxHash(currentTarget.value)}
        error={record.failure?.fields['txid']}
      />
      <ActionFailure failure={record.failure} />
      <div className="pm-row pm-end">
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
        <Button type="submit" size="xs" loading={record.busy} disabled={txHash.trim() === ''}>
          Mark as refunded
        </Button>
      </div>
    </form>
  )
}

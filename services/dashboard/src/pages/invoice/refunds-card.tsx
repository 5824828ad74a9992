import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton, DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card, Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import type { InvoiceDetail, Refund } from '../money/answers.ts'

const WORDS = {
  asked: { word: 'Address asked for', tone: 'pending' },
  addressed: { word: 'Address given', tone: 'partial' },
  sent: { word: 'Sent', tone: 'paid' },
  withdrawn: { word: 'Withdrawn', tone: 'cancelled' },
} as const
const REFRESH = [trpc.invoices.pathFilter()]

/** What was or will be given back: records, no transfers. */
export function RefundsCard({ invoice }: { readonly invoice: InvoiceDetail }) {
  const may = useMay('support')
  const [asking, setAsking] = useState(false)
  const { refunds, coins } = invoice
  if (refunds.length === 0 && invoice.may.refund !== null) return null
  return (
    <Card title="Refunds">
      <p className="pm-muted pm-small">
        A record. You send the money from your own wallet; Paymesh holds no keys and moves nothing.
      </p>
      {refunds.map((refund) => (
        <RefundItem key={refund.id} refund={refund} mayAct={may} />
      ))}
      {may && invoice.may.refund === null && coins !== null ? (
        <div className="pm-row pm-end pm-gap-top">
          <Button size="xs" variant="default" onClick={() => setAsking(true)}>
            Ask for a refund address
          </Button>
        </div>
      ) : null}
      <Modal opened={asking} onClose={() => setAsking(false)} title="Ask for a refund address">
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
  const ask = useDeed({
    call: (ids, input: { readonly id: string; readonly amount: string }) =>
      api.invoices.openRefund.mutate({ ...scope, ...ids, ...input }),
    done: 'The link is ready: copy it and send it to the customer.',
    refresh: REFRESH,
    onDone: onClose,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const why = reason.trim()
    void ask.run({ id: invoice.id, amount: amount.trim() }, why === '' ? undefined : why)
  }
  return (
    <form onSubmit={submit} className="pm-stack" noValidate>
      <p>
        The customer gets a link that asks for an address on {coins?.networkName}. It is valid for 14 days and takes one
        answer.
      </p>
      <TextInput
        label={`Amount in ${coins?.symbol ?? ''}`}
        description={receivedWords(invoice)}
        required
        inputMode="decimal"
        value={amount}
        onChange={({ currentTarget }) => setAmount(currentTarget.value)}
        error={ask.failure?.fields['amount']}
        data-autofocus
      />
      <TextInput
        label="Reason (optional)"
        description="Goes to the audit trail."
        value={reason}
        maxLength={500}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <DeedFailure failure={ask.failure} />
      <div className="pm-row pm-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={ask.busy} disabled={amount.trim() === ''}>
          Make the link
        </Button>
      </div>
    </form>
  )
}

/** What the proposed amount is made of. */
function receivedWords({ coins, status, refunds }: InvoiceDetail): string {
  if (coins === null) return ''
  const { received, due, symbol } = coins
  const earlier = refunds.some((refund) => refund.status !== 'withdrawn') ? ', less earlier refunds' : ''
  return status === 'overpaid'
    ? `Received ${received} of ${due} ${symbol}: proposed is what came above the amount due${earlier}.`
    : `Received ${received} ${symbol}: proposed is all of it${earlier}.`
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
          ['Asked by', refund.askedBy],
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
          ...(refund.status === 'asked' ? ([['Link ends', <Time key="ends" at={refund.expiresAt} />]] as const) : []),
        ]}
      />
      {open && mayAct ? <RecordForm refund={refund} /> : null}
    </div>
  )
}

function RecordForm({ refund }: { readonly refund: Refund }) {
  const scope = useScope()
  const [txHash, setTxHash] = useState('')
  const record = useDeed({
    call: (ids, input: { readonly refundId: string; readonly txHash: string }) =>
      api.invoices.recordRefund.mutate({ ...scope, ...ids, ...input }),
    done: 'Noted.',
    refresh: REFRESH,
  })
  const withdraw = useDeed({
    call: (ids, input: { readonly refundId: string }) =>
      api.invoices.withdrawRefund.mutate({ ...scope, ...ids, ...input }),
    done: 'Withdrawn.',
    refresh: REFRESH,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void record.run({ refundId: refund.id, txHash: txHash.trim() })
  }
  return (
    <form onSubmit={submit} className="pm-stack" noValidate>
      <TextInput
        label="Transaction you sent it with"
        description="Its id, never a key."
        value={txHash}
        maxLength={200}
        autoComplete="off"
        onChange={({ currentTarget }) => setTxHash(currentTarget.value)}
        error={record.failure?.fields['txid']}
      />
      <DeedFailure failure={record.failure} />
      <div className="pm-row pm-end">
        <DeedButton
          deed={withdraw}
          input={{ refundId: refund.id }}
          size="xs"
          variant="default"
          reason="optional"
          confirm="The customer's link stops working."
        >
          Withdraw
        </DeedButton>
        <Button type="submit" size="xs" loading={record.busy} disabled={txHash.trim() === ''}>
          Note as sent
        </Button>
      </div>
    </form>
  )
}

import { Button, Radio, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Modal } from '../../parts/loaded-modal.tsx'
import { useScope } from '../../session/scope.ts'
import { toBaseUnits } from '../exceptions/to-base-units.ts'
import type { InvoiceDetail } from '../money/answers.ts'

const REFRESH = [trpc.invoices.pathFilter()]

/** Asks how much is refunded and where it goes: a record, not a transfer. */
export function RefundDialog(props: {
  readonly invoice: InvoiceDetail
  readonly open: boolean
  readonly onClose: () => void
}) {
  return (
    <Modal opened={props.open} onClose={props.onClose} title="Prepare a refund">
      <AskForm invoice={props.invoice} onClose={props.onClose} />
    </Modal>
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
  const decimals = coins?.decimals ?? 0
  const unclear =
    amount.trim() === '' || toBaseUnits(amount, decimals) !== null
      ? undefined
      : `Enter an amount above zero without thousands separators and with at most ${decimals} decimals, e.g. 1250.50.`
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const why = reason.trim()
    const to = way === 'given' ? address.trim() : null
    // A decimal comma is what many keyboards have; groups of digits are never guessed at.
    void ask.run({ id: invoice.id, amount: amount.trim().replace(',', '.'), address: to }, why === '' ? undefined : why)
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
        error={unclear ?? ask.failure?.fields['amount']}
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
          disabled={amount.trim() === '' || unclear !== undefined || (way === 'given' && address.trim() === '')}
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

import { NativeSelect, Radio, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { readAmount } from '../../format/amounts.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Modal } from '../../parts/dialog/loaded-modal.tsx'
import { useScope } from '../../session/scope.ts'
import { toBaseUnits } from '../exceptions/to-base-units.ts'
import type { InvoiceDetail, OpenRefund, RefundableCoin } from '../money/answers.ts'
import { receivedLabel } from './received-label.ts'

const REFRESH = [trpc.invoices.pathFilter()]

/** Asks how much is refunded and where it goes: a record, not a transfer. */
export function RefundDialog(props: {
  readonly invoice: InvoiceDetail
  readonly open: boolean
  readonly onClose: () => void
}) {
  return (
    <Modal opened={props.open} onClose={props.onClose} title="Prepare a refund">
      <RequestForm invoice={props.invoice} onClose={props.onClose} />
    </Modal>
  )
}

function RequestForm({ invoice, onClose }: { readonly invoice: InvoiceDetail; readonly onClose: () => void }) {
  const scope = useScope()
  const first = invoice.refundable.find(({ asset }) => asset === invoice.coins?.asset) ?? invoice.refundable[0] ?? null
  const [chosen, setChosen] = useState(first?.asset ?? null)
  const coin = invoice.refundable.find(({ asset }) => asset === chosen) ?? first
  const [amount, setAmount] = useState(suggested(invoice, first))
  const [reason, setReason] = useState('')
  const sender = senderOf(invoice, coin)
  const [way, setWay] = useState<'link' | 'given'>('link')
  const [address, setAddress] = useState(sender ?? '')
  const action = useAction({
    call: (ids, input: Pick<OpenRefund, 'id' | 'amount' | 'asset' | 'address'>) =>
      api.invoices.openRefund.mutate({ ...scope, ...ids, ...input }),
    done:
      way === 'link'
        ? 'Link created. Copy it and send it to the customer.'
        : 'Refund prepared. Send it from your own wallet.',
    refresh: REFRESH,
    onDone: onClose,
  })
  const unclear = coin === null ? undefined : faultOf(amount, coin)
  const choose = (asset: string) => {
    const next = invoice.refundable.find((one) => one.asset === asset) ?? first
    setChosen(next?.asset ?? null)
    setAmount(suggested(invoice, next))
    setAddress(senderOf(invoice, next) ?? '')
  }
  const submit = () => {
    const why = reason.trim()
    const to = way === 'given' ? address.trim() : null
    // A decimal comma is what many keyboards have; groups of digits are never guessed at.
    const input = { id: invoice.id, amount: amount.trim().replace(',', '.'), asset: coin?.asset ?? null, address: to }
    void action.run(input, why === '' ? undefined : why)
  }
  return (
    <ActionForm
      action={action}
      onSubmit={submit}
      submit={way === 'link' ? 'Create link' : 'Prepare refund'}
      onCancel={onClose}
      disabled={amount.trim() === '' || unclear !== undefined || (way === 'given' && address.trim() === '')}
      noValidate
    >
      {invoice.refundable.length > 1 ? (
        <NativeSelect
          label="Coin"
          data={invoice.refundable.map(({ asset, symbol, networkName }) => ({
            value: asset,
            label: `${symbol} on ${networkName}`,
          }))}
          {...bindText(coin?.asset ?? '', choose)}
        />
      ) : null}
      <TextInput
        label={`Amount in ${coin?.symbol ?? ''}`}
        description={`${coin?.asset === invoice.coins?.asset ? receivedLabel(invoice) : ''} At most ${coin?.amount ?? '0'} ${coin?.symbol ?? ''} can be refunded.`}
        required
        inputMode="decimal"
        {...bindText(amount, setAmount)}
        error={unclear ?? action.failure?.fields['amount']}
        data-autofocus
      />
      <Radio.Group label="Where it goes" value={way} onChange={(next) => setWay(next === 'given' ? 'given' : 'link')}>
        <div className="pm-stack pm-gap-top">
          <Radio
            value="link"
            label="Ask the customer by link"
            description={`The link asks for ${/^[aeiou]/i.test(coin?.networkName ?? '') ? 'an' : 'a'} ${coin?.networkName ?? ''} address. It expires in 14 days and can be used once.`}
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
          label={`${coin?.networkName ?? ''} address`}
          required
          {...bindText(address, setAddress)}
          maxLength={120}
          autoComplete="off"
          error={action.failure?.fields['address']}
        />
      ) : null}
      <TextInput
        label="Reason (optional)"
        description="Saved in the audit log. Large refunds need one."
        {...bindText(reason, setReason)}
        maxLength={500}
        error={action.failure?.fields['reason']}
      />
    </ActionForm>
  )
}

/** The suggestion is in the coin of the invoice; of another one everything is likely to go back. */
function suggested({ coins, refundSuggestion }: InvoiceDetail, coin: RefundableCoin | null): string {
  return coin === null || coin.asset === coins?.asset ? (refundSuggestion ?? '') : coin.amount
}

function faultOf(amount: string, { decimals, amount: most, symbol }: RefundableCoin): string | undefined {
  if (amount.trim() === '') return undefined
  const read = readAmount(amount, decimals)
  if ('problem' in read) return read.problem
  return BigInt(toBaseUnits(amount, decimals) ?? 0) > BigInt(toBaseUnits(most, decimals) ?? 0)
    ? `At most ${most} ${symbol} can be refunded.`
    : undefined
}

/** The address that all confirmed payments in the coin came from; null when there are several, or it is not known. */
function senderOf({ payments }: InvoiceDetail, coin: RefundableCoin | null): string | null {
  const paid = payments.filter(({ state, asset }) => state === 'confirmed' && asset === coin?.asset)
  const senders = [...new Set(paid.map(({ fromAddress }) => fromAddress))]
  return senders.length === 1 ? (senders[0] ?? null) : null
}

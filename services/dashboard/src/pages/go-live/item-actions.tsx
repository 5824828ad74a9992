import { NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ASSET_IDS, type AssetId, type NetworkId, networkOf, symbolOf } from '#shared/domain/enumerations.ts'
import { api, trpc } from '../../api/trpc.ts'
import { readAmount } from '../../format/amounts.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { useMay, useScope } from '../../session/scope.ts'
import { words } from './go-live-words.ts'

const refresh = () => [trpc.goLive.pathFilter()]

/** The person enters the address that their wallet shows; the page never shows it first. */
export function CompareAddress(props: {
  readonly walletId: string
  readonly path: string | null
  readonly name: string
}) {
  const { walletId, path, name } = props
  const scope = useScope()
  const [address, setAddress] = useState('')
  const action = useAction({
    call: (ids, input: { readonly walletId: string; readonly address: string }) =>
      api.goLive.confirmAddress.mutate({ ...scope, ...ids, ...input }),
    done: ({ same }) => (same ? words.same : words.differs),
    refresh: refresh(),
  })
  const label = path === null ? words.listedAddress : words.addressAt(path)
  return (
    <div className="pm-stack">
      <TextInput
        label={label}
        {...bindText(address, setAddress)}
        error={action.failure?.fields['value'] ?? action.failure?.fields['address']}
        autoComplete="off"
        spellCheck={false}
        classNames={{ input: 'pm-mono' }}
      />
      <div className="pm-row">
        <ActionButton
          action={action}
          input={{ walletId, address: address.trim() }}
          variant="default"
          disabled={address.trim() === ''}
          aria-label={`${words.compare}: ${name}`}
        >
          {words.compare}
        </ActionButton>
      </div>
    </div>
  )
}

/** A statement of the owner, stored with their name. */
export function StateMasterKey() {
  const scope = useScope()
  const may = useMay('owner')
  const action = useAction({
    call: (ids, _input: object) => api.goLive.stateMasterKey.mutate({ ...scope, ...ids }),
    done: words.stated,
    refresh: refresh(),
  })
  return (
    <div className="pm-row">
      <ActionButton
        action={action}
        input={{}}
        variant="default"
        refusal={may ? null : words.needsOwner}
        confirm={<p>{words.confirmKey}</p>}
        dismiss={words.cancel}
      >
        {words.state}
      </ActionButton>
    </div>
  )
}

/** Queues a test mail. */
export function SendMail() {
  const scope = useScope()
  const action = useAction({
    call: (ids, _input: object) => api.goLive.sendMail.mutate({ ...scope, ...ids }),
    done: words.sent,
    refresh: refresh(),
  })
  return (
    <div className="pm-row">
      <ActionButton action={action} input={{}} variant="default">
        {words.sendMail}
      </ActionButton>
    </div>
  )
}

/** Creates the invoice of a self-payment on one network. */
export function StartPayment({ network, name }: { readonly network: NetworkId; readonly name: string }) {
  const scope = useScope()
  const assets = ASSET_IDS.filter((id) => networkOf(id) === network)
  const [asset, setAsset] = useState<AssetId | undefined>(assets[0])
  const [amount, setAmount] = useState('2.00')
  const action = useAction({
    call: (ids, input: { readonly asset: AssetId; readonly amount: string }) =>
      api.goLive.startPayment.mutate({ ...scope, ...ids, ...input }),
    done: words.created,
    refresh: refresh(),
  })
  const read = readAmount(amount, 2)
  if (asset === undefined) return null
  return (
    <div className="pm-stack">
      <NativeSelect
        label={words.asset}
        data={assets.map((id) => ({ value: id, label: symbolOf(id) }))}
        value={asset}
        onChange={({ currentTarget }) => setAsset(assets.find((id) => id === currentTarget.value))}
      />
      <TextInput
        label={words.amount}
        inputMode="decimal"
        {...bindText(amount, setAmount)}
        error={'problem' in read ? read.problem : action.failure?.fields['amount']}
      />
      <div className="pm-row">
        <ActionButton
          action={action}
          input={{ asset, amount: 'value' in read ? read.value : amount }}
          variant="default"
          aria-label={`${words.create}: ${name}`}
        >
          {words.create}
        </ActionButton>
      </div>
    </div>
  )
}

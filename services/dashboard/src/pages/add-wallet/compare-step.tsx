import { Button, Radio, TextInput } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, trpc } from '#services/dashboard/src/api/trpc.ts'
import { ControlProof, type Proof } from '#services/dashboard/src/pages/wallets/control-proof.tsx'
import { FAMILY_LABELS, SCRIPT_LABELS } from '#services/dashboard/src/pages/wallets/labels.ts'
import { ActionButton } from '#services/dashboard/src/parts/action/action-button.tsx'
import { useAction } from '#services/dashboard/src/parts/action/use-action.ts'
import { Card, Note } from '#services/dashboard/src/parts/card.tsx'
import { CopyButton } from '#services/dashboard/src/parts/copy-text.tsx'
import { useScope } from '#services/dashboard/src/session/scope.ts'
import { LANGUAGE } from '#services/dashboard/src/words/language.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { bindText } from '../../parts/bind-text.ts'
import { words } from './advice-words.ts'
import type { AddedWallet, Entry, KeyPreview, Preview } from './entry.ts'
import { GroupedAddress } from './grouped-address.tsx'

/** Shows the full addresses that payers would get, and adds the wallet when the person confirms them. */
export function CompareStep(props: {
  readonly entered: Entry
  readonly preview: Preview
  readonly onBack: () => void
  readonly onAdded: (added: AddedWallet) => void
}) {
  const { entered, preview, onBack, onAdded } = props
  const scope = useScope()
  const [verdict, setVerdict] = useState<'match' | 'differ' | ''>('')
  const [start, setStart] = useState('')
  const [proof, setProof] = useState<Proof | null>(null)
  const action = useAction({
    call: (ids, input: Entry) => api.wallets.add.mutate({ ...scope, ...ids, ...input }),
    refresh: [trpc.wallets.pathFilter()],
    onDone: onAdded,
  })
  const isKey = preview.kind === 'xpub'
  const { key } = preview
  const startIndex = startIndexOf(start)
  const needsStart = key?.needsStartIndex === true && preview.standing === 'none'
  const refusal =
    verdict !== 'match'
      ? 'Verify the addresses first.'
      : startIndex === undefined && (needsStart || start.trim() !== '')
        ? 'Enter a start index: 0 for a wallet that has never received a payment.'
        : preview.requiresProofs && preview.standing === 'none' && proof === null
          ? 'Sign the text and enter the signature to prove that you control this wallet.'
          : null
  return (
    <Card>
      <div className="pm-stack">
        <p className="pm-muted">
          {FAMILY_LABELS[entered.family]}
          {key === null || key.scriptType === null ? null : `, ${SCRIPT_LABELS[key.scriptType]}`}:{' '}
          {preview.networks.map((network) => NETWORKS[network].name).join(', ')}
          {preview.listed === null ? null : ` · ${preview.listed.count} addresses`}
          {preview.listed !== null && preview.listed.repeated > 0 ? `, ${preview.listed.repeated} repeated` : null}
        </p>
        {preview.standing === 'none' ? null : (
          <Note tone="pending">
            {preview.standing === 'disabled'
              ? 'You already have this wallet, but it is disabled. Continuing enables it again.'
              : preview.kind === 'pool'
                ? 'You already have a pool on this network. These addresses are added to it.'
                : isKey
                  ? 'You already have this wallet. You can still set its start index, until its first address is shown to a customer. Nothing else changes.'
                  : 'You already have this wallet. Nothing changes.'}
          </Note>
        )}
        <h2>{isKey ? 'Do these match the receive addresses in your wallet?' : 'Are these addresses yours?'}</h2>
        <p>
          Open the wallet {isKey ? 'this key came from' : 'they belong to'} and compare the full addresses, at least the
          first two. If they differ, your customers would pay someone else.
        </p>
        <div className="pm-table-box">
          <table className="pm-table pm-table-plain" aria-label="First addresses">
            <thead>
              <tr>
                <th scope="col">No.</th>
                {isKey ? <th scope="col">Path</th> : null}
                <th scope="col">Address</th>
                <th scope="col">
                  <span className="unseen">Copy</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {preview.addresses.map(({ index, path, address }) => (
                <tr key={address}>
                  <td>{index + 1}</td>
                  {isKey ? <td className="pm-mono">{path}</td> : null}
                  <td>
                    <GroupedAddress address={address} />
                  </td>
                  <td className="pm-right">
                    <CopyButton text={address} what={`address ${index + 1}`} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <Radio.Group
          aria-label="Do they match?"
          value={verdict}
          onChange={(next) => setVerdict(next === 'match' ? 'match' : 'differ')}
        >
          <div className="pm-choice">
            <Radio value="match" label="They match" description="I compared the full addresses." />
            <Radio value="differ" label="They differ" description="Try another address type or account." />
          </div>
        </Radio.Group>
        {key === null ? null : (
          <StartIndexField search={key.search} required={needsStart} value={start} onChange={setStart} />
        )}
        {preview.warnings.map((warning) => (
          <Note key={warning} tone="partial" icon={<IconAlertTriangle size={18} aria-hidden />}>
            {warning}
          </Note>
        ))}
        <MovingAdvice preview={preview} />
        {verdict === 'differ' ? (
          <Note tone="danger">
            Don’t use this key. Export the account public key that matches the address type of your wallet.
          </Note>
        ) : null}
        {preview.requiresProofs ? (
          <div className="pm-plain">
            <h2>Proof of control</h2>
            <p>
              This Paymesh server has more than one workspace, so a signed message has to prove that you control{' '}
              {isKey ? 'this key. Signing for its first address is enough.' : 'each of these addresses.'}
            </p>
            <ControlProof
              about={{ entered }}
              onChange={setProof}
              refusal={verdict === 'match' ? null : 'Verify the addresses first.'}
            />
          </div>
        ) : null}
        <div className="pm-row pm-end">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <ActionButton
            action={action}
            input={{ ...entered, ...(startIndex !== undefined && { startIndex }), ...(proof !== null && { proof }) }}
            refusal={refusal}
          >
            {preview.standing === 'enabled' && preview.kind === 'pool' ? 'Add addresses' : 'Add wallet'}
          </ActionButton>
        </div>
      </div>
    </Card>
  )
}

/** The typed number; absent for an empty field and for anything that is not a whole number. */
export function startIndexOf(text: string): number | undefined {
  return /^\d{1,6}$/.test(text.trim()) ? Number(text.trim()) : undefined
}

/** The start index of a key that may have been used, with an explanation of what Paymesh can search. */
export function StartIndexField(props: {
  readonly search: KeyPreview['search']
  readonly required: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const { search, required, value, onChange } = props
  const names = (networks: readonly (typeof search.networks)[number][]) =>
    networks.map((each) => NETWORKS[each].name).join(', ')
  const searches = search.networks.length > 0
  return (
    <div className="pm-plain">
      <h2>Was this key used before?</h2>
      <p>
        {search.words} {searches ? `It searches ${names(search.networks)}.` : null}{' '}
        {searches && search.unsearched.length > 0 ? `No node is configured for ${names(search.unsearched)}.` : null}
      </p>
      <TextInput
        label="Start index"
        description={
          searches
            ? 'Leave this empty and Paymesh searches. To skip the search, enter the index of your wallet’s next unused receive address, counted from 0.'
            : 'The index of the next unused receive address in your wallet, counted from 0. Enter 0 for a wallet that has never received a payment.'
        }
        inputMode="numeric"
        {...bindText(value, onChange)}
        required={required}
        autoComplete="off"
      />
    </div>
  )
}

/** Nodes were asked; the same figures serve for a while. */
const FRESH_MS = 60_000

/** What moving one payment costs on the wallet's networks; nothing while no fee is known. */
export function MovingAdvice({ preview }: { readonly preview: Pick<Preview, 'kind' | 'networks'> }) {
  const scope = useScope()
  const { kind, networks } = preview
  const advice = useQuery(trpc.funds.advice.queryOptions({ ...scope, kind, networks }, { staleTime: FRESH_MS }))
  if (advice.data === undefined) return null
  const { costs, currency, usual, recommendFewer } = advice.data
  const known = costs.filter(({ fee }) => fee !== null)
  if (known.length === 0) return null
  const money = usual === null ? null : `${usual} ${currency}`
  return (
    <div lang={LANGUAGE}>
      <Note
        tone={recommendFewer ? 'partial' : 'new'}
        icon={recommendFewer ? <IconAlertTriangle size={18} aria-hidden /> : undefined}
      >
        <p>
          <b>{words.title}.</b>{' '}
          {money === null ? words.noHistory : recommendFewer ? words.recommend(money) : words.fine(money)}
        </p>
        <ul>
          {known.map(({ network, asset, symbol, fee, feeSymbol, feeFiat, exceedsUsual }) => {
            const cost = `${fee} ${feeSymbol}${feeFiat === null ? '' : ` (${feeFiat} ${currency})`}`
            const text = words.row(symbol, NETWORKS[network].name, cost)
            return <li key={asset}>{exceedsUsual ? <b>{text}</b> : text}</li>
          })}
        </ul>
      </Note>
    </div>
  )
}

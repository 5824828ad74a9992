import { Button, Radio } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import { NETWORKS } from '#shared/domain/networks.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card, Note } from '../../parts/card.tsx'
import { CopyButton } from '../../parts/copy-text.tsx'
import { useScope } from '../../session/scope.ts'
import { ControlProof, type Proof } from '../wallets/control-proof.tsx'
import { FAMILY_LABELS, SCRIPT_LABELS } from '../wallets/labels.ts'
import type { Added, Entered, Preview } from './entered.ts'
import { GroupedAddress } from './grouped-address.tsx'
import { MovingAdvice } from './moving-advice.tsx'
import { StartIndexField, startIndexOf } from './start-index-field.tsx'

/** Shows the full addresses that payers would get, and adds the wallet when the person confirms them. */
export function CompareStep(props: {
  readonly entered: Entered
  readonly preview: Preview
  readonly onBack: () => void
  readonly onAdded: (added: Added) => void
}) {
  const { entered, preview, onBack, onAdded } = props
  const scope = useScope()
  const [verdict, setVerdict] = useState<'match' | 'differ' | ''>('')
  const [start, setStart] = useState('')
  const [proof, setProof] = useState<Proof | null>(null)
  const action = useAction({
    call: (ids, input: Entered) => api.wallets.add.mutate({ ...scope, ...ids, ...input }),
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
        : preview.asksForProofs && preview.standing === 'none' && proof === null
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
        {preview.asksForProofs ? (
          <div className="pm-stack-small">
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

import { Button, Radio } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import { NETWORKS } from '#shared/domain/networks.ts'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card, Note } from '../../parts/card.tsx'
import { CopyButton } from '../../parts/copy-text.tsx'
import { useScope } from '../../session/scope.ts'
import { ControlProof, type Proof } from '../wallets/control-proof.tsx'
import { FAMILY_WORDS, SCRIPT_WORDS } from '../wallets/words.ts'
import type { Added, Entered, Preview } from './entered.ts'
import { GroupedAddress } from './grouped-address.tsx'
import { StartIndexField, startIndexOf } from './start-index-field.tsx'

/** Shows the addresses that payers would get, whole, and adds the wallet when the person says that they are the right ones. */
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
  const deed = useDeed({
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
      ? 'Compare the addresses first.'
      : startIndex === undefined && (needsStart || start.trim() !== '')
        ? 'Give a start index: 0 for a wallet that never received anything.'
        : preview.asksForProofs && preview.standing === 'none' && proof === null
          ? 'Prove that you control it: sign the text and enter the signature.'
          : null
  return (
    <Card>
      <div className="pm-stack">
        <p className="pm-muted">
          {FAMILY_WORDS[entered.family]}
          {key === null || key.scriptType === null ? null : `, ${SCRIPT_WORDS[key.scriptType]}`}:{' '}
          {preview.networks.map((network) => NETWORKS[network].name).join(', ')}
          {preview.listed === null ? null : ` · ${preview.listed.count} addresses`}
          {preview.listed !== null && preview.listed.repeated > 0 ? `, ${preview.listed.repeated} repeated` : null}
        </p>
        {preview.standing === 'none' ? null : (
          <Note tone="pending">
            {preview.standing === 'disabled'
              ? 'You have this wallet, and it is disabled: going on enables it again.'
              : preview.kind === 'pool'
                ? 'You have a pool of this network: these addresses are added to it.'
                : isKey
                  ? 'You have this wallet already. A start index is taken until its first address is given to a payer; nothing else changes.'
                  : 'You have this wallet already; nothing changes.'}
          </Note>
        )}
        <h2>{isKey ? 'Do these match the receive addresses in your wallet?' : 'Are these addresses yours?'}</h2>
        <p>
          Open the wallet {isKey ? 'this key came from' : 'they belong to'} and compare whole addresses, at least the
          first two. If they differ, customers would pay someone else.
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
            <Radio value="match" label="They match" description="I compared whole addresses." />
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
        {verdict === 'differ' ? (
          <Note tone="danger">
            Do not use this key. Export the account’s public key of the same address type as your receive addresses,
            then paste that one.
          </Note>
        ) : null}
        {preview.asksForProofs ? (
          <div className="pm-stack-small">
            <h2>Proof needed</h2>
            <p>
              This installation serves more than one workspace: a signed message shows that you control{' '}
              {isKey ? 'this key. Its first address stands for all.' : 'each of these addresses.'}
            </p>
            <ControlProof
              about={{ entered }}
              onChange={setProof}
              refusal={verdict === 'match' ? null : 'Compare the addresses first.'}
            />
          </div>
        ) : null}
        <div className="pm-row pm-end">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <DeedButton
            deed={deed}
            input={{ ...entered, ...(startIndex !== undefined && { startIndex }), ...(proof !== null && { proof }) }}
            refusal={refusal}
          >
            {preview.standing === 'enabled' && preview.kind === 'pool' ? 'Add these addresses' : 'Add this wallet'}
          </DeedButton>
        </div>
      </div>
    </Card>
  )
}

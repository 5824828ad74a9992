import { Button, Radio } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { networkName } from '../../format/networks.ts'
import { Card, Note } from '../../parts/card.tsx'
import { CopyButton } from '../../parts/copy-text.tsx'
import { DeedButton } from '../../parts/deed-button.tsx'
import { useDeed } from '../../parts/use-deed.ts'
import { useScope } from '../../session/scope.ts'
import { FAMILY_WORDS } from '../wallets/words.ts'
import type { Added, Entered, Preview } from './entered.ts'

const GROUP = 4

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
  const deed = useDeed({
    call: (ids, input: Entered) => api.wallets.add.mutate({ ...scope, ...ids, ...input }),
    refresh: [trpc.wallets.pathFilter()],
    onDone: onAdded,
  })
  const isKey = preview.kind === 'xpub'
  return (
    <Card>
      <div className="pm-stack">
        <p className="pm-muted">
          {FAMILY_WORDS[entered.family]}: {preview.networks.map((network) => networkName(network)).join(', ')}
          {preview.listed === null ? null : ` · ${preview.listed.count} addresses`}
          {preview.listed !== null && preview.listed.repeated > 0 ? `, ${preview.listed.repeated} repeated` : null}
        </p>
        {preview.standing === 'none' ? null : (
          <Note tone="pending">
            {preview.standing === 'disabled'
              ? 'You have this wallet, and it is disabled: going on enables it again.'
              : preview.kind === 'pool'
                ? 'You have a pool of this network: these addresses are added to it.'
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
        <div className="pm-row pm-end">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <DeedButton deed={deed} input={entered} refusal={verdict === 'match' ? null : 'Compare the addresses first.'}>
            {preview.standing === 'enabled' && preview.kind === 'pool' ? 'Add these addresses' : 'Add this wallet'}
          </DeedButton>
        </div>
      </div>
    </Card>
  )
}

/** A whole address in groups of four, the first and the last one strong; a copy of it has no spaces. */
function GroupedAddress({ address }: { readonly address: string }) {
  // The first group takes what is left over, so that the last one is whole.
  const first = GROUP + (address.length % GROUP)
  const groups = [address.slice(0, first), ...(address.slice(first).match(new RegExp(`.{${GROUP}}`, 'g')) ?? [])]
  return (
    <span className="pm-compare" translate="no">
      <b>{groups[0]}</b> {groups.slice(1, -1).join(' ')} <b>{groups.length > 1 ? groups.at(-1) : ''}</b>
    </span>
  )
}

import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { useScope } from '../../session/scope.ts'

interface FormerKey {
  readonly id: string
  readonly name: string | null
  readonly mode: 'live' | 'test'
  readonly last4: string
}

/** Somebody who was removed, with the API keys that they created and that still work. */
export interface RemovedMember {
  readonly name: string
  readonly keys: readonly FormerKey[]
}

/** Lists the API keys of somebody who was just removed, each with a button that revokes it. Shows nothing without keys. */
export function FormerKeys({
  removed,
  onClose,
}: {
  readonly removed: RemovedMember | null
  readonly onClose: () => void
}) {
  return (
    <Modal
      opened={removed !== null && removed.keys.length > 0}
      onClose={onClose}
      title="Revoke their API keys?"
      size="lg"
    >
      {removed === null ? null : (
        <div className="pm-stack">
          <p>
            <ForeignText>{removed.name}</ForeignText> was removed. Programs still work with these API keys, which they
            created and may have kept. Revoke those that no program of yours needs; replace the others.
          </p>
          <ul className="pm-stack">
            {removed.keys.map((key) => (
              <FormerKeyRow key={key.id} formerKey={key} />
            ))}
          </ul>
          <div className="pm-row pm-end">
            <Button variant="default" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      )}
    </Modal>
  )
}

function FormerKeyRow({ formerKey: { id, name, mode, last4 } }: { readonly formerKey: FormerKey }) {
  const { workspaceId } = useScope()
  const [isRevoked, setRevoked] = useState(false)
  const revoke = useDeed({
    call: (ids, input: { keyId: string; last4: string }) =>
      api.apiKeys.revoke.mutate({ workspaceId, mode, ...ids, ...input }),
    done: 'Revoked. The key works nowhere any more.',
    onDone: () => setRevoked(true),
    refresh: [trpc.apiKeys.pathFilter()],
  })
  return (
    <li>
      <span className="pm-row">
        {name === null ? 'A key without a name' : <ForeignText>{name}</ForeignText>}
        <span className="pm-mono">…{last4}</span>
        <span className="pm-muted">{mode}</span>
        {isRevoked ? (
          <ToneBadge tone="partial">Revoked</ToneBadge>
        ) : (
          <Button
            size="xs"
            variant="default"
            color="red"
            loading={revoke.busy}
            aria-label={`Revoke the key that ends in ${last4}`}
            onClick={() => void revoke.run({ keyId: id, last4 })}
          >
            Revoke
          </Button>
        )}
      </span>
      <DeedFailure failure={revoke.failure} />
    </li>
  )
}

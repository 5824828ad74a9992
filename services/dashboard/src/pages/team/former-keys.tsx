import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useScope } from '../../session/scope.ts'

interface FormerKey {
  readonly id: string
  readonly name: string | null
  readonly mode: 'live' | 'test'
  readonly last4: string
}

/** A removed member, with the API keys that they created and that are still active. */
export interface RemovedMember {
  readonly name: string
  readonly keys: readonly FormerKey[]
}

/** Lists the API keys of a member who was just removed, each with a revoke button. Shows nothing without keys. */
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
            <UntrustedText>{removed.name}</UntrustedText> was removed. They created these API keys, which still work and
            which they may have copied. Revoke the keys you don’t use; replace the others.
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
  const revoke = useAction({
    call: (ids, input: { keyId: string; last4: string }) =>
      api.apiKeys.revoke.mutate({ workspaceId, mode, ...ids, ...input }),
    done: 'Key revoked.',
    onDone: () => setRevoked(true),
    refresh: [trpc.apiKeys.pathFilter()],
  })
  return (
    <li>
      <span className="pm-row">
        {name === null ? 'Unnamed' : <UntrustedText>{name}</UntrustedText>}
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
      <ActionFailure failure={revoke.failure} />
    </li>
  )
}

import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { useMay, useScope } from '../../session/scope.ts'
import { hostOf } from '../webhooks/labels.tsx'
import type { Endpoint } from './health-badge.tsx'
import { RotateDialog } from './rotate-dialog.tsx'

interface DangerProps {
  readonly endpoint: Endpoint
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

/** Rotating the secret, and deleting the endpoint. */
export function EndpointDanger({ endpoint, onSecret, onClose }: DangerProps) {
  const scope = useScope()
  const may = useMay('admin')
  const [rotating, setRotating] = useState(false)
  const remove = useAction({
    call: (ids, input: { readonly endpointId: string }) => api.endpoints.remove.mutate({ ...scope, ...ids, ...input }),
    done: 'Endpoint deleted.',
    refresh: [trpc.endpoints.pathFilter(), trpc.deliveries.pathFilter()],
    onDone: onClose,
  })
  const onlyTest = endpoint.mode === 'both' && scope.mode === 'test'
  return (
    <div className="pm-row">
      <Button variant="default" disabled={!may} onClick={() => setRotating(true)}>
        Rotate secret…
      </Button>
      <ActionButton
        action={remove}
        input={{ endpointId: endpoint.id }}
        color="red"
        variant="outline"
        refusal={may ? null : 'Requires the Admin role.'}
        reason="optional"
        confirm={
          onlyTest ? (
            <p>It still receives live events, but no more test events.</p>
          ) : (
            <p>
              Deliveries to <b>{hostOf(endpoint.url)}</b> stop and {endpoint.health.waiting + endpoint.health.held}{' '}
              queued events are discarded. Past deliveries stay visible.
            </p>
          )
        }
      >
        {onlyTest ? 'Stop test events' : 'Delete endpoint'}
      </ActionButton>
      <RotateDialog endpointId={endpoint.id} open={rotating} onClose={() => setRotating(false)} onSecret={onSecret} />
    </div>
  )
}

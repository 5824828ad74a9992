import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { useMay, useScope } from '../../session/scope.ts'

/** Pauses or resumes an endpoint. */
export function PauseButton(props: {
  readonly endpointId: string
  readonly status: 'enabled' | 'disabled'
  readonly host: string
}) {
  const { endpointId, status, host } = props
  const scope = useScope()
  const may = useMay('admin')
  const action = useAction({
    call: (ids, input: { readonly endpointId: string; readonly status: 'enabled' | 'disabled' }) =>
      api.endpoints.setStatus.mutate({ ...scope, ...ids, ...input }),
    done: ({ endpoint }) =>
      endpoint.status === 'disabled'
        ? 'Endpoint paused. Queued events are kept; new events are not queued.'
        : 'Endpoint resumed. Queued deliveries continue.',
    refresh: [trpc.endpoints.pathFilter(), trpc.deliveries.pathFilter()],
  })
  const pausing = status === 'enabled'
  return (
    <ActionButton
      variant="default"
      action={action}
      input={{ endpointId, status: pausing ? 'disabled' : 'enabled' }}
      refusal={may ? null : 'Requires the Admin role.'}
      reason="optional"
      confirm={
        pausing ? (
          <p>
            Nothing is sent to <b>{host}</b> while it is paused. Queued events are kept. Events that happen during the
            pause are not queued; use “Resend missed events…”.
          </p>
        ) : (
          <p>
            Queued deliveries to <b>{host}</b> continue. Events that happened during the pause are not included; use
            “Resend missed events…”.
          </p>
        )
      }
    >
      {pausing ? 'Pause endpoint' : 'Resume endpoint'}
    </ActionButton>
  )
}

import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { useMay, useScope } from '../../session/scope.ts'

/** Pauses an endpoint, or lets it go on. */
export function PauseButton(props: {
  readonly endpointId: string
  readonly status: 'enabled' | 'disabled'
  readonly host: string
}) {
  const { endpointId, status, host } = props
  const scope = useScope()
  const may = useMay('admin')
  const deed = useDeed({
    call: (ids, input: { readonly endpointId: string; readonly status: 'enabled' | 'disabled' }) =>
      api.endpoints.setStatus.mutate({ ...scope, ...ids, ...input }),
    done: ({ endpoint }) =>
      endpoint.status === 'disabled'
        ? 'Paused. What waits is held; new events are left out.'
        : 'Enabled. What was held goes on.',
    refresh: [trpc.endpoints.pathFilter(), trpc.deliveries.pathFilter()],
  })
  const pausing = status === 'enabled'
  return (
    <DeedButton
      variant="default"
      deed={deed}
      input={{ endpointId, status: pausing ? 'disabled' : 'enabled' }}
      refusal={may ? null : 'Needs the role Admin.'}
      reason="optional"
      confirm={
        pausing ? (
          <p>
            Nothing more is sent to <b>{host}</b>. What waits is held with its attempts. Events of the paused time reach
            it only by “Recover since…”.
          </p>
        ) : (
          <p>
            What was held for <b>{host}</b> goes on now. Events of the paused time are not among it: fetch them with
            “Recover since…”.
          </p>
        )
      }
    >
      {pausing ? 'Pause endpoint' : 'Enable endpoint'}
    </DeedButton>
  )
}

import { Button, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { hostAndPath } from '#shared/domain/webhook/endpoint-name.ts'
import { api, trpc } from '../../api/trpc.ts'
import { serverTime } from '../../first/server-time.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Note } from '../../parts/card.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { Time, ZONE } from '../../parts/time.tsx'
import { useMay, useScope } from '../../session/scope.ts'

const DAY_MS = 86_400_000
const POLL_EVERY_MS = 1_000

/** A moment in the format of the browser's date and time field, in this browser's time zone. */
function fieldOf(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Resends the events that an endpoint missed in a period, however many; the dialog may be closed while it runs. */
export function RecoverDialog(props: {
  readonly endpoints: readonly { readonly id: string; readonly url: string }[]
  /** Preselected endpoint; null selects the first one. */
  readonly endpointId: string | null
  readonly open: boolean
  readonly onClose: () => void
}) {
  return (
    <Modal opened={props.open} onClose={props.onClose} title="Resend missed events">
      <Form {...props} />
    </Modal>
  )
}

function Form({ endpoints, endpointId, onClose }: Parameters<typeof RecoverDialog>[0]) {
  const scope = useScope()
  const may = useMay('support')
  const [endpoint, setEndpoint] = useState(endpointId ?? endpoints[0]?.id ?? '')
  const [since, setSince] = useState(() => fieldOf(serverTime() - DAY_MS))
  const [kind, setKind] = useState<'failed' | 'all'>('failed')
  const [recovering, setRecovering] = useState<string | null>(null)
  const action = useAction({
    call: (ids, input: { readonly endpointId: string; readonly since: number; readonly scope: 'failed' | 'all' }) =>
      api.endpoints.recover.mutate({ ...scope, ...ids, ...input }),
    refresh: [trpc.endpoints.pathFilter(), trpc.deliveries.pathFilter()],
    onDone: ({ endpointId: id }) => setRecovering(id),
  })
  if (recovering !== null) return <Progress endpointId={recovering} onClose={onClose} />
  return (
    <ActionForm
      action={action}
      onSubmit={() => void action.run({ endpointId: endpoint, since: new Date(since).getTime(), scope: kind })}
      submit="Resend"
      onCancel={onClose}
      disabled={!may || endpoint === '' || since === ''}
    >
      <NativeSelect
        label="Endpoint"
        data={endpoints.map(({ id, url }) => ({ value: id, label: hostAndPath(url) }))}
        {...bindText(endpoint, setEndpoint)}
      />
      <TextInput
        label="Since"
        description={`In your time zone, ${ZONE}.`}
        type="datetime-local"
        required
        {...bindText(since, setSince)}
        max={fieldOf(serverTime())}
      />
      <Radio.Group label="Events" value={kind} onChange={(value) => setKind(value === 'all' ? 'all' : 'failed')}>
        <Radio mt="xs" value="failed" label="Only events it missed (including while paused)" />
        <Radio mt="xs" value="all" label="All events, including ones already delivered" />
      </Radio.Group>
      <p className="pm-muted">Runs in the background; you can leave this page.</p>
    </ActionForm>
  )
}

function Progress({ endpointId, onClose }: { readonly endpointId: string; readonly onClose: () => void }) {
  const scope = useScope()
  const shown = useQuery(
    trpc.endpoints.get.queryOptions({ ...scope, endpointId }, { refetchInterval: POLL_EVERY_MS, staleTime: 0 }),
  )
  const latest = shown.data?.recoveries[0]
  return (
    <div className="pm-stack">
      <div role="status">
        {latest === undefined ? (
          <p>Started.</p>
        ) : latest.state === 'open' ? (
          <Note tone="pending">
            <p>
              {latest.scanned} events checked, {latest.made} resent. Now at events from{' '}
              <Time at={latest.reached} detail />.
            </p>
          </Note>
        ) : (
          <Note tone={latest.state === 'done' ? 'paid' : 'new'}>
            <p>
              {latest.state === 'done' ? 'Done' : 'Stopped: the endpoint was deleted'}. {latest.scanned} events checked,{' '}
              {latest.made} resent.
            </p>
          </Note>
        )}
      </div>
      <div className="pm-row pm-end">
        <Button onClick={onClose}>{latest?.state === 'open' ? 'Run in background' : 'Close'}</Button>
      </div>
    </div>
  )
}

import { Button, Modal, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Note } from '../../parts/card.tsx'
import { Time, ZONE } from '../../parts/time.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import { hostOf } from './words.tsx'

const DAY_MS = 86_400_000
const LOOK_EVERY_MS = 1_000

/** A moment as the browser's field for dates and times writes it, in this browser's zone. */
function fieldOf(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Sends an endpoint what it missed in a period, however much; the dialog may be left while it runs. */
export function RecoverDialog(props: {
  readonly endpoints: readonly { readonly id: string; readonly url: string }[]
  /** Chosen at first; null takes the first one. */
  readonly endpointId: string | null
  readonly open: boolean
  readonly onClose: () => void
}) {
  return (
    <Modal opened={props.open} onClose={props.onClose} title="Recover since…">
      <Form {...props} />
    </Modal>
  )
}

function Form({ endpoints, endpointId, onClose }: Parameters<typeof RecoverDialog>[0]) {
  const scope = useScope()
  const may = useMay('support')
  const [endpoint, setEndpoint] = useState(endpointId ?? endpoints[0]?.id ?? '')
  const [since, setSince] = useState(() => fieldOf(Date.now() - DAY_MS))
  const [kind, setKind] = useState<'failed' | 'all'>('failed')
  const [asked, setAsked] = useState<string | null>(null)
  const deed = useDeed({
    call: (ids, input: { readonly endpointId: string; readonly since: number; readonly scope: 'failed' | 'all' }) =>
      api.endpoints.recover.mutate({ ...scope, ...ids, ...input }),
    refresh: [trpc.endpoints.pathFilter(), trpc.deliveries.pathFilter()],
    onDone: ({ endpointId: id }) => setAsked(id),
  })
  if (asked !== null) return <Progress endpointId={asked} onClose={onClose} />
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void deed.run({ endpointId: endpoint, since: new Date(since).getTime(), scope: kind })
  }
  return (
    <form onSubmit={submit} className="pm-stack">
      <NativeSelect
        label="Endpoint"
        data={endpoints.map(({ id, url }) => ({ value: id, label: hostOf(url) }))}
        value={endpoint}
        onChange={({ currentTarget }) => setEndpoint(currentTarget.value)}
      />
      <TextInput
        label="Since"
        description={`In your zone, ${ZONE}.`}
        type="datetime-local"
        required
        value={since}
        max={fieldOf(Date.now())}
        onChange={({ currentTarget }) => setSince(currentTarget.value)}
      />
      <Radio.Group label="What" value={kind} onChange={(value) => setKind(value === 'all' ? 'all' : 'failed')}>
        <Radio mt="xs" value="failed" label="What it never took, paused times included" />
        <Radio mt="xs" value="all" label="Everything it is subscribed to, also what it took" />
      </Radio.Group>
      <p className="pm-muted">There is no limit. It goes on by itself after a restart; you can leave this page.</p>
      <DeedFailure failure={deed.failure} />
      <div className="pm-row pm-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={deed.busy} disabled={!may || endpoint === '' || since === ''}>
          Recover
        </Button>
      </div>
    </form>
  )
}

function Progress({ endpointId, onClose }: { readonly endpointId: string; readonly onClose: () => void }) {
  const scope = useScope()
  const shown = useQuery(
    trpc.endpoints.get.queryOptions({ ...scope, endpointId }, { refetchInterval: LOOK_EVERY_MS, staleTime: 0 }),
  )
  const latest = shown.data?.recoveries[0]
  return (
    <div className="pm-stack">
      <div role="status">
        {latest === undefined ? (
          <p>Asked.</p>
        ) : latest.state === 'open' ? (
          <Note tone="pending">
            <p>
              {latest.scanned} events looked at, {latest.made} sent again. Reached events of{' '}
              <Time at={latest.reached} detail />.
            </p>
          </Note>
        ) : (
          <Note tone={latest.state === 'done' ? 'paid' : 'new'}>
            <p>
              {latest.state === 'done' ? 'Done' : 'Ended: the endpoint is gone'}. {latest.scanned} events looked at,{' '}
              {latest.made} sent again.
            </p>
          </Note>
        )}
      </div>
      <div className="pm-row pm-end">
        <Button onClick={onClose}>{latest?.state === 'open' ? 'Leave it running' : 'Close'}</Button>
      </div>
    </div>
  )
}

import { Button, NumberInput, Textarea } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { api, trpc } from '#services/dashboard/src/api/trpc.ts'
import { PauseButton } from '#services/dashboard/src/pages/webhooks/pause-button.tsx'
import { RecoverDialog } from '#services/dashboard/src/pages/webhooks/recover-dialog.tsx'
import { ActionButton } from '#services/dashboard/src/parts/action/action-button.tsx'
import { ActionForm } from '#services/dashboard/src/parts/action/action-form.tsx'
import { useAction } from '#services/dashboard/src/parts/action/use-action.ts'
import { Facts, Note } from '#services/dashboard/src/parts/card.tsx'
import { CopyText } from '#services/dashboard/src/parts/copy-text.tsx'
import { Aside } from '#services/dashboard/src/parts/dialog/aside.tsx'
import { Time } from '#services/dashboard/src/parts/time.tsx'
import { UntrustedText } from '#services/dashboard/src/parts/untrusted-text.tsx'
import { useMay, useRefusal, useScope, useTo } from '#services/dashboard/src/session/scope.ts'
import { hostAndPath } from '#shared/domain/webhook/endpoint-name.ts'
import { bindText } from '../../parts/bind-text.ts'
import { EndpointOutlook } from './endpoint-outlook.tsx'
import { EventChoice, type EventName } from './event-choice.tsx'
import { type Endpoint, HealthBadge } from './health-badge.tsx'
import { RotateDialog } from './rotate-dialog.tsx'

interface AsideProps {
  readonly endpoint: Endpoint
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

/** One endpoint: its health, its deliveries, and all its actions. */
export function EndpointAside({ endpoint, onClose, onSecret }: AsideProps) {
  return (
    <Aside
      what="endpoint"
      id={endpoint.id}
      title={<UntrustedText>{hostAndPath(endpoint.url)}</UntrustedText>}
      beside={<HealthBadge state={endpoint.health.state} />}
      onClose={onClose}
    >
      <EndpointOutlook endpoint={endpoint} />
      <Tools endpoint={endpoint} />
      <Failures endpoint={endpoint} />
      <Edit key={endpoint.updatedAt} endpoint={endpoint} />
      <Facts
        facts={[
          ['URL', <UntrustedText key="u">{endpoint.url}</UntrustedText>],
          ['Mode', endpoint.mode === 'both' ? 'live and test' : endpoint.mode],
          ['Added', <Time key="a" at={endpoint.createdAt} />],
          endpoint.oldSecretUntil === null
            ? null
            : ['Old secret valid until', <Time key="s" at={endpoint.oldSecretUntil} />],
          ['ID', <CopyText key="i" text={endpoint.id} what="endpoint ID" short />],
        ]}
      />
      <EndpointDanger endpoint={endpoint} onSecret={onSecret} onClose={onClose} />
    </Aside>
  )
}

function Tools({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id, url, status } = endpoint
  const scope = useScope()
  const to = useTo()
  const navigate = useNavigate()
  const maySend = useMay('support')
  const refusal = useRefusal('support', 'restricted')
  const [recovering, setRecovering] = useState(false)
  const test = useAction({
    call: (ids, input: { readonly endpointId: string }) =>
      api.endpoints.sendTest.mutate({ ...scope, ...ids, ...input }),
    done: 'Test event sent.',
    refresh: [trpc.deliveries.pathFilter(), trpc.endpoints.pathFilter()],
    onDone: (delivery) => void navigate(to('webhooks/deliveries', delivery.id)),
  })
  return (
    <div className="pm-row">
      <ActionButton
        action={test}
        input={{ endpointId: id }}
        leftSection={<IconSend size={16} aria-hidden />}
        refusal={refusal ?? (status === 'disabled' ? 'The endpoint is paused: resume it first.' : null)}
      >
        Send test event
      </ActionButton>
      <Button variant="default" onClick={() => setRecovering(true)} disabled={!maySend || status === 'disabled'}>
        Resend missed events…
      </Button>
      <PauseButton endpointId={id} status={status} host={hostAndPath(url)} />
      <Link className="pm-link" to={`${to('webhooks/deliveries')}?endpoint=${id}`}>
        View deliveries
      </Link>
      <RecoverDialog endpoints={[endpoint]} endpointId={id} open={recovering} onClose={() => setRecovering(false)} />
    </div>
  )
}

function Failures({ endpoint: { health, recovery } }: { readonly endpoint: Endpoint }) {
  const to = useTo()
  return (
    <>
      {recovery === null ? null : (
        <Note tone="pending">
          <p>
            Resending missed events: {recovery.scanned} checked, {recovery.made} resent, up to{' '}
            <Time at={recovery.reached} />.
          </p>
        </Note>
      )}
      {health.lastFailures.length === 0 ? null : (
        <section>
          <h3>Latest failures</h3>
          <ul className="pm-plain">
            {health.lastFailures.map(({ deliveryId, eventType, at, explanation }) => (
              <li key={deliveryId}>
                <Link to={to('webhooks/deliveries', deliveryId)}>
                  <span className="pm-mono">{eventType}</span>
                </Link>{' '}
                <Time at={at} /> <span className="pm-muted">{explanation}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

interface EndpointInput {
  endpointId: string
  version: number
  events: EventName[]
  description: string | null
  inFlightMax: number | null
}

function Edit({ endpoint }: { readonly endpoint: Endpoint }) {
  const scope = useScope()
  const may = useMay('admin', 'restricted')
  const [events, setEvents] = useState<readonly EventName[]>(endpoint.events)
  const [description, setDescription] = useState(endpoint.description ?? '')
  const [inFlightMax, setInFlightMax] = useState<number | null>(endpoint.inFlightMax)
  const action = useAction({
    call: (ids, input: EndpointInput) => api.endpoints.update.mutate({ ...scope, ...ids, ...input }),
    done: 'Saved.',
    refresh: [trpc.endpoints.pathFilter()],
  })
  const submit = () => {
    const note = description.trim()
    void action.run({
      ...{ endpointId: endpoint.id, version: endpoint.updatedAt, events: [...events] },
      description: note === '' ? null : note,
      inFlightMax,
    })
  }
  return (
    <details>
      <summary className="pm-summary">Events, description and speed</summary>
      <ActionForm action={action} onSubmit={submit} submit="Save" disabled={!may || events.length === 0}>
        <EventChoice
          value={events}
          onChange={setEvents}
          problem={events.length === 0 ? 'Choose at least one event type.' : undefined}
        />
        <Textarea label="Description" {...bindText(description, setDescription)} maxLength={500} />
        <NumberInput
          label="Requests at the same time, at most"
          description="Empty: as many as the receiver answers without slowing down. Enter a number to keep some of it free for your customers."
          value={inFlightMax ?? ''}
          min={1}
          max={64}
          allowDecimal={false}
          clampBehavior="strict"
          onChange={(value) => setInFlightMax(typeof value === 'number' ? value : null)}
        />
      </ActionForm>
    </details>
  )
}

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
              Deliveries to <b>{hostAndPath(endpoint.url)}</b> stop and {endpoint.health.waiting + endpoint.health.held}{' '}
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

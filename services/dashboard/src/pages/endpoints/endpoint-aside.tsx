import { Button, Modal, Radio, Textarea } from '@mantine/core'
import { IconSend, IconX } from '@tabler/icons-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton, DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Facts, Note } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import { PauseButton } from '../webhooks/pause-button.tsx'
import { RecoverDialog } from '../webhooks/recover-dialog.tsx'
import { hostOf } from '../webhooks/words.tsx'
import { EventChoice, type EventName } from './event-choice.tsx'
import { type Endpoint, HealthBadge } from './health-badge.tsx'

interface AsideProps {
  readonly endpoint: Endpoint
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

/** One endpoint: how it does, what it is sent, and everything that can be done with it. */
export function EndpointAside({ endpoint, onClose, onSecret }: AsideProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <aside className="pm-card" aria-label="Endpoint" onKeyDown={({ key }) => key === 'Escape' && onClose()}>
      <header className="pm-aside-head">
        <h2 ref={heading} tabIndex={-1}>
          <ForeignText>{hostOf(endpoint.url)}</ForeignText>
        </h2>
        <HealthBadge state={endpoint.health.state} />
        <button type="button" className="pm-icon-button" onClick={onClose} aria-label="Close the endpoint">
          <IconX size={16} aria-hidden />
        </button>
      </header>
      <div className="pm-aside-body">
        <Sentence endpoint={endpoint} />
        <Tools endpoint={endpoint} />
        <Failures endpoint={endpoint} />
        <Edit key={endpoint.updatedAt} endpoint={endpoint} />
        <Facts
          facts={[
            ['URL', <ForeignText key="u">{endpoint.url}</ForeignText>],
            ['Receives', endpoint.mode === 'both' ? 'live and test events' : `${endpoint.mode} events`],
            ['Added', <Time key="a" at={endpoint.createdAt} />],
            ...(endpoint.oldSecretUntil === null
              ? []
              : ([['Former secret signs until', <Time key="s" at={endpoint.oldSecretUntil} />]] as const)),
            ['ID', <CopyText key="i" text={endpoint.id} what="endpoint ID" short />],
          ]}
        />
        <Dangerous endpoint={endpoint} onSecret={onSecret} onClose={onClose} />
      </div>
    </aside>
  )
}

function Sentence({ endpoint: { health, status } }: { readonly endpoint: Endpoint }) {
  const { state, held } = health
  if (status === 'disabled') {
    return (
      <Note tone="new">
        <p>Paused. {held === 0 ? 'Nothing waits.' : `${held} deliveries are held and go on when it is enabled.`}</p>
      </Note>
    )
  }
  if (state === 'no_data') {
    return (
      <Note tone="pending">
        <p>Nothing was sent yet. Send a test event to see one arrive.</p>
        <Waiting health={health} />
      </Note>
    )
  }
  return (
    <Note tone={({ healthy: 'paid', degraded: 'partial', failing: 'danger', paused: 'new' } as const)[state]}>
      <p>
        <Outlook health={health} />
      </p>
      <Waiting health={health} />
    </Note>
  )
}

/** What happened, and what to do about it. */
function Outlook({ health }: { readonly health: Endpoint['health'] }) {
  const { state, failed, lastSuccessAt } = health
  if (state === 'healthy') return <>It takes what it is sent.</>
  if (state === 'degraded') return <>Some deliveries need more than one attempt. Look at the last failures.</>
  return (
    <>
      {lastSuccessAt === null ? (
        'None has arrived. '
      ) : (
        <>
          The last one arrived at <Time at={lastSuccessAt} />.{' '}
        </>
      )}
      Repair it and send a test event{failed === 0 ? '.' : ', then recover what it missed.'}
    </>
  )
}

/** The figures behind the state, in the same words whatever it is. */
function Waiting({ health }: { readonly health: Endpoint['health'] }) {
  const { tried, delivered, firstTry, failed, attempts, failedAttempts, waiting, retrying } = health
  return (
    <p className="pm-small pm-num">
      {tried === 0
        ? null
        : `Of the last ${tried}: ${delivered} delivered, ${firstTry} of them by the first attempt, ${failed} given up. ${failedAttempts} of ${attempts} attempts failed. `}
      {waiting === 0 ? 'Nothing waits.' : `${waiting} wait, ${retrying} of them for another attempt.`}
    </p>
  )
}

function Tools({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id, url, status } = endpoint
  const scope = useScope()
  const to = useTo()
  const navigate = useNavigate()
  const maySend = useMay('support')
  const [recovering, setRecovering] = useState(false)
  const test = useDeed({
    call: (ids, input: { readonly endpointId: string }) =>
      api.endpoints.sendTest.mutate({ ...scope, ...ids, ...input }),
    done: 'Test event sent.',
    refresh: [trpc.deliveries.pathFilter(), trpc.endpoints.pathFilter()],
    onDone: (delivery) => void navigate(to('webhooks/deliveries', delivery.id)),
  })
  return (
    <div className="pm-row">
      <DeedButton
        deed={test}
        input={{ endpointId: id }}
        leftSection={<IconSend size={16} aria-hidden />}
        refusal={!maySend ? 'Needs the role Support.' : status === 'disabled' ? 'It is paused: enable it first.' : null}
      >
        Send test event
      </DeedButton>
      <Button variant="default" onClick={() => setRecovering(true)} disabled={!maySend || status === 'disabled'}>
        Recover since…
      </Button>
      <PauseButton endpointId={id} status={status} host={hostOf(url)} />
      <Link className="pm-link" to={`${to('webhooks/deliveries')}?endpoint=${id}`}>
        Its deliveries
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
            A recovery runs: {recovery.scanned} events looked at, {recovery.made} sent again, reached{' '}
            <Time at={recovery.reached} />.
          </p>
        </Note>
      )}
      {health.lastFailures.length === 0 ? null : (
        <section>
          <h3>Last failures</h3>
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

function Edit({ endpoint }: { readonly endpoint: Endpoint }) {
  const scope = useScope()
  const may = useMay('admin')
  const [events, setEvents] = useState<readonly EventName[]>(endpoint.events)
  const [description, setDescription] = useState(endpoint.description ?? '')
  const deed = useDeed({
    call: (ids, input: { endpointId: string; version: number; events: EventName[]; description: string | null }) =>
      api.endpoints.update.mutate({ ...scope, ...ids, ...input }),
    done: 'Stored.',
    refresh: [trpc.endpoints.pathFilter()],
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const note = description.trim()
    void deed.run({
      ...{ endpointId: endpoint.id, version: endpoint.updatedAt, events: [...events] },
      description: note === '' ? null : note,
    })
  }
  return (
    <details>
      <summary className="pm-summary">Events and note</summary>
      <form onSubmit={submit} className="pm-stack">
        <EventChoice
          value={events}
          onChange={setEvents}
          problem={events.length === 0 ? 'Choose at least one.' : undefined}
        />
        <Textarea
          label="Note"
          value={description}
          maxLength={500}
          onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        />
        <DeedFailure failure={deed.failure} />
        <div className="pm-row pm-end">
          <Button type="submit" loading={deed.busy} disabled={!may || events.length === 0}>
            Store
          </Button>
        </div>
      </form>
    </details>
  )
}

const HOUR_MS = 3_600_000

function Dangerous({ endpoint, onSecret, onClose }: AsideProps) {
  const scope = useScope()
  const may = useMay('admin')
  const [rotating, setRotating] = useState(false)
  const remove = useDeed({
    call: (ids, input: { readonly endpointId: string }) => api.endpoints.remove.mutate({ ...scope, ...ids, ...input }),
    done: 'Deleted.',
    refresh: [trpc.endpoints.pathFilter(), trpc.deliveries.pathFilter()],
    onDone: onClose,
  })
  const onlyTest = endpoint.mode === 'both' && scope.mode === 'test'
  return (
    <div className="pm-row">
      <Button variant="default" disabled={!may} onClick={() => setRotating(true)}>
        Rotate secret…
      </Button>
      <DeedButton
        deed={remove}
        input={{ endpointId: endpoint.id }}
        color="red"
        variant="outline"
        refusal={may ? null : 'Needs the role Admin.'}
        reason="optional"
        confirm={
          onlyTest ? (
            <p>It goes on receiving live events; test events end.</p>
          ) : (
            <p>
              Nothing is sent to <b>{hostOf(endpoint.url)}</b> any more, and what waits is thrown away:{' '}
              {endpoint.health.waiting + endpoint.health.held} deliveries. What was sent stays listed.
            </p>
          )
        }
      >
        {onlyTest ? 'End test events' : 'Delete endpoint'}
      </DeedButton>
      <Rotate endpointId={endpoint.id} open={rotating} onClose={() => setRotating(false)} onSecret={onSecret} />
    </div>
  )
}

function Rotate(props: {
  readonly endpointId: string
  readonly open: boolean
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}) {
  const scope = useScope()
  const [hours, setHours] = useState('24')
  const deed = useDeed({
    call: (ids, input: { readonly endpointId: string; readonly overlapMs: number }) =>
      api.endpoints.rotate.mutate({ ...scope, ...ids, ...input }),
    refresh: [trpc.endpoints.pathFilter()],
    onDone: ({ secret }) => {
      props.onClose()
      props.onSecret(secret)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void deed.run({ endpointId: props.endpointId, overlapMs: Number(hours) * HOUR_MS })
  }
  return (
    <Modal opened={props.open} onClose={props.onClose} title="Rotate the signing secret">
      <form onSubmit={submit} className="pm-stack">
        <p>
          The new secret alone makes <span className="pm-mono">X-Webhook-Signature</span> from the next request on. The
          old one also signs the <span className="pm-mono">webhook-signature</span> list until its time is over.
        </p>
        <Radio.Group label="The old secret goes on signing for" value={hours} onChange={setHours}>
          <Radio mt="xs" value="24" label="24 hours" />
          <Radio mt="xs" value="168" label="7 days" />
          <Radio mt="xs" value="0" label="Not at all: it leaked" />
        </Radio.Group>
        <DeedFailure failure={deed.failure} />
        <div className="pm-row pm-end">
          <Button variant="default" onClick={props.onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={deed.busy}>
            Rotate secret
          </Button>
        </div>
      </form>
    </Modal>
  )
}

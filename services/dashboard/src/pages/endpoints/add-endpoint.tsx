import { Button, Checkbox, Modal, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { useScope } from '../../session/scope.ts'
import { EventChoice, type EventName } from './event-choice.tsx'

interface Wish {
  readonly url: string
  readonly events: EventName[]
  readonly description?: string
  readonly mode?: 'both'
}

/** The form for a new endpoint; the secret is handed on, to be shown once. */
export function AddEndpoint(props: {
  readonly open: boolean
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}) {
  return (
    <Modal opened={props.open} onClose={props.onClose} title="Add endpoint">
      <Form {...props} />
    </Modal>
  )
}

function Form({ onClose, onSecret }: Parameters<typeof AddEndpoint>[0]) {
  const scope = useScope()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly EventName[]>(['*'])
  const [description, setDescription] = useState('')
  const [both, setBoth] = useState(false)
  const deed = useDeed({
    call: (ids, endpoint: Wish) => api.endpoints.create.mutate({ ...scope, ...ids, endpoint }),
    refresh: [trpc.endpoints.pathFilter()],
    onDone: ({ secret }) => {
      onClose()
      onSecret(secret)
    },
  })
  const fields = deed.failure?.fields ?? {}
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const note = description.trim()
    void deed.run({
      url: url.trim(),
      events: [...events],
      ...(note === '' ? {} : { description: note }),
      ...(both ? { mode: 'both' } : {}),
    })
  }
  const isLive = scope.mode === 'live'
  return (
    <form onSubmit={submit} className="pm-stack" noValidate>
      <TextInput
        label="URL"
        description={
          isLive
            ? 'https, reachable from the internet. It must answer with 2xx within 10 s.'
            : 'https; a development server also takes http://localhost:<port>.'
        }
        required
        type="url"
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        error={fields['url'] ?? fields['endpoint.url']}
        data-autofocus
      />
      <EventChoice
        value={events}
        onChange={setEvents}
        problem={events.length === 0 ? 'Choose at least one.' : undefined}
      />
      <Textarea
        label="Note (optional)"
        value={description}
        maxLength={500}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
      />
      {isLive ? (
        <Checkbox
          label="Send test events there as well"
          checked={both}
          onChange={({ currentTarget }) => setBoth(currentTarget.checked)}
        />
      ) : null}
      <DeedFailure failure={deed.failure} />
      <div className="pm-row pm-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={deed.busy} disabled={url.trim() === '' || events.length === 0}>
          Add endpoint
        </Button>
      </div>
    </form>
  )
}

import { Checkbox, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { useScope } from '../../session/scope.ts'
import { EventChoice, type EventName } from './event-choice.tsx'

interface Request {
  readonly url: string
  readonly events: EventName[]
  readonly description?: string
  readonly mode?: 'both'
}

/** The form for a new endpoint; the secret is passed on, to be shown once. */
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
  const action = useAction({
    call: (ids, endpoint: Request) => api.endpoints.create.mutate({ ...scope, ...ids, endpoint }),
    refresh: [trpc.endpoints.pathFilter()],
    onDone: ({ secret }) => {
      onClose()
      onSecret(secret)
    },
  })
  const fields = action.failure?.fields ?? {}
  const submit = () => {
    const note = description.trim()
    void action.run({
      url: url.trim(),
      events: [...events],
      ...(note === '' ? {} : { description: note }),
      ...(both ? { mode: 'both' } : {}),
    })
  }
  const isLive = scope.mode === 'live'
  return (
    <ActionForm
      action={action}
      onSubmit={submit}
      submit="Add endpoint"
      onCancel={onClose}
      disabled={url.trim() === '' || events.length === 0}
      noValidate
    >
      <TextInput
        label="URL"
        description={
          isLive
            ? 'Public https URL. It must return 2xx within 10 s.'
            : 'https URL; a development server also accepts http://localhost:<port>.'
        }
        required
        type="url"
        {...bindText(url, setUrl)}
        error={fields['url'] ?? fields['endpoint.url']}
        data-autofocus
      />
      <EventChoice
        value={events}
        onChange={setEvents}
        problem={events.length === 0 ? 'Choose at least one event type.' : undefined}
      />
      <Textarea label="Description (optional)" {...bindText(description, setDescription)} maxLength={500} />
      {isLive ? (
        <Checkbox
          label="Also send test events"
          checked={both}
          onChange={({ currentTarget }) => setBoth(currentTarget.checked)}
        />
      ) : null}
    </ActionForm>
  )
}

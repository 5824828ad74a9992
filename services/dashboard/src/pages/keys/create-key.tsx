import { Button, Checkbox, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { SCOPES, type Scope } from '#shared/domain/enumerations.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Modal } from '../../parts/modal.tsx'
import { useScope } from '../../session/scope.ts'

const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  'invoices:read': 'See invoices',
  'invoices:write': 'Create and cancel invoices',
  'links:read': 'See payment links',
  'links:write': 'Create and change payment links',
  'products:read': 'See products',
  'products:write': 'Create and change products',
  'payments:read': 'See payments',
  'rates:read': 'See rates',
  'webhooks:manage': 'Manage webhook endpoints',
}

interface CreateKeyProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly onMade: (made: { readonly name: string; readonly apiKey: string | null }) => void
}

/** Asks for a name and the permissions of the key. */
export function CreateKey({ opened, onClose, onMade }: CreateKeyProps) {
  const scope = useScope()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(SCOPES)
  const create = useAction({
    call: (ids, input: { name: string; scopes: Scope[] }) => api.apiKeys.create.mutate({ ...scope, ...ids, ...input }),
    onDone: ({ apiKey }, input) => {
      onMade({ name: input.name, apiKey })
      onClose()
      setName('')
      setScopes(SCOPES)
    },
    refresh: [trpc.apiKeys.pathFilter()],
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void create.run({ name, scopes: SCOPES.filter((one) => scopes.includes(one)) })
  }
  return (
    <Modal opened={opened} onClose={onClose} title={`New ${scope.mode} key`}>
      <form className="pm-stack" onSubmit={submit}>
        <TextInput
          label="Name"
          description="For example “Web shop”."
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          maxLength={60}
          required
          data-autofocus
        />
        <Checkbox.Group label="Permissions" value={[...scopes]} onChange={setScopes}>
          <div className="pm-stack pm-gap-top">
            {SCOPES.map((one) => (
              <Checkbox key={one} value={one} label={SCOPE_LABELS[one]} description={one} />
            ))}
          </div>
        </Checkbox.Group>
        <ActionFailure failure={create.failure} />
        <div className="pm-row pm-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.busy} disabled={scopes.length === 0}>
            Create key
          </Button>
        </div>
      </form>
    </Modal>
  )
}

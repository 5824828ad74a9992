import { Checkbox, Radio, TextInput } from '@mantine/core'
import { useState } from 'react'
import { SCOPES, type Scope } from '#shared/domain/enumerations.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
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

/** What a key is for: nobody should have to know nine permissions. The first one is chosen at first, since most keys are a shop's. */
const PRESETS: readonly {
  readonly value: string
  readonly label: string
  readonly description: string
  readonly scopes: readonly Scope[] | null
}[] = [
  {
    value: 'shop',
    label: 'Shop',
    description: 'Creates and cancels invoices, and follows their payments.',
    scopes: ['invoices:read', 'invoices:write', 'payments:read', 'rates:read'],
  },
  {
    value: 'read',
    label: 'Read only',
    description: 'Sees everything for bookkeeping and reports. Changes nothing.',
    scopes: ['invoices:read', 'links:read', 'products:read', 'payments:read', 'rates:read'],
  },
  { value: 'all', label: 'Everything', description: 'Also links, products and webhook endpoints.', scopes: SCOPES },
  { value: 'own', label: 'Choose', description: 'Tick each permission.', scopes: null },
]

interface CreateKeyProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onMade: (made: { readonly name: string; readonly apiKey: string | null }) => void
}

/** Asks for a name and what the key is for. */
export function CreateKey({ open, onClose, onMade }: CreateKeyProps) {
  const scope = useScope()
  const [name, setName] = useState('')
  const [preset, setPreset] = useState('shop')
  const [chosen, setChosen] = useState<readonly string[]>([])
  const fixed = PRESETS.find(({ value }) => value === preset)?.scopes ?? null
  const scopes = fixed ?? SCOPES.filter((one) => chosen.includes(one))
  const create = useAction({
    call: (ids, input: { name: string; scopes: Scope[] }) => api.apiKeys.create.mutate({ ...scope, ...ids, ...input }),
    onDone: ({ apiKey }, input) => {
      onMade({ name: input.name, apiKey })
      onClose()
      setName('')
      setPreset('shop')
      setChosen([])
    },
    refresh: [trpc.apiKeys.pathFilter()],
  })
  return (
    <Modal opened={open} onClose={onClose} title={`New ${scope.mode} key`}>
      <ActionForm
        action={create}
        onSubmit={() => void create.run({ name, scopes: [...scopes] })}
        submit="Create key"
        onCancel={onClose}
        disabled={scopes.length === 0}
      >
        <TextInput
          label="Name"
          description="For example “Web shop”."
          {...bindText(name, setName)}
          maxLength={60}
          required
          data-autofocus
        />
        <Radio.Group label="What is it for?" value={preset} onChange={setPreset}>
          <div className="pm-stack pm-gap-top">
            {PRESETS.map(({ value, label, description }) => (
              <Radio key={value} value={value} label={label} description={description} />
            ))}
          </div>
        </Radio.Group>
        {fixed === null ? (
          <Checkbox.Group label="Permissions" value={[...chosen]} onChange={setChosen}>
            <div className="pm-pair pm-gap-top">
              {SCOPES.map((one) => (
                <Checkbox key={one} value={one} label={SCOPE_LABELS[one]} description={one} />
              ))}
            </div>
          </Checkbox.Group>
        ) : (
          <p className="pm-dim pm-small pm-mono">{fixed.join(', ')}</p>
        )}
      </ActionForm>
    </Modal>
  )
}

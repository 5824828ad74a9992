import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useScope } from '../../session/scope.ts'

interface RevokeKeyProps {
  readonly apiKey: { readonly id: string; readonly name: string | null; readonly last4: string }
}

/** Revokes a key after its last four characters were typed, so that the right key is revoked. */
export function RevokeKey({ apiKey: { id, name, last4 } }: RevokeKeyProps) {
  const scope = useScope()
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const revoke = useAction({
    call: (ids, input: { keyId: string; last4: string }) => api.apiKeys.revoke.mutate({ ...scope, ...ids, ...input }),
    done: 'Key revoked.',
    onDone: () => setOpen(false),
    refresh: [trpc.apiKeys.pathFilter()],
  })
  return (
    <>
      <Button size="xs" variant="default" color="red" onClick={() => setOpen(true)}>
        Revoke
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Revoke API key">
        <ActionForm
          action={revoke}
          onSubmit={() => void revoke.run({ keyId: id, last4: typed.trim() })}
          submit="Revoke key"
          look={{ color: 'red' }}
          onCancel={() => setOpen(false)}
          cancel="Keep key"
          disabled={typed.trim() !== last4}
          fields={['last4']}
        >
          <p>
            {name === null ? 'The key' : <UntrustedText>{name}</UntrustedText>} that ends in{' '}
            <b className="pm-mono">{last4}</b> stops working immediately, for every integration using it. This can’t be
            undone.
          </p>
          <TextInput
            label="Type its last four characters"
            {...bindText(typed, setTyped)}
            error={revoke.failure?.fields['last4']}
            autoComplete="off"
            maxLength={4}
            required
            data-autofocus
          />
        </ActionForm>
      </Modal>
    </>
  )
}

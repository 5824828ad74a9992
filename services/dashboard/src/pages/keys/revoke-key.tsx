import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { useScope } from '../../session/scope.ts'

interface RevokeKeyProps {
  readonly apiKey: { readonly id: string; readonly name: string | null; readonly last4: string }
}

/** Revokes a key after its last four characters were typed, so that the right one goes. */
export function RevokeKey({ apiKey: { id, name, last4 } }: RevokeKeyProps) {
  const scope = useScope()
  const [isAsking, setAsking] = useState(false)
  const [typed, setTyped] = useState('')
  const revoke = useDeed({
    call: (ids, input: { keyId: string; last4: string }) => api.apiKeys.revoke.mutate({ ...scope, ...ids, ...input }),
    done: 'Revoked. The key works nowhere any more.',
    onDone: () => setAsking(false),
    refresh: [trpc.apiKeys.pathFilter()],
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void revoke.run({ keyId: id, last4: typed.trim() })
  }
  return (
    <>
      <Button size="xs" variant="default" color="red" onClick={() => setAsking(true)}>
        Revoke
      </Button>
      <Modal opened={isAsking} onClose={() => setAsking(false)} title="Revoke this key">
        <form className="pm-stack" onSubmit={submit}>
          <p>
            {name === null ? 'The key' : <ForeignText>{name}</ForeignText>} that ends in{' '}
            <b className="pm-mono">{last4}</b> stops at once, for every program that uses it. This cannot be undone.
          </p>
          <TextInput
            label="Type its last four characters"
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            error={revoke.failure?.fields['last4']}
            autoComplete="off"
            maxLength={4}
            required
            data-autofocus
          />
          <DeedFailure failure={revoke.failure?.fields['last4'] === undefined ? revoke.failure : null} />
          <div className="pm-row pm-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Keep it
            </Button>
            <Button type="submit" color="red" loading={revoke.busy} disabled={typed.trim() !== last4}>
              Revoke the key
            </Button>
          </div>
        </form>
      </Modal>
    </>
  )
}
